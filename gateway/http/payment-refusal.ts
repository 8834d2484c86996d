import type { AcceptOutcome } from '../../shared/money/payment/accept.ts';
import {
  type BatchId,
  isBatchId,
  isScheduleId,
  type MessageId,
  type ScheduleId,
} from '../../shared/platform/runtime/ids.ts';
import { type ProblemAnswer, RETRY_AFTER } from './answer.ts';
import { PROBLEMS, type ProblemSlug } from './problem.ts';

type NotAccepted = Exclude<AcceptOutcome, { readonly kind: 'accepted' }> | { readonly kind: 'too_much_unpaid' };

export type ResultId = MessageId | BatchId | ScheduleId;

/** The problem when messages were not accepted, or nobody knows whether they were. Every kind is its slug. */
export function refusal(outcome: NotAccepted, id: ResultId): readonly [ProblemSlug, ProblemAnswer] {
  const { kind } = outcome;
  switch (kind) {
    case 'insufficient_credits': {
      const detail = `This request needs ${credits(outcome.required)}, but the balance is ${outcome.balance}. ${PROBLEMS.insufficient_credits.advice}`;
      return [kind, { detail }];
    }
    case 'account_suspended':
      return [kind, {}];
    case 'credits_expired':
      return [
        kind,
        {
          detail: `The credits expired after ${outcome.expiryDate}. Ask your service provider to extend the expiry date.`,
        },
      ];
    case 'spend_limit_reached': {
      const { limit, cap, spent, required, from } = outcome;
      const [who, period] = limit.startsWith('key') ? ['key', limit.slice(4)] : ['account', limit.slice(8)];
      const detail = `This request needs ${credits(required)}, and the ${who} has spent ${spent} of the ${cap} that it may spend in a ${period}. It may spend again from ${from} on (UTC). ${PROBLEMS.spend_limit_reached.advice}`;
      return [kind, { detail, extra: { limit, cap, spent, resets_on: from } }];
    }
    case 'too_much_unpaid':
      return [kind, { headers: RETRY_AFTER }];
    case 'too_late':
      return ['store_unavailable', { headers: RETRY_AFTER }];
    case 'outcome_unknown':
      return [kind, { extra: { [nameOf(id)]: id }, headers: RETRY_AFTER }];
    default:
      return kind satisfies never;
  }
}

function credits(number: number): string {
  return number === 1 ? '1 credit' : `${number} credits`;
}

function nameOf(id: ResultId): string {
  if (isBatchId(id)) return 'batch_id';
  return isScheduleId(id) ? 'schedule_id' : 'message_id';
}
