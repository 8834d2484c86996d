import type { Db } from 'mongodb';
import { ledgerCollection } from '../money/ledger/store.ts';
import { type BatchId, batchMessageRange } from '../platform/runtime/ids.ts';
import type { BatchCounts, BatchDocument } from './batch.ts';
import type { MessageDocument, MessageState } from './document/message.ts';
import { STATES } from './document/status.ts';

/**
 * Counts a batch's messages by one range of `_id`. Entries that are no messages yet, or only lines in the queue, count as queued;
 * those that never become messages count as rejected, as stopped messages do. So what is queued may still be sent, and nothing else.
 * The batch may move during the read, so a count may be a moment old. A batch that ended long ago has its counts in its document,
 * because its messages may be removed.
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

/**
 * Credits refunded for a batch and its messages, from the ledger. Change ids are derived, so the index on `change` serves it with
 * two ranges: the refunds of single messages, and those of the batch itself.
 */
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
