import { type NumberRules, numberProblem } from '../../shared/accounts/number-check.ts';
import { recipientProblem } from '../../shared/messages/recipient.ts';
import type { FieldProblem } from '../http/problem.ts';

/** What is wrong with one recipient: with its form, or, where the account asks for it, with the number. */
export function checkRecipient(
  to: string,
  rules: NumberRules,
  channel: 'sms' | 'chatapp' = 'sms',
): Pick<FieldProblem, 'code' | 'detail'> | undefined {
  const detail = recipientProblem(to);
  return detail === undefined ? numberProblem(to, rules, channel) : { code: 'invalid_phone', detail };
}
