import type { Collection, Db, Filter } from 'mongodb';
import type { PriceList } from '../money/accounts/prices.ts';
import { ledgerCollection } from '../money/ledger/store.ts';
import { type FindOne, findNow } from '../platform/mongo/find-one.ts';
import {
  type AccountId,
  type BatchId,
  batchMessageRange,
  type GroupId,
  type MessageId,
} from '../platform/runtime/ids.ts';
import type { Pattern } from '../templates/sms/pattern.ts';
import type { MessageDocument, MessageState } from './document/message.ts';
import { STATES } from './document/status.ts';
import type { Encoding } from './sms-plan.ts';

/**
 * One bulk request: one text, or one template with params, to many recipients, who wait in chunks until a worker makes
 * messages of them. Its id contains the time of the request.
 */
export interface BatchDocument
  extends Pick<
    MessageDocument,
    'account' | 'sender' | 'route' | 'path' | 'lane' | 'validUntil' | 'reference' | 'entityId' | 'keys'
  > {
  readonly _id: BatchId;
  readonly state: BatchState;
  /** Set while work remains: pay or prune it, split it, stop it, or remove its chunks. */
  readonly open?: true;
  readonly unpaid?: {
    /** By the store's time. Afterwards no debit pays for it, and it is removed (prune-messages.ts). */
    readonly payBy: Date;
    readonly bytes: number;
  };
  /** The debit that paid for it; present from `paid` on. */
  readonly group?: GroupId;
  readonly total: number;
  /** The price of all. Absent: 1 for each. */
  readonly credits?: number;
  /** The account's price list at accept, by which each message is priced. */
  readonly prices?: PriceList;
  /** Equal entries dropped because the caller asked for `dedupe`. */
  readonly duplicates?: number;
  /** Recipients who had opted out and were left out because the caller asked for `skip_opted_out`. */
  readonly skipped?: number;
  /** The last chunk may have fewer recipients. */
  readonly perChunk: number;
  readonly content: BatchContent;
  readonly done: number;
  /**
   * Entries below this index are messages or are about to be. Raised before they are made, and only while `paid`, so
   * the update that stops a batch decides for each entry whether it becomes a message.
   */
  readonly reserved: number;
  /** Number of messages and entries that were stopped; present when `stopped`. */
  readonly stopped?: number;
  /** Number of stop groups decided so far. */
  readonly stopGroups?: number;
  readonly stopGroup?: StopGroup;
  /** Present when all messages ended long ago: from then on they may be removed (prune-messages.ts). */
  readonly counts?: BatchCounts;
}

type EntryState = Exclude<(typeof STATES)[MessageState]['shown'], 'read' | 'received'>;

/** Together `total`. */
export type BatchCounts = Readonly<Record<EntryState, number>>;

export type BatchContent =
  /** `dltId`: the template that the text was rendered from or matches. */
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly encoding: Encoding;
      readonly segments: number;
      readonly dltId?: string;
    }
  /** The template as approved at accept. `params` serve the entries without params of their own. */
  | {
      readonly kind: 'template';
      readonly dltId: string;
      readonly pattern: Pattern;
      readonly params: readonly string[];
    };

/**
 * unpaid → paid → split; paid
 * split → stopping → stopped. A scheduled one: unpaid → booked → paid, or removed.
 *
 * - `unpaid`: stored, to be paid by the next debit or pruned.
 * - `booked`: paid for; its schedule says when it becomes `paid` (schedule.ts).
 * - `paid`: the account's debit carries it; a worker makes messages of its entries.
 * - `split`: every entry is a message.
 * - `stopping`: no further entry becomes a message; a worker cancels what has not left.
 * - `stopped`: that is done and refunded. `open` while messages are with a carrier and may come back.
 */
export type BatchState = 'unpaid' | 'booked' | 'paid' | 'split' | 'stopping' | 'stopped';

/** Waiting messages that a stop cancels and refunds together, all of version `v` (workers/batches/stop.ts). */
export interface StopGroup {
  readonly v: number;
  /** Absent with `v: 0`: every waiting message of version 0, to which no message returns. */
  readonly messages?: readonly MessageId[];
  readonly at: Date;
}

/** Some recipients of a batch. Removed when they have become messages, or never will. */
export interface BatchChunkDocument {
  readonly _id: BatchChunkId;
  readonly to: readonly string[];
  /** By the same index; an empty list means the batch's own params. Absent when no entry has its own. */
  readonly params?: readonly (readonly string[])[];
}

export type BatchChunkId = `${BatchId}:${string}`;

export interface BatchEntry {
  readonly to: string;
  readonly params?: readonly string[];
}

/** "Limits": Recipients per bulk request. */
export const ENTRIES_MAX = 10_000;
/** 500 plain recipients are 11 KB; with ten params each up to 0.5 MB, which take 10 ms to serialize. */
export const ENTRIES_PER_CHUNK = 500;

export function chunkId(batch: BatchId, number: number): BatchChunkId {
  return `${batch}:${String(number).padStart(3, '0')}`;
}

export function chunksOf(
  batch: BatchId,
  entries: readonly BatchEntry[],
  perChunk = ENTRIES_PER_CHUNK,
): BatchChunkDocument[] {
  const chunks: BatchChunkDocument[] = [];
  for (let start = 0; start < entries.length; start += perChunk) {
    const part = entries.slice(start, start + perChunk);
    const own = part.some(({ params }) => params !== undefined);
    chunks.push({
      _id: chunkId(batch, chunks.length),
      to: part.map(({ to }) => to),
      ...(own ? { params: part.map(({ params }) => params ?? []) } : {}),
    });
  }
  return chunks;
}

export function batchCollection(db: Db): Collection<BatchDocument> {
  return db.collection('batches');
}

export function chunkCollection(db: Db): Collection<BatchChunkDocument> {
  return db.collection('batch_chunks');
}

/** The batch must exist first: only the hourly walk finds chunks without a batch (prune.ts). */
export async function insertChunks(db: Db, chunks: readonly BatchChunkDocument[]): Promise<void> {
  // The driver serializes a command in one go: milliseconds for a chunk with params.
  const groups = chunks.some(({ params }) => params !== undefined) ? chunks.map((chunk) => [chunk]) : [chunks];
  for (const group of groups) await chunkCollection(db).insertMany(group);
}

/** Follow-up of the debit `group`. May be repeated, also long afterwards. */
export async function markPaid(db: Db, id: BatchId, group: GroupId): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: 'unpaid' },
    { $set: { state: 'paid', group }, $unset: { unpaid: '' } },
  );
}

/** Follow-up of booking: the batches wait for their time and are not pruned. May be repeated, also long afterwards. */
export async function markBooked(db: Db, ids: readonly BatchId[]): Promise<void> {
  if (ids.length === 0) return;
  await batchCollection(db).updateMany(
    { _id: { $in: ids }, state: 'unpaid' },
    { $set: { state: 'booked' }, $unset: { open: '', unpaid: '' } },
  );
}

/** As if it were paid now. May be repeated, also long afterwards. */
export async function releaseBooked(db: Db, id: BatchId, group: GroupId, validUntil: Date): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['unpaid', 'booked'] } },
    { $set: { state: 'paid', group, validUntil, open: true }, $unset: { unpaid: '' } },
  );
}

/** The caller ensures that nobody releases it. Idempotent. */
export async function removeUnreleased(db: Db, id: BatchId): Promise<void> {
  await removeChunks(db, id);
  await batchCollection(db).deleteOne({ _id: id, state: { $in: ['unpaid', 'booked'] } });
}

export async function readBatch(
  db: Db,
  account: AccountId,
  id: BatchId,
  find: FindOne = findNow,
): Promise<BatchDocument | undefined> {
  return (await find(batchCollection(db), { _id: id, account })) ?? undefined;
}

/** The chunk that holds entry `index`; undefined when the chunks are removed. */
export async function readChunk(db: Db, batch: BatchDocument, index: number): Promise<BatchChunkDocument | undefined> {
  const id = chunkId(batch._id, Math.floor(index / batch.perChunk));
  return (await chunkCollection(db).findOne({ _id: id })) ?? undefined;
}

/**
 * Reserves the next entries, when all reserved ones are made. A compare-and-set: undefined when another worker was
 * faster or the batch was stopped. So only who gets an answer knows that nobody has tried to make these entries.
 */
export async function reserveNext(db: Db, batch: BatchDocument): Promise<BatchDocument | undefined> {
  const { _id, reserved: done, total, perChunk } = batch;
  const reserved = Math.min(done + perChunk, total);
  const { modifiedCount } = await batchCollection(db).updateOne(
    { _id, state: 'paid', done, reserved: done },
    { $set: { reserved } },
  );
  return modifiedCount === 1 ? { ...batch, done, reserved } : undefined;
}

/** All reserved entries were made. With the last ones the batch is split. May be repeated. */
export async function markMade(db: Db, { _id, reserved, total }: BatchDocument): Promise<void> {
  await batchCollection(db).updateOne(
    { _id, state: 'paid', reserved },
    { $set: { done: reserved, ...(reserved === total ? { state: 'split' } : {}) } },
  );
}

export async function findStopped(db: Db, ids: readonly BatchId[]): Promise<ReadonlySet<BatchId>> {
  const stopped = await batchCollection(db)
    .find({ _id: { $in: [...ids] }, state: { $in: ['stopping', 'stopped'] } }, { projection: { _id: 1 } })
    .toArray();
  return new Set(stopped.map(({ _id }) => _id));
}

/** No further message of a paid batch is sent from now on. Idempotent. */
export async function beginStop(db: Db, id: BatchId): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['paid', 'split'] } },
    { $set: { state: 'stopping', open: true } },
  );
}

export async function findUncounted(db: Db, ids: readonly BatchId[]): Promise<readonly BatchId[]> {
  if (ids.length === 0) return [];
  const uncounted = await batchCollection(db)
    .find({ _id: { $in: [...ids] }, counts: { $exists: false } }, { projection: { _id: 1 } })
    .toArray();
  return uncounted.map(({ _id }) => _id);
}

/** For a batch whose messages have ended and whose work is done. Idempotent. */
export async function keepCounts(db: Db, id: BatchId, counts: BatchCounts): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['split', 'stopped'] }, open: { $exists: false }, counts: { $exists: false } },
    { $set: { counts } },
  );
}

/** Call it when all follow-up of the `groups` before is done. A compare-and-set: false if another was decided. */
export async function decideStopGroup(db: Db, id: BatchId, groups: number, group: StopGroup): Promise<boolean> {
  const { matchedCount } = await batchCollection(db).updateOne(
    { _id: id, ...decided(groups) },
    { $set: { stopGroups: groups + 1, stopGroup: group } },
  );
  return matchedCount === 1;
}

/** All is cancelled and refunded, in `groups` groups. Idempotent. False: a further group was decided since. */
export async function endStop(db: Db, id: BatchId, groups: number, stopped: number): Promise<boolean> {
  const { matchedCount } = await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['stopping', 'stopped'] }, ...decided(groups) },
    { $set: { state: 'stopped', stopped }, $unset: { stopGroup: '' } },
  );
  return matchedCount === 1;
}

function decided(groups: number): Filter<BatchDocument> {
  return { stopGroups: groups === 0 ? { $exists: false } : groups };
}

/** Removes the chunks, then the `open` mark: no work is left. Idempotent. */
export async function close(db: Db, id: BatchId, state: 'split' | 'stopped'): Promise<void> {
  await removeChunks(db, id);
  await batchCollection(db).updateOne({ _id: id, state, stopGroup: { $exists: false } }, { $unset: { open: '' } });
}

export async function removeChunks(db: Db, id: BatchId): Promise<void> {
  // After the colon come only digits, and '~' sorts after them.
  await chunkCollection(db).deleteMany({ _id: { $gt: `${id}:`, $lt: `${id}:~` } });
}

/**
 * Counts a batch's messages by one range of `_id`. Entries that are no messages yet, or only lines in the queue, count
 * as queued; those that never become messages count as rejected, as stopped messages do. May be a moment old. Counts
 * stored in the batch's document are used, because its messages may be removed.
 */
export async function countBatch(db: Db, batch: BatchDocument): Promise<BatchCounts> {
  if (batch.counts !== undefined) return batch.counts;
  const states = await db
    .collection<MessageDocument>('messages')
    .aggregate<{ readonly _id: MessageState; readonly n: number }>([
      { $match: { _id: batchMessageRange(batch._id), batch: batch._id } },
      { $group: { _id: '$state', n: { $sum: 1 } } },
    ])
    .toArray();
  const counts = { queued: 0, sent: 0, delivered: 0, failed: 0, expired: 0, rejected: 0 };
  let messages = 0;
  for (const { _id: state, n } of states) {
    const { shown } = STATES[state];
    if (shown === 'read' || shown === 'received') throw new Error(`message of a batch in state ${state}`);
    counts[shown] += n;
    messages += n;
  }
  const { state, total, reserved } = batch;
  const never = state === 'stopping' || state === 'stopped' ? total - reserved : 0;
  counts.rejected += never;
  counts.queued += Math.max(0, total - never - messages);
  return counts;
}

/** From the ledger, by two ranges of `change`: refunds of single messages, and of the batch itself. */
export async function refundedCredits(db: Db, { _id, account }: BatchDocument): Promise<number> {
  const { $gte, $lte } = batchMessageRange(_id);
  const ranges = [
    { $gte: refundId($gte), $lte: refundId($lte) },
    { $gte: refundId(_id), $lt: `${refundId(_id)}${BEHIND_GROUPS}` as const },
  ];
  const sums = await Promise.all(
    ranges.map((change) =>
      ledgerCollection(db)
        .aggregate<{ readonly credits: number }>([
          { $match: { account, change } },
          { $group: { _id: null, credits: { $sum: '$amount' } } },
        ])
        .toArray(),
    ),
  );
  return sums.flat().reduce((sum, { credits }) => sum + credits, 0);
}

/** The change that refunds a message, or the entries of a batch that never became messages. */
export function refundId<Id extends string>(of: Id): `ref_${Id}` {
  return `ref_${of}`;
}

/** The change that refunds the batch's stop group of this number, from 1. */
export function groupRefundId(batch: BatchId, number: number): `ref_${BatchId}_${string}` {
  return `${refundId(batch)}_${String(number).padStart(5, '0')}`;
}

/** Sorts after `_`, all digits and all letters. */
const BEHIND_GROUPS = '~';
