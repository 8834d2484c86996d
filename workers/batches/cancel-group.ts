import type { Db } from 'mongodb';
import type { BatchDocument, StopGroup } from '../../shared/batches/batch.ts';
import { groupRefundId } from '../../shared/batches/progress.ts';
import { applyCredits } from '../../shared/ledger/change.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import { CANCELLED, CANCELLED_REASON } from '../../shared/messages/cancelled.ts';
import type { HistoryEntry, MessageDocument } from '../../shared/messages/message.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { batchMessageRange, type MessageId } from '../../shared/runtime/ids.ts';
import type { Announcer } from '../../shared/webhooks/announce.ts';

export interface CancelDeps {
  readonly db: Db;
  readonly announcer: Announcer;
  /** Whether the batch's lease is ours still. */
  held(): boolean;
}

/** States in which a message has not left. */
export const WAITING = ['queued', 'waiting'] as const;
/** Messages of one update: the store runs it to its end (some 15 ms) while others wait. */
const SLICE_MAX = 500;

/**
 * Cancels the messages of a stop group, the batch's `number`th, slice by slice, then refunds them by one change; may be done
 * again, also by two at once. A message is cancelled only in the version in which it was found waiting, and versions only
 * rise: so when this has run once, by whomever, it is settled for ever which messages bear the group's refund, and everyone
 * who runs it counts the same. What has left since is not among them. They bear the refund's id so that no redo of a worker
 * that had them in hand refunds them by their own. False when the lease went: somebody else will finish it.
 */
export async function cancelGroup(
  deps: CancelDeps,
  { _id, account }: Pick<BatchDocument, '_id' | 'account'>,
  number: number,
  group: StopGroup,
): Promise<boolean> {
  const { db, announcer, held } = deps;
  const refund = groupRefundId(_id, number);
  const { $gte, $lte } = batchMessageRange(_id);
  const listed = group.messages === undefined ? {} : { $in: [...group.messages] };
  let behind: { readonly $gte: MessageId } | { readonly $gt: MessageId } = { $gte };
  let cancelled = 0;
  while (held()) {
    const found: MessageDocument[] = await db
      .collection<MessageDocument>('messages')
      .find({
        _id: { ...behind, $lte, ...listed },
        $or: [{ refund }, { batch: _id, v: group.v, state: { $in: WAITING } }],
      })
      .sort({ _id: 1 })
      .limit(SLICE_MAX)
      .batchSize(SLICE_MAX + 1) // all in one answer: the server's own first batch holds 101
      .toArray();
    const last = found.at(-1);
    if (last === undefined) {
      if (cancelled === 0) return true;
      const amount = cancelled * CREDITS_PER_MESSAGE;
      await applyCredits(db, account, [{ id: refund, amount, reason: 'refund', reference: _id }]);
      return true;
    }
    const bearing = await cancelSlice(db, found, group, refund);
    await announcer.announce(bearing.map((message) => ({ message, entry: entryOf(group) })));
    cancelled += bearing.length;
    behind = { $gt: last._id };
  }
  return false;
}

/** Those of `found` that bear the refund when this is done: some bore it already, some may have left since they were read. */
async function cancelSlice(
  db: Db,
  found: readonly MessageDocument[],
  group: StopGroup,
  refund: ReturnType<typeof groupRefundId>,
): Promise<readonly MessageDocument[]> {
  const messages = db.collection<MessageDocument>('messages');
  const waiting = found.filter((message) => message.refund === undefined);
  const set = { state: 'rejected', errorCode: CANCELLED, errorReason: CANCELLED_REASON, refund } as const;
  const { modifiedCount } = await messages.updateMany(
    { _id: { $in: waiting.map((message) => message._id) }, v: group.v, state: { $in: WAITING } },
    { $set: set, $unset: { due: '' }, $push: { history: entryOf(group) }, $inc: { v: 1 } },
  );
  crashPoint('stop:cancelled');
  if (modifiedCount < waiting.length) {
    return messages.find({ _id: { $in: found.map((message) => message._id) }, refund }).toArray();
  }
  return found.map((message) =>
    message.refund === undefined
      ? { ...message, ...set, v: message.v + 1, history: [...message.history, entryOf(group)] }
      : message,
  );
}

/** What waits has no history yet. */
function entryOf({ at }: StopGroup): HistoryEntry {
  return { state: 'rejected', at };
}
