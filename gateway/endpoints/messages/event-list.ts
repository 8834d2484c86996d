import type { Db } from 'mongodb';
import { eventName, MESSAGE_EVENT_NAMES, type MessageEventName, stateOf } from '../../../shared/events/catalogue.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { HistoryEntry } from '../../../shared/messages/document/message.ts';
import { type AccountId, type EventId, eventId, type MessageId } from '../../../shared/platform/runtime/ids.ts';

/** Events are the entries of message histories. Older ones are not listed. */
const EVENTS_MS = 7 * 24 * 3_600_000;

/** A state that a message reached. events.ts reads its body. */
export interface ListedEvent {
  readonly id: EventId;
  readonly message: MessageId;
  readonly entry: HistoryEntry;
}

/** The fields that are read of a message to list its events. A whole message from a customer can be large. */
type WithHistory = Pick<AnyMessage, '_id' | 'history'>;
const HISTORY = { history: 1 } as const;

export interface EventFilter {
  /** Inclusive. */
  readonly since?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  readonly name?: MessageEventName | undefined;
  readonly message?: MessageId | undefined;
}

/**
 * A place in the list of events, which are ordered by time and then by id. An empty id is before all events of its
 * millisecond.
 */
export interface EventPlace {
  readonly atMs: number;
  readonly id: EventId | '';
}

export interface EventPage {
  /** Newest first. */
  readonly events: readonly ListedEvent[];
  /** Where the next page begins, exclusive. Undefined at the end of the list. */
  readonly next: EventPlace | undefined;
}

/** The index is named so that no query plan walks all messages of the account. */
const INDEX = 'events_by_state';
/** Clocks of other machines may be ahead of ours by this much. */
const AHEAD_MS = 60_000;
/** The next slice is made so wide that it should be this full. */
const FULL = 0.75;
const WIDEN_MAX = 16;
/**
 * If a slice had too many events, the next one should have this part of the events that were found. With several states the part
 * is smaller, because the index returns the newest events of each state.
 */
const ONE_STATE_PART = 0.9;
const SEVERAL_STATES_PART = 0.4;

/**
 * Up to `limit` events of an account from the last seven days, newest first, older than `after`.
 *
 * An index over the history array gives no order of events, so the store would read everything that is left and sort
 * it. But the index can find the messages that reached a state between two times. So this function goes back in
 * slices of time and sorts each slice itself. A slice with too many messages is cut; after a slice with few messages
 * the next one is wider. A page therefore costs a few reads of about its own size, for any number of events and for
 * one state or all (docs/decisions/0022).
 */
export async function listEvents(
  db: Db,
  account: AccountId,
  filter: EventFilter,
  now: Date,
  after: EventPlace | undefined,
  limit: number,
): Promise<EventPage> {
  const fromMs = Math.max(filter.since?.getTime() ?? 0, now.getTime() - EVENTS_MS);
  const untilMs = Math.min(filter.until?.getTime() ?? Number.POSITIVE_INFINITY, now.getTime() + AHEAD_MS);
  let before: EventPlace = after === undefined || after.atMs >= untilMs ? { atMs: untilMs, id: '' } : after;
  if (filter.message !== undefined) {
    const message = await db
      .collection<AnyMessage>('messages')
      .findOne<WithHistory>({ _id: filter.message, account }, { projection: HISTORY });
    return cutPage(eventsIn(message === null ? [] : [message], fromMs, before, filter), limit, undefined);
  }

  const names = filter.name === undefined ? MESSAGE_EVENT_NAMES : [filter.name];
  const sliceMax = limit + 2;
  const events: ListedEvent[] = [];
  let widthMs = Number.POSITIVE_INFINITY; // an account with few events is read at once
  while (events.length <= limit) {
    const endMs = endOf(before);
    if (endMs <= fromMs) return cutPage(events, limit, undefined);
    const startMs = Math.max(fromMs, endMs - widthMs);
    let found = await readSlice(db, reachedBetween(account, names, startMs, endMs), sliceMax + 1);
    let read: EventPlace = { atMs: startMs, id: '' };
    if (found.length > sliceMax) {
      if (endMs - startMs > 1) {
        widthMs = narrower(eventsIn(found, startMs, before, filter), endMs - startMs, endMs);
        continue;
      }
      found = await readMoment(db, reachedBetween(account, names, startMs, endMs), before, sliceMax);
      const last = found.at(-1);
      if (last !== undefined && found.length === sliceMax) read = { atMs: startMs, id: eventId(last._id, '') };
    }
    events.push(...eventsIn(found, startMs, before, filter));
    before = read;
    widthMs = Math.ceil((endMs - startMs) * Math.min(WIDEN_MAX, (FULL * sliceMax) / Math.max(found.length, 1)));
  }
  return cutPage(events, limit, before);
}

/** The first millisecond that is not read any more. */
function endOf({ atMs, id }: EventPlace): number {
  return id === '' ? atMs : atMs + 1;
}

/** Up to `limit` messages of a slice, unordered. */
function readSlice(db: Db, slice: object, limit: number): Promise<readonly WithHistory[]> {
  return db
    .collection<AnyMessage>('messages')
    .find(slice)
    .project<WithHistory>(HISTORY)
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1) // everything in one reply
    .toArray();
}

/**
 * The messages of a slice of one millisecond, in the order of events: descending ids, from the message of `before`
 * on.
 */
function readMoment(db: Db, slice: object, before: EventPlace, limit: number): Promise<readonly WithHistory[]> {
  const below = before.id === '' ? {} : { _id: { $lte: messageOf(before.id) } };
  return db
    .collection<AnyMessage>('messages')
    .find({ ...slice, ...below })
    .project<WithHistory>(HISTORY)
    .sort({ _id: -1 })
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

/**
 * The messages that reached one of the states of `names` at or after `startMs` and before `endMs`. Both conditions
 * are inside `$elemMatch`: side by side, each could be met by a different element of the array, and the index walk
 * would not be bounded.
 */
export function reachedBetween(
  account: AccountId,
  names: readonly MessageEventName[],
  startMs: number,
  endMs: number,
): object {
  const at = { $gte: new Date(startMs), $lt: new Date(endMs) };
  return {
    account,
    'history.0': { $exists: true }, // a condition of the partial index
    history: { $elemMatch: { state: { $in: names.map(stateOf) }, at } },
  };
}

/**
 * The width of the next try after a slice with too many messages. The index returns the newest of each state first,
 * so the messages found say where a page ends. Each try is at most a quarter as wide as the one before, so the search
 * ends.
 */
function narrower(newest: readonly ListedEvent[], widthMs: number, endMs: number): number {
  const states = new Set(newest.map(({ entry }) => entry.state)).size;
  const last = newest[Math.floor(newest.length * (states > 1 ? SEVERAL_STATES_PART : ONE_STATE_PART))];
  return Math.max(1, Math.min(Math.floor(widthMs / 4), endMs - (last?.entry.at.getTime() ?? endMs)));
}

/** Their events at or after `startMs` and before the place, newest first. */
function eventsIn(
  messages: readonly WithHistory[],
  startMs: number,
  before: EventPlace,
  { name }: EventFilter,
): ListedEvent[] {
  return messages
    .flatMap(({ _id, history }) => history.map((entry) => ({ id: eventId(_id, entry.state), message: _id, entry })))
    .filter(({ id, entry }) => {
      const atMs = entry.at.getTime();
      const older = atMs < before.atMs || (atMs === before.atMs && id < before.id);
      return older && atMs >= startMs && (name === undefined || eventName(entry) === name);
    })
    .sort((a, b) => b.entry.at.getTime() - a.entry.at.getTime() || (a.id < b.id ? 1 : -1));
}

/** At most the first `most` events of a page. */
export function cutPage(events: readonly ListedEvent[], most: number, next: EventPlace | undefined): EventPage {
  if (events.length <= most) return { events, next };
  const page = events.slice(0, most);
  const last = page.at(-1);
  return { events: page, next: last === undefined ? undefined : { atMs: last.entry.at.getTime(), id: last.id } };
}

/** The message that an event id belongs to. */
function messageOf(id: EventId): MessageId {
  return `msg_${id.slice(4, 30)}`;
}
