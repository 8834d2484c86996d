import type { Db } from 'mongodb';
import { isInternational } from '../../money/accounts/number-check.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { completionFor } from '../numbers/completion.ts';
import { readScopes } from './store.ts';

/**
 * The scopes that these recipients have opted out from. A recipient in national form has also those of the completed number, because
 * opt-outs are stored under that. One indexed query; two more if a recipient is no whole number.
 */
export async function readRecipientScopes(
  db: Db,
  account: AccountId,
  recipients: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const others = recipients.filter((to) => !isInternational(to));
  if (others.length === 0) return readScopes(db, account, recipients);
  const complete = await completionFor(db, account);
  const completed = new Map(others.map((to) => [to, complete(to)]));
  const scopes = await readScopes(db, account, [...new Set([...recipients, ...completed.values()])]);
  return new Map(
    recipients.map((to) => [
      to,
      [...new Set([to, completed.get(to) ?? to])].flatMap((customer) => scopes.get(customer) ?? []),
    ]),
  );
}
