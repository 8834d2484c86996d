import type { Db } from 'mongodb';
import { EVENT_NAMES, type EventName, eventName, stateOf } from '../../shared/events/catalogue.ts';
import type { AnyMessage } from '../../shared/messages/any-message.ts';
import type { HistoryEntry } from '../../shared/messages/message.ts';
import { type AccountId, type EventId, eventId, type MessageId } from '../../shared/runtime/ids.ts';

/** Entries of histories are events; older ones than this are not listed. */
const EVENTS_MS = 7 * 24 * 3_600_000;

/** A state that a message reached. Its body: event-bodies.ts. */
export interface ListedEvent {
  readonly id: EventId;
  readonly message: MessageId;
  readonly entry: HistoryEntry;
}

/** All that is read of a message to list its events: an inbound one may be large. */
type Told = Pick<AnyMessage, '_id' | 'history'>;
const TOLD = { history: 1 } as const;

export interface EventFilter {
  /** From this time on. */
  readonly since?: Date | undefined;
  /** Before this time. */
  readonly until?: Date | undefined;
  readonly name?: EventName | undefined;
  readonly message?: MessageId | undefined;
}

/** Events are in the order of their times, those of one moment in that of their ids. An empty id is before all of its moment. */
export interface EventPlace {
  readonly atMs: number;
  readonly id: EventId | '';
}

export interface EventPage {
  /** Newest first. */
  readonly events: readonly ListedEvent[];
  /** Where the next page begins, exclusive; undefined when all events have been looked at. */
  readonly next: EventPlace | undefined;
}

/** Named, so that no plan walks all messages of the account. */
const INDEX = 'events_by_state';
/** Clocks of other machines may be ahead of this one. */
const AHEAD_MS = 60_000;
/** How full a slice should be, and how many times wider the next one may be. */
const FULL = 0.75;
const WIDEN_MAX = 16;
/** Of those found where there are too many, how many the next try is to have: of each state about as many. */
const SHARE_OF_ONE = 0.9;
const SHARE_OF_SEVERAL = 0.4;

/**
 * Up to `limit` events of an account, newest first, older than `after`, of the last seven days. The history is an array, and an index
 * over an array gives no order: the store would read all that is left and sort it. But the index finds the messages that reached
 * one of these states between two times. So this goes back in slices of time and sorts each slice here. A slice with too many
 * messages is cut, one with few is followed by a wider one: a page costs a few reads of about its own size, however many events
 * there are and whether all names are asked for or one (docs/decisions/0010).
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
      .findOne<Told>({ _id: filter.message, account }, { projection: TOLD });
    return cutPage(eventsIn(message === null ? [] : [message], fromMs, before, filter), limit, undefined);
  }

  const names = filter.name === undefined ? EVENT_NAMES : [filter.name];
  const sliceMax = limit + 2;
  const events: ListedEvent[] = [];
  let widthMs = Number.POSITIVE_INFINITY; // whoever has little, or asks for little, gets it in one read
  while (events.length <= limit) {
    const endMs = endOf(before);
    if (endMs <= fromMs) return cutPage(events, limit, undefined);
    const startMs = Math.max(fromMs, endMs - widthMs);
    let found = await readSlice(db, within(account, names, startMs, endMs), sliceMax + 1);
    let read: EventPlace = { atMs: startMs, id: '' };
    if (found.length > sliceMax) {
      if (endMs - startMs > 1) {
        widthMs = narrower(eventsIn(found, startMs, before, filter), endMs - startMs, endMs);
        continue;
      }
      found = await readMoment(db, within(account, names, startMs, endMs), before, sliceMax);
      const last = found.at(-1);
      if (last !== undefined && found.length === sliceMax) read = { atMs: startMs, id: eventId(last._id, '') };
    }
    events.push(...eventsIn(found, startMs, before, filter));
    before = read;
    widthMs = Math.ceil((endMs - startMs) * Math.min(WIDEN_MAX, (FULL * sliceMax) / Math.max(found.length, 1)));
  }
  return cutPage(events, limit, before);
}

/** The first millisecond that is not to be looked at. */
function endOf({ atMs, id }: EventPlace): number {
  return id === '' ? atMs : atMs + 1;
}

/** Up to `limit` messages of a slice, in no order. */
function readSlice(db: Db, slice: object, limit: number): Promise<readonly Told[]> {
  return db
    .collection<AnyMessage>('messages')
    .find(slice)
    .project<Told>(TOLD)
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1) // all in one answer
    .toArray();
}

/** Of a slice of a single millisecond, in the order of events: by ids downwards from the one of `before`. */
function readMoment(db: Db, slice: object, before: EventPlace, limit: number): Promise<readonly Told[]> {
  const below = before.id === '' ? {} : { _id: { $lte: messageOf(before.id) } };
  return db
    .collection<AnyMessage>('messages')
    .find({ ...slice, ...below })
    .project<Told>(TOLD)
    .sort({ _id: -1 })
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

/**
 * The messages that reached one of the states that `names` tell of, from `startMs` on and before `endMs`. `$elemMatch`, because
 * conditions side by side may each be met by another element of the array, and would then not bound the walk of the index.
 */
export function within(account: AccountId, names: readonly EventName[], startMs: number, endMs: number): object {
  const at = { $gte: new Date(startMs), $lt: new Date(endMs) };
  return {
    account,
    'history.0': { $exists: true }, // what the partial index has
    history: { $elemMatch: { state: { $in: names.map(stateOf) }, at } },
  };
}

/**
 * A slice had too many: how long the next try may be. The index gives the newest of each state first, so what was found says about
 * where a page ends. In any case the next try is at most a quarter as long, so that it comes to an end.
 */
function narrower(newest: readonly ListedEvent[], widthMs: number, endMs: number): number {
  const states = new Set(newest.map(({ entry }) => entry.state)).size;
  const last = newest[Math.floor(newest.length * (states > 1 ? SHARE_OF_SEVERAL : SHARE_OF_ONE))];
  return Math.max(1, Math.min(Math.floor(widthMs / 4), endMs - (last?.entry.at.getTime() ?? endMs)));
}

/** Their events from `startMs` on and before the place, newest first. */
function eventsIn(
  messages: readonly Told[],
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

/** The first `most` events of a page, when it has more. */
export function cutPage(events: readonly ListedEvent[], most: number, next: EventPlace | undefined): EventPage {
  if (events.length <= most) return { events, next };
  const page = events.slice(0, most);
  const last = page.at(-1);
  return { events: page, next: last === undefined ? undefined : { atMs: last.entry.at.getTime(), id: last.id } };
}

/** The message of an event, by the event's id. */
function messageOf(id: EventId): MessageId {
  return `msg_${id.slice(4, 30)}`;
}
