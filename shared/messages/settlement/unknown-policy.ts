import type { CarrierDocument } from '../../carriers/carrier.ts';
import { channelOf } from '../channels/channels.ts';
import type { AnyMessage } from '../document/any-message.ts';
import { type Change, entryAt, fitted } from '../document/change.ts';
import {
  currentCopy,
  isHeldOpen,
  isTaken,
  isUnanswered,
  MAX_COPIES,
  NOT_REFUNDED,
  UNCONFIRMED,
  unknownParts,
} from '../document/copies.ts';
import { sentWith } from './sent.ts';

/**
 * The change to a message whose submit was not answered within the carrier's waiting time; undefined when nothing is left to
 * decide. Pure.
 */
export function decideByPolicy(
  message: AnyMessage,
  policy: CarrierDocument['unknownPolicy'],
  now: Date,
): Change | undefined {
  if (isHeldOpen(message)) {
    return unconfirmed(message, `Sent again, it was refused (${message.errorCode}: ${message.errorReason}).`, now);
  }
  if (!isUnanswered(message)) return undefined;
  const count = channelOf(message).partsOf(message);
  const { parts = [], earlier: before = [] } = message;
  // Accepted parts must not be sent again; what is known of the others stays as it is.
  const accepted =
    parts.some((part) => part.state !== 'unknown' && part.state !== 'refused') ||
    before.some((copy) => isTaken(copy.parts));
  if (policy === 'assume_sent' || accepted) return sentWith(message, message.parts ?? unknownParts(count), now);
  const earlier = [...before, currentCopy(message, count)];
  if (earlier.length >= MAX_COPIES)
    return unconfirmed(message, `Sent ${MAX_COPIES} times, it was never answered.`, now);
  return { state: 'queued', set: { earlier }, unset: ['outcome', 'parts'] };
}

/** Nothing more is awaited. `failed`, not `rejected`: it may have been delivered, and a receipt may still say so. */
function unconfirmed(message: AnyMessage, what: string, now: Date): Change {
  return fitted(message, {
    state: 'failed',
    set: { errorCode: UNCONFIRMED, errorReason: `${what} ${NOT_REFUNDED}` },
    unset: ['due', 'outcome'],
    entries: [entryAt('failed', now, message.history)],
  });
}
