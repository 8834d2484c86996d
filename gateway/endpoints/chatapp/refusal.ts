import type { ChatAcceptOutcome } from '../../../shared/conversations/accept-outcome.ts';
import { isoTimestamp } from '../../../shared/runtime/clock.ts';
import type { MessageId } from '../../../shared/runtime/ids.ts';
import type { ProblemAnswer } from '../../http/answer.ts';
import { refusal } from '../../http/payment-refusal.ts';
import type { ProblemSlug } from '../../http/problem.ts';

type NotAccepted = Exclude<ChatAcceptOutcome, { readonly kind: 'accepted' }>;

/** The problem to answer when a message was not accepted, or when nobody knows whether it was. */
export function chatRefusal(outcome: NotAccepted, id: MessageId): readonly [ProblemSlug, ProblemAnswer] {
  if (outcome.kind !== 'session_closed') return refusal(outcome, id);
  const { closedAt } = outcome;
  const detail =
    closedAt === undefined
      ? 'The customer has not written yet. Until then only templates may be sent.'
      : `The session closed at ${isoTimestamp(closedAt)}, 24 hours after the customer wrote last. Only templates may be sent.`;
  return [
    outcome.kind,
    { detail, extra: { session_closed_at: closedAt === undefined ? null : isoTimestamp(closedAt) } },
  ];
}
