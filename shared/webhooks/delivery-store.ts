import type { Collection, Db, UpdateFilter } from 'mongodb';
import { findAtOnce } from '../mongo/find-at-once.ts';
import { updateEach } from '../mongo/update-each.ts';
import { FAILED_STATES, type FailedState } from '../mongo/webhook-indexes.ts';
import type { EndpointId } from '../runtime/ids.ts';
import type { DeliveryAttempt, DeliveryDocument, DeliveryId } from './delivery.ts';

/** The result that ends a delivery's state `due`. `discarded` may happen without a try. */
export type Completion = { readonly id: DeliveryId; readonly attempt?: DeliveryAttempt } & (
  | { readonly state: 'done' | 'exhausted' | 'discarded' }
  | { readonly state: 'waiting'; readonly retryAt: Date }
);

export function deliveriesOf(db: Db): Collection<DeliveryDocument> {
  return db.collection<DeliveryDocument>('deliveries');
}

/** A range of endpoint ids, both ends exclusive. */
export interface EndpointRange {
  readonly after: string;
  readonly before?: string | undefined;
}

/** Due deliveries of the endpoints in a range, endpoint by endpoint, oldest first: a plain walk along the index `due`. */
export function findDueInRange(db: Db, range: EndpointRange, limit: number): Promise<DeliveryDocument[]> {
  const endpoint = {
    $gt: range.after as EndpointId, // only compared with
    ...(range.before === undefined ? {} : { $lt: range.before as EndpointId }),
  };
  const filter = { endpoint, due: { $exists: true } };
  return findAtOnce<DeliveryDocument>(db, 'deliveries', { filter, sort: { endpoint: 1, due: 1 }, limit });
}

/** Due deliveries of these endpoints, endpoint by endpoint, oldest first. */
export function findDueOf(db: Db, endpoints: readonly EndpointId[], limit: number): Promise<DeliveryDocument[]> {
  const filter = { endpoint: { $in: [...endpoints] }, due: { $exists: true } };
  return findAtOnce<DeliveryDocument>(db, 'deliveries', { filter, sort: { endpoint: 1, due: 1 }, limit });
}

/** One update each, in one command. May be repeated: it only completes deliveries that are `due`. */
export async function completeDeliveries(db: Db, completions: readonly Completion[]): Promise<void> {
  const updates = completions.map((completion) => {
    const update: UpdateFilter<DeliveryDocument> = {
      $set:
        completion.state === 'waiting'
          ? { state: completion.state, retryAt: completion.retryAt }
          : { state: completion.state },
      $unset: { due: '' },
      ...(completion.attempt === undefined ? {} : { $push: { attempts: completion.attempt } }),
    };
    return { filter: { _id: completion.id, state: 'due' }, update };
  });
  await updateEach(db, 'deliveries', updates);
}

/**
 * Moves up to `limit` waiting deliveries whose time has come to `due`. Returns how many it processed. May run in several
 * processes at once.
 */
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

/** States that allow a replay. A delivery in `due` or `waiting` is posted anyway. */
const REPLAYABLE = ['done', 'exhausted', 'discarded'] as const;
/** Keeps the log of one delivery well below the largest document; a replay adds at most nine tries. */
const ATTEMPTS_MAX = 200;

/** Posts one delivery again, whatever its result was. False when no such delivery can be replayed. */
export async function replayDelivery(db: Db, id: DeliveryId, now: Date): Promise<boolean> {
  const { matchedCount } = await deliveriesOf(db).updateOne(
    { _id: id, state: { $in: REPLAYABLE }, [`attempts.${ATTEMPTS_MAX}`]: { $exists: false } },
    { $set: { state: 'due', due: now, replayedAt: now } },
  );
  return matchedCount === 1;
}

const REPLAY_PAGE = 500;
/** States of what an endpoint did not get. */
const LOST = ['exhausted', 'discarded'] as const satisfies readonly FailedState[];

/** Everything since a time that an endpoint did not get. */
export interface LostDeliveries {
  readonly endpoint: EndpointId;
  readonly since: Date;
}

/** Posts again everything since a time that an endpoint did not get (exhausted or discarded). Returns how many. */
export async function replaySince(db: Db, lost: LostDeliveries, now: Date): Promise<number> {
  let replayed = 0;
  for (let before: DeliveryId | undefined; ; ) {
    const page = await replayPage(db, lost, before, now);
    replayed += page.replayed;
    if (page.next === undefined) return replayed;
    before = page.next;
  }
}

/**
 * Posts again what was lost since then among the newest 500 lost deliveries before `before`. `next` is where to go on; undefined at
 * the end. The same call again changes nothing more.
 *
 * Ids carry the time of the message, and an event can come long after it (a message is read, a receipt is late). So no id is too
 * old: the walk has no other end than that of the index, which has the lost ones alone.
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

/** A page of an endpoint's deliveries in one state, those of the newest messages first: a walk along an index. */
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
