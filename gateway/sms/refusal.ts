import type { AcceptOutcome } from '../../shared/messages/accept.ts';
import { type BatchId, isBatchId, type MessageId } from '../../shared/runtime/ids.ts';
import type { ProblemAnswer } from '../http/answer.ts';
import type { ProblemSlug } from '../http/problem.ts';
import { RETRY_AFTER } from '../http/unanswered.ts';

type NotAccepted = Exclude<AcceptOutcome, { readonly kind: 'accepted' }>;

/** What to say when messages were not accepted (or perhaps not); every kind is the slug of its problem. */
export function refusal(outcome: NotAccepted, id: MessageId | BatchId): readonly [ProblemSlug, ProblemAnswer] {
  const { kind } = outcome;
  switch (kind) {
    case 'insufficient_credits': {
      const needs = outcome.required === 1 ? '1 credit' : `${outcome.required} credits`;
      return [kind, { detail: `This request needs ${needs}; the balance is ${outcome.balance}.` }];
    }
    case 'account_suspended':
      return [kind, {}];
    case 'credits_expired':
      return [kind, { detail: `The credits could be used until ${outcome.expiryDate}.` }];
    case 'too_late':
      return ['store_unavailable', { headers: RETRY_AFTER }];
    case 'outcome_unknown':
      return [kind, { extra: { [isBatchId(id) ? 'batch_id' : 'message_id']: id }, headers: RETRY_AFTER }];
    default:
      return kind satisfies never;
  }
}
