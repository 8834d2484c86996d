import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { AccountId, EndpointId, ReplayId } from '../../platform/runtime/ids.ts';
import type { DeliveryId } from './delivery.ts';

/**
 * An account asks to post again what an endpoint did not get since a time. The webhook worker does so page by page,
 * newest first, and notes here how far it has come.
 *
 * `running` → `done`, or `stopped` when the endpoint was disabled or removed meanwhile.
 */
export interface ReplayDocument {
  readonly _id: ReplayId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly since: Date;
  readonly state: 'running' | 'done' | 'stopped';
  readonly startedAt: Date;
  readonly endedAt?: Date;
  /** The last delivery of the last page. Absent before the first page. */
  readonly before?: DeliveryId;
  /** Deliveries posted again. A page that was repeated after a crash is counted once, or not at all. */
  readonly replayed: number;
  readonly expiresAt: Date;
}

const KEPT_MS = 30 * 86_400_000;
/** Per account. A replay of nothing ends at once, so a loop could make a million a day. */
const KEPT_MAX = 500;

type NewReplay = Pick<ReplayDocument, '_id' | 'account' | 'endpoint' | 'since'>;

export class ReplayRunning extends Error {
  readonly code = 'replay_running';
}

/** Rejects with `ReplayRunning` when the endpoint has a running one: the unique index decides. */
export async function startReplay(db: Db, replay: NewReplay, now: Date): Promise<ReplayDocument> {
  const expiresAt = new Date(now.getTime() + KEPT_MS);
  const document: ReplayDocument = { ...replay, state: 'running', startedAt: now, replayed: 0, expiresAt };
  try {
    await replays(db).insertOne(document);
  } catch (error) {
    throw isDuplicateKey(error) ? new ReplayRunning('a replay is running', { cause: error }) : error;
  }
  await removeOldest(db, replay.account);
  return document;
}

async function removeOldest(db: Db, account: AccountId): Promise<void> {
  const [oldest] = await replays(db)
    .find({ account }, { projection: { _id: 1 } })
    .sort({ _id: -1 })
    .skip(KEPT_MAX - 1)
    .limit(1)
    .toArray();
  if (oldest !== undefined)
    await replays(db).deleteMany({ account, _id: { $lt: oldest._id }, state: { $ne: 'running' } });
}

export async function findReplay(db: Db, account: AccountId, id: string): Promise<ReplayDocument | undefined> {
  const _id = id as ReplayId; // only compared with
  return (await replays(db).findOne({ _id, account })) ?? undefined;
}

/** Newest first, older than `before`. */
export function listReplays(db: Db, endpoint: EndpointId, limit: number, before?: ReplayId): Promise<ReplayDocument[]> {
  const place = before === undefined ? {} : { _id: { $lt: before } };
  return replays(db)
    .find({ endpoint, ...place })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

export function findRunningReplays(db: Db, limit: number): Promise<ReplayDocument[]> {
  return replays(db).find({ state: 'running' }).limit(limit).toArray();
}

export function listNewestReplays(db: Db, account: AccountId, limit: number): Promise<ReplayDocument[]> {
  return replays(db).find({ account }).sort({ _id: -1 }).limit(limit).toArray();
}

/** After a page: the replay goes on at `next`, or is done. */
export async function noteReplayed(
  db: Db,
  { _id }: Pick<ReplayDocument, '_id'>,
  { replayed, next }: { readonly replayed: number; readonly next: DeliveryId | undefined },
  now: Date,
): Promise<void> {
  const set = next === undefined ? { state: 'done' as const, endedAt: now } : { before: next };
  await replays(db).updateOne({ _id, state: 'running' }, { $set: set, $inc: { replayed } });
}

/** The endpoint was disabled or removed. */
export async function stopReplay(db: Db, { _id }: Pick<ReplayDocument, '_id'>, now: Date): Promise<void> {
  await replays(db).updateOne({ _id, state: 'running' }, { $set: { state: 'stopped', endedAt: now } });
}

function replays(db: Db): Collection<ReplayDocument> {
  return db.collection('webhook_replays');
}
