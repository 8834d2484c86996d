import type { AnyMessage } from './any-message.ts';
import type { ChatMessageDocument } from './chat-message.ts';
import type { HistoryEntry, MessageDocument, MessageState, StoredMessage } from './message.ts';
import { enter } from './status.ts';

type Unsettable = Pick<
  StoredMessage,
  | 'claim'
  | 'closedReason'
  | 'due'
  | 'tries'
  | 'throttles'
  | 'parts'
  | 'earlier'
  | 'operator'
  | 'deliveredAt'
  | 'errorCode'
  | 'errorReason'
  | 'outcome'
  | 'held'
>;
type Settable = Unsettable &
  Pick<MessageDocument, 'path' | 'attempts' | 'givenUp'> &
  Pick<ChatMessageDocument, 'pricing' | 'cost' | 'heldBack' | 'fallback'>;

/**
 * What one settle does to one message, decided from the document that was read. Applied twice: in the store, by an
 * update that filters on that version, and in memory, because events and refunds need the changed message without
 * reading it again.
 */
export interface Change {
  /** Undefined: the state stays. */
  readonly state?: MessageState;
  readonly set?: Partial<Settable>;
  readonly unset?: readonly (keyof Unsettable)[];
  /** In order. Each one is an event. */
  readonly entries?: readonly HistoryEntry[];
}

/** Throws when the status table does not allow the transition (status.ts). */
export function applyChange<M extends AnyMessage>(message: M, change: Change): M {
  return {
    ...without(message, change.unset),
    ...change.set,
    state: enter(message.state, change.state ?? message.state),
    v: message.v + 1,
    history: [...message.history, ...(change.entries ?? [])],
  };
}

/** `delete` would make the object slow, and the message is read many times afterwards. */
function without<M extends AnyMessage>(message: M, fields: readonly PropertyKey[] = []): M {
  if (fields.length === 0) return message;
  const copy: Partial<M> = {};
  for (const field in message) if (!fields.includes(field)) copy[field] = message[field];
  return copy as M; // only optional fields are left out
}

/** Matches only the version that the change was decided from. Throws as `applyChange` does. */
export function changeUpdate(
  message: Pick<StoredMessage, '_id' | 'v' | 'state'>,
  { state, set, unset = [], entries = [] }: Change,
): { readonly filter: object; readonly update: Readonly<Record<string, object>> } {
  const update: Record<string, object> = { $inc: { v: 1 } };
  if (state !== undefined) update.$set = { ...set, state: enter(message.state, state) };
  else if (set !== undefined && Object.keys(set).length > 0) update.$set = set;
  if (unset.length > 0) update.$unset = Object.fromEntries(unset.map((field) => [field, '']));
  const [only] = entries;
  if (only !== undefined) update.$push = { history: entries.length === 1 ? only : { $each: entries } };
  return { filter: { _id: message._id, v: message.v, state: message.state }, update };
}

/** The change without unsetting fields that it sets, or fields that are absent. */
export function fitted(message: AnyMessage | StoredMessage, change: Change): Change {
  const { set = {}, unset = [] } = change;
  const needed = unset.filter((field) => message[field] !== undefined && !(field in set));
  return { ...change, set, unset: needed };
}

/** Copies the change's error into those entries that have none and that may still arrive. */
export function explained(change: Change): Change {
  const { set: { errorCode: code, errorReason: reason } = {}, entries = [] } = change;
  if (code === undefined || entries.length === 0) return change;
  const error = { code, ...(reason === undefined ? {} : { reason }) };
  const told = entries.map((one) => (MAY_ARRIVE_YET.includes(one.state) ? { ...one, error: one.error ?? error } : one));
  return { ...change, entries: told };
}
const MAY_ARRIVE_YET: readonly HistoryEntry['state'][] = ['failed', 'expired'];

/** One change that does both, the first one before the second. */
export function joinChanges(first: Change, second: Change): Change {
  const state = second.state ?? first.state;
  const set = { ...first.set };
  for (const field of second.unset ?? []) delete set[field];
  const unset = (first.unset ?? []).filter((field) => second.set === undefined || !(field in second.set));
  return {
    ...(state === undefined ? {} : { state }),
    set: { ...set, ...second.set },
    unset: [...new Set([...unset, ...(second.unset ?? [])])],
    entries: [...(explained(first).entries ?? []), ...(second.entries ?? [])],
  };
}

/** One change of several decisions, each about the message as those before it leave it. Undefined: none changes it. */
export function decideInTurn<M extends AnyMessage>(
  message: M,
  decisions: readonly ((message: M) => Change | undefined)[],
): Change | undefined {
  let change: Change | undefined;
  let after = message;
  for (const [i, decide] of decisions.entries()) {
    const next = decide(after);
    if (next === undefined) continue;
    change = change === undefined ? next : joinChanges(change, next);
    // One update writes them all, so the version rises only once.
    if (i < decisions.length - 1) after = { ...applyChange(after, next), v: message.v };
  }
  return change;
}

/** At least 1 ms later than the entry before, so that entries made at the same moment stay in order. */
export function entryAt(state: HistoryEntry['state'], at: Date, before: readonly HistoryEntry[]): HistoryEntry {
  const last = before.at(-1);
  return { state, at: last !== undefined && last.at >= at ? new Date(last.at.getTime() + 1) : at };
}

/** Errors of messages whose batch was stopped; counts of stopped messages use them. */
export const CANCELLED = 'cancelled';
export const CANCELLED_REASON = 'The batch was stopped before the message left.';
