import { type Change, entryAt, fitted } from '../document/change.ts';
import { endState } from '../document/copies.ts';
import type { Copy, Part, StoredMessage } from '../document/message.ts';

/**
 * Fields that a message has only while its submit is unknown, or while it stays open for an earlier copy (then: why the current
 * one was refused).
 */
export const OPEN_FIELDS = ['outcome', 'errorCode', 'errorReason'] as const;

/**
 * The change to a message that counts as sent from now on, with these copies: an answer, a status or the carrier's policy says
 * so. Receipts may have come before and may have reported its end.
 */
export function sentWith(
  message: StoredMessage,
  parts: readonly Part[],
  now: Date,
  earlier: readonly Copy[] = message.earlier ?? [],
): Change {
  // Another carrier had taken it before, and gave it up.
  const isTold = message.history.some(({ state }) => state === 'sent');
  const sent = isTold ? [] : [entryAt('sent', now, message.history)];
  const final = endState(earlier, parts);
  const set = { parts, ...(earlier.length === 0 ? {} : { earlier }) };
  const unset = [...(earlier.length === 0 ? (['earlier'] as const) : []), ...OPEN_FIELDS];
  if (final === undefined) return fitted(message, { state: 'sent', set, unset, entries: sent });
  const partial = parts.some(({ state }) => state === 'refused');
  const told = [...parts, ...earlier.flatMap((copy) => copy.parts)];
  const error = partial ? 'partial' : told.find(({ state }) => state === final)?.error;
  const ended = {
    ...(final === 'delivered' ? { deliveredAt: now } : {}),
    ...(final === 'delivered' || error === undefined ? {} : { errorCode: error }),
    ...(final !== 'delivered' && partial ? { errorReason: 'The carrier refused a segment' } : {}),
  };
  const entries = [...sent, entryAt(final, now, [...message.history, ...sent])];
  return fitted(message, { state: final, set: { ...set, ...ended }, unset: [...unset, 'due'], entries });
}
