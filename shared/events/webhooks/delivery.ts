import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { findAtOnce } from '../../platform/mongo/find-one.ts';
import { FAILED_STATES, type FailedState } from '../../platform/mongo/indexes.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { updateEach } from '../../platform/mongo/update-each.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import {
  type AccountId,
  type EndpointId,
  type EventId,
  type MessageId,
  messageOfEvent,
} from '../../platform/runtime/ids.ts';
import type { EventName } from '../catalogue.ts';

/**
 * One event for one endpoint, and its log. `_id` is `<event id>:<endpoint id>`, so a second insert is a duplicate key.
 * Events of one settle are in one document at first (`DeliveryGroup`).
 *
 * `due` → `done`
 * `exhausted`
 * `discarded`, or `waiting` and back to `due` at `retryAt`. Waiting ones have a field and index of their own, so that
 * thousands of later retries of a dead endpoint do not slow down the search for what is due now.
 */
export interface DeliveryDocument {
  readonly _id: DeliveryId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  /** Sent as `webhook-id`, the same on every try. */
  readonly eventId: EventId;
  readonly event: EventName;
  readonly message?: MessageId;
  /** The exact JSON that is posted and signed. */
  readonly body: string;
  /** To be posted now, in this order per endpoint. Set in state `due` only. */
  readonly due?: Date;
  /** Set in state `waiting` only. */
  readonly retryAt?: Date;
  readonly state: DeliveryState;
  readonly attempts: readonly DeliveryAttempt[];
  /** Time of the last replay. Earlier attempts do not count in the retry schedule. */
  readonly replayedAt?: Date;
  readonly createdAt: Date;
}

/** `exhausted`: all tries of the schedule failed. `discarded`: the endpoint was disabled. Both can be replayed. */
export type DeliveryState = 'due' | 'waiting' | 'done' | 'exhausted' | 'discarded';

export type DeliveryId = `${EventId}:${EndpointId}`;

/**
 * Several events of one settle for one endpoint: one insert, and one update when all were posted. `_id`: that of the
 * first event's delivery, and the number of events.
 *
 * `due` → `done`. Before it is done, each event that was not acknowledged gets a delivery of its own; so does one
 * that is replayed. From then on only that delivery counts.
 */
export interface DeliveryGroup {
  readonly _id: GroupedId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  /** Events of messages, in the order of posting. */
  readonly items: readonly GroupItem[];
  /** Set in state `due` only: the time of the first event. */
  readonly due?: Date;
  readonly state: 'due' | 'done';
  /** Empty until it is done. Then the post of each item; null for one that was not posted. */
  readonly attempts: readonly (DeliveryAttempt | null)[];
  readonly createdAt: Date;
}

export type GroupItem = Pick<DeliveryDocument, 'eventId' | 'event' | 'body'>;

export type GroupedId = `${DeliveryId}:${number}`;

export type Stored = DeliveryDocument | DeliveryGroup;

export function deliveriesIn(stored: Stored): readonly DeliveryDocument[] {
  if (!('items' in stored)) return [stored];
  const { account, endpoint, state, due, createdAt } = stored;
  return stored.items.map((item, i) => {
    const attempt = stored.attempts[i];
    return {
      ...{ _id: deliveryId(item.eventId, endpoint), account, endpoint, ...item, message: messageOfEvent(item.eventId) },
      ...(due === undefined ? {} : { due }),
      ...{ state, attempts: attempt ? [attempt] : [], createdAt },
    };
  });
}

export function deliveryId(event: EventId, endpoint: EndpointId): DeliveryId {
  return `${event}:${endpoint}`;
}

function eventOf(id: DeliveryId): EventId {
  return id.slice(0, id.indexOf(':')) as EventId; // as in `deliveryId`
}

export interface DeliveryAttempt {
  readonly at: Date;
  /** HTTP status, or our own code when there was no answer (`timeout`, `refused_address`, `connect_failed`, …). */
  readonly result: number | string;
  readonly durationMs: number;
  /** The beginning of the answer's body, when it was not a success. */
  readonly excerpt?: string;
}

/** In the current run of the retry schedule. */
export function triesMade({ attempts, replayedAt }: Pick<DeliveryDocument, 'attempts' | 'replayedAt'>): number {
  if (replayedAt === undefined) return attempts.length;
  return attempts.filter((attempt) => attempt.at >= replayedAt).length;
}

/** Ends the state `due`. `discarded` may happen without a try. */
export type Outcome = { readonly id: DeliveryId; readonly attempt?: DeliveryAttempt } & (
  | { readonly state: 'done' | 'exhausted' | 'discarded' }
  | { readonly state: 'waiting'; readonly retryAt: Date }
);

export type Completion = Outcome | GroupCompletion;

/** All items of a group are posted, or never will be as a part of it. */
export interface GroupCompletion extends Pick<DeliveryGroup, 'attempts'> {
  readonly id: GroupedId;
  readonly apart: readonly DeliveryDocument[];
}

export function deliveriesOf(db: Db): Collection<DeliveryDocument> {
  return db.collection<DeliveryDocument>('deliveries');
}

/** Both ends exclusive. */
export interface EndpointRange {
  readonly after: string;
  readonly before?: string | undefined;
}

/** By endpoint, oldest first: a plain walk along the index `due`. Without the groups `inHand`. */
export function findDueInRange(
  db: Db,
  range: EndpointRange,
  limit: number,
  inHand: readonly GroupedId[] = [],
): Promise<Stored[]> {
  const endpoint = {
    $gt: range.after as EndpointId, // only compared with
    ...(range.before === undefined ? {} : { $lt: range.before as EndpointId }),
  };
  return findDue(db, endpoint, limit, inHand);
}

/** Like `findDueInRange`, for these endpoints. */
export function findDueOf(
  db: Db,
  endpoints: readonly EndpointId[],
  limit: number,
  inHand: readonly GroupedId[] = [],
): Promise<Stored[]> {
  return findDue(db, { $in: [...endpoints] }, limit, inHand);
}

function findDue(db: Db, endpoint: object, limit: number, inHand: readonly GroupedId[]): Promise<Stored[]> {
  const others = inHand.length === 0 ? {} : { _id: { $nin: [...inHand] } };
  const filter: Filter<Stored> = { endpoint, due: { $exists: true }, ...others };
  return findAtOnce<Stored>(db, 'deliveries', { filter, sort: { endpoint: 1, due: 1 }, limit });
}

/** First inserts deliveries that come out of groups. May be repeated: it only completes what is `due`. */
export async function complete(db: Db, completions: readonly Completion[]): Promise<void> {
  const apart = completions.flatMap((completion) => ('apart' in completion ? completion.apart : []));
  if (apart.length > 0) {
    await insertNew(db, 'deliveries', apart);
    crashPoint('webhook:taken_apart');
  }
  const updates = completions.map((completion) => ({
    filter: { _id: completion.id, state: 'due' },
    update: 'apart' in completion ? groupUpdate(completion) : updateOf(completion),
  }));
  await updateEach(db, 'deliveries', updates);
}

function groupUpdate({ attempts }: GroupCompletion): UpdateFilter<DeliveryGroup> {
  return { $set: { state: 'done', attempts }, $unset: { due: '' } };
}

function updateOf(completion: Outcome): UpdateFilter<DeliveryDocument> {
  const { state, attempt } = completion;
  return {
    $set: state === 'waiting' ? { state, retryAt: completion.retryAt } : { state },
    $unset: { due: '' },
    ...(attempt === undefined ? {} : { $push: { attempts: attempt } }),
  };
}

/** The deliveries with these ids, also those in groups, in the order of their ids. Two reads by index. */
export async function findDeliveries(
  db: Db,
  ids: readonly DeliveryId[],
  { bodies }: { readonly bodies: boolean },
): Promise<readonly DeliveryDocument[]> {
  const wanted = new Set(ids);
  const events = new Set(ids.map(eventOf));
  const [single, grouped] = await Promise.all([
    deliveriesOf(db)
      .find({ _id: { $in: [...wanted] } }, { projection: bodies ? {} : { body: 0 } })
      .toArray(),
    db
      .collection<DeliveryGroup>('deliveries')
      .find({ 'items.eventId': { $in: [...events] } }, { projection: bodies ? {} : { 'items.body': 0 } })
      .toArray(),
  ]);
  for (const { _id } of single) wanted.delete(_id);
  const others = grouped.flatMap(deliveriesIn).filter(({ _id }) => wanted.has(_id));
  return [...single, ...others].sort((a, b) => (a._id < b._id ? -1 : 1));
}

/** Waiting deliveries whose time has come. Returns how many it processed. May run in parallel. */
export async function promoteRetries(db: Db, now: Date, limit: number): Promise<number> {
  const ripe = await deliveriesOf(db)
    .find({ retryAt: { $lte: now } })
    .sort({ retryAt: 1 })
    .limit(limit)
    .project<Pick<DeliveryDocument, '_id'>>({ _id: 1 })
    .toArray();
  if (ripe.length > 0) await makeDue(db, ripe, { state: 'waiting' }, { due: now });
  return ripe.length;
}

/** A delivery in `due` or `waiting` is posted anyway. */
const REPLAYABLE = ['done', 'exhausted', 'discarded'] as const;
/** Keeps the log of one delivery well below the largest document; a replay adds 13 tries at most. */
const ATTEMPTS_MAX = 200;

/** Again, whatever its result was. One acknowledged in a group gets its own document. False if not possible. */
export async function replayDelivery(db: Db, id: DeliveryId, now: Date): Promise<boolean> {
  const again = { state: 'due', due: now, replayedAt: now } as const;
  const { matchedCount } = await deliveriesOf(db).updateOne(
    { _id: id, state: { $in: REPLAYABLE }, [`attempts.${ATTEMPTS_MAX}`]: { $exists: false } },
    { $set: again },
  );
  if (matchedCount === 1) return true;
  const [found] = await findDeliveries(db, [id], { bodies: true });
  if (found === undefined || found.state !== 'done') return false;
  try {
    await deliveriesOf(db).insertOne({ ...found, ...again });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false; // It is replayed already, or cannot be replayed any more.
    throw error;
  }
}

const REPLAY_PAGE = 500;
const LOST = ['exhausted', 'discarded'] as const satisfies readonly FailedState[];

interface LostDeliveries {
  readonly endpoint: EndpointId;
  readonly since: Date;
}

/**
 * Posts again what was lost since then among the newest 500 lost deliveries before `before`. `next`: where to go on;
 * undefined at the end. May be repeated.
 *
 * The walk ends only with the index: ids carry the time of the message, and an event can come long after it (a late
 * receipt), so no id is too old.
 */
export async function replayPage(
  db: Db,
  { endpoint, since }: LostDeliveries,
  before: DeliveryId | undefined,
  now: Date,
): Promise<{ readonly replayed: number; readonly next: DeliveryId | undefined }> {
  const found = await Promise.all(LOST.map((state) => newestOf(db, endpoint, state, before)));
  const page = found
    .flat()
    .sort((a, b) => (a._id < b._id ? 1 : -1))
    .slice(0, REPLAY_PAGE);
  const lost = page.filter(({ createdAt }) => createdAt >= since);
  const replayed =
    lost.length === 0 ? 0 : await makeDue(db, lost, { state: { $in: LOST } }, { due: now, replayedAt: now });
  return { replayed, next: page.length < REPLAY_PAGE ? undefined : page.at(-1)?._id };
}

/** Those of the newest messages first: a walk along an index. */
function newestOf(
  db: Db,
  endpoint: EndpointId,
  state: (typeof LOST)[number],
  before: DeliveryId | undefined,
): Promise<Pick<DeliveryDocument, '_id' | 'createdAt'>[]> {
  return deliveriesOf(db)
    .find({ endpoint, state, ...(before === undefined ? {} : { _id: { $lt: before } }) })
    .sort({ _id: -1 })
    .hint(FAILED_STATES[state])
    .limit(REPLAY_PAGE)
    .project<Pick<DeliveryDocument, '_id' | 'createdAt'>>({ createdAt: 1 })
    .toArray();
}

async function makeDue(
  db: Db,
  deliveries: readonly Pick<DeliveryDocument, '_id'>[],
  from: { readonly state: 'waiting' | { readonly $in: typeof LOST } },
  set: { readonly due: Date; readonly replayedAt?: Date },
): Promise<number> {
  const { modifiedCount } = await deliveriesOf(db).updateMany(
    { _id: { $in: deliveries.map(({ _id }) => _id) }, ...from },
    { $set: { state: 'due', ...set }, $unset: { retryAt: '' } },
  );
  return modifiedCount;
}
