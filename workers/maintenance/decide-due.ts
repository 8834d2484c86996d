import type { AnyMessage } from '../../shared/messages/any-message.ts';
import { type Change, entryAt } from '../../shared/messages/change.ts';
import { mayHaveLeft, NOT_REFUNDED, UNCONFIRMED } from '../../shared/messages/copies.ts';
import type { HeldReceipt } from '../../shared/messages/message.ts';

/** How long a `sent` message may still get a receipt after its validity. Then it is closed as `sent`. */
export const RECEIPT_WAIT_MS = 72 * 3_600_000;
/** A submit in flight belongs to the carrier's worker. The message is looked at again after this time. */
const SUBMITTING_AGAIN_MS = 10 * 60_000;

/** Decides what happens to a message whose `due` has come. Pure. */
export function decideDue(message: AnyMessage, now: Date): Change {
  const over = message.validUntil <= now;
  switch (message.state) {
    case 'waiting':
      return over ? expired(message, now) : { state: 'queued', set: { due: message.validUntil } };
    case 'queued':
      return over ? expired(message, now) : { set: { due: message.validUntil } };
    case 'submitting':
      return { set: { due: new Date(now.getTime() + SUBMITTING_AGAIN_MS) } };
    case 'sent': {
      if (message.held !== undefined) return heldTo(message, message.held, now);
      const close = new Date(message.validUntil.getTime() + RECEIPT_WAIT_MS);
      return close <= now ? { set: { closedReason: 'no_receipt' }, unset: ['due'] } : { set: { due: close } };
    }
    case 'delivered':
    case 'failed':
    case 'expired':
    case 'rejected':
    case 'read':
    case 'received':
      return { unset: ['due'] };
  }
}

/**
 * The receipt that was held becomes the outcome, because no better one came in time. A later one still counts: `delivered` can
 * follow `failed` (shared/messages/status.ts).
 */
function heldTo(message: AnyMessage, { until, error, reason }: HeldReceipt, now: Date): Change {
  if (until > now) return { set: { due: until } };
  return {
    state: 'failed',
    set: {
      ...(error === undefined ? {} : { errorCode: error }),
      ...(reason === undefined ? {} : { errorReason: reason }),
    },
    unset: ['due', 'held'],
    entries: [entryAt('failed', now, message.history)],
  };
}

/**
 * The message never left, or came back with proof that no carrier accepted it. An earlier copy may still have been
 * accepted; then it is not refunded.
 */
function expired(message: AnyMessage, now: Date): Change {
  const mayHave = mayHaveLeft(message);
  const reason = 'The message could not be sent within its validity.';
  return {
    state: 'expired',
    set: {
      errorCode: mayHave ? UNCONFIRMED : 'validity_expired',
      errorReason: mayHave ? `${reason} ${NOT_REFUNDED}` : reason,
    },
    unset: ['due'],
    entries: [entryAt('expired', now, message.history)],
  };
}
