import type { Db } from 'mongodb';
import { ledgerCollection } from '../ledger/store.ts';
import type { MessageDocument, MessageState } from '../messages/message.ts';
import { STATES } from '../messages/status.ts';
import { type BatchId, batchMessageRange } from '../runtime/ids.ts';
import type { BatchCounts, BatchDocument } from './batch.ts';

/**
 * Counts a batch's messages by one range of their `_id`. Entries that are no messages yet are queued; those that never will
 * be are rejected, as the stopped messages are. One reading beside a batch that moves: a count may be a moment old. Of one
 * that ended long ago the document says it: its messages may be removed.
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
  const stopped = batch.state === 'stopping' || batch.state === 'stopped';
  counts[stopped ? 'rejected' : 'queued'] += Math.max(0, batch.total - messages);
  return counts;
}

/**
 * Credits that went back for a batch and its messages: the ledger says it. By the index on change, whose ids are derived: one
 * range of those of single messages, one of the batch's own.
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

/** Comes after `_` and all digits and letters. */
const BEHIND_GROUPS = '~';

/** Whether a message of the batch may still leave: it waits, or is with a carrier and may come back. */
export async function hasStoppable(db: Db, batch: BatchId): Promise<boolean> {
  const found = await db
    .collection<MessageDocument>('messages')
    .findOne(
      { _id: batchMessageRange(batch), batch, state: { $in: ['queued', 'waiting', 'submitting'] } },
      { projection: { _id: 1 } },
    );
  return found !== null;
}
