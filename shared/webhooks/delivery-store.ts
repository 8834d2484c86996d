import type { Collection, Db, UpdateFilter } from 'mongodb';
import { findAtOnce } from '../mongo/find-at-once.ts';
import { updateEach } from '../mongo/update-each.ts';
import { type EndpointId, idTime } from '../runtime/ids.ts';
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

/**
 * A delivery is created at most this long after its message: validity (7 days) plus the wait for a receipt (72 h). The delivery's
 * id carries the message's time.
 */
const LIFE_MS = 10 * 86_400_000;
const REPLAY_PAGE = 500;

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
 * Posts again what was lost among the newest 500 deliveries before `before`. `next` is where to go on; undefined at the end. The
 * walk ends at the oldest delivery that can be of that time. The same call again changes nothing more.
 */
export async function replayPage(
  db: Db,
  { endpoint, since }: LostDeliveries,
  before: DeliveryId | undefined,
  now: Date,
): Promise<{ readonly replayed: number; readonly next: DeliveryId | undefined }> {
  const page = await deliveriesOf(db)
    .find({ endpoint, ...(before === undefined ? {} : { _id: { $lt: before } }) })
    .sort({ _id: -1 })
    .limit(REPLAY_PAGE)
    .project<Pick<DeliveryDocument, '_id' | 'state' | 'createdAt'>>({ state: 1, createdAt: 1 })
    .toArray();
  const lost = page.filter(
    ({ state, createdAt }) => createdAt >= since && (state === 'exhausted' || state === 'discarded'),
  );
  const replayed =
    lost.length === 0
      ? 0
      : await makeDue(db, lost, { state: { $in: ['exhausted', 'discarded'] } }, { due: now, replayedAt: now });
  const last = page.at(-1)?._id;
  const atEnd = page.length < REPLAY_PAGE || last === undefined || idTime(last) < oldestOf(since);
  return { replayed, next: atEnd ? undefined : last };
}

/** The time of the oldest message that can have a delivery of `since`. */
export function oldestOf(since: Date): Date {
  return new Date(since.getTime() - LIFE_MS);
}

async function makeDue(
  db: Db,
  deliveries: readonly Pick<DeliveryDocument, '_id'>[],
  from: { readonly state: 'waiting' | { readonly $in: readonly ('exhausted' | 'discarded')[] } },
  set: { readonly due: Date; readonly replayedAt?: Date },
): Promise<number> {
  const { modifiedCount } = await deliveriesOf(db).updateMany(
    { _id: { $in: deliveries.map(({ _id }) => _id) }, ...from },
    { $set: { state: 'due', ...set }, $unset: { retryAt: '' } },
  );
  return modifiedCount;
}
