import type { Db } from 'mongodb';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import { type BatchDocument, groupRefundId, type StopGroup } from '../../shared/messages/batch.ts';
import { CANCELLED, CANCELLED_REASON } from '../../shared/messages/document/change.ts';
import type { HistoryEntry, MessageDocument } from '../../shared/messages/document/message.ts';
import { creditsOf } from '../../shared/money/accounts/prices.ts';
import { applyCredits } from '../../shared/money/ledger/change.ts';
import { findEachCommitted } from '../../shared/platform/mongo/find-one.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { batchMessageRange, type MessageId } from '../../shared/platform/runtime/ids.ts';

export interface CancelDeps {
  readonly db: Db;
  readonly announcer: Announcer;
  /** Whether we still hold the batch's lease. */
  held(): boolean;
}

/** States of messages that have not left. */
export const WAITING = ['queued', 'waiting'] as const;
/** The most messages in one update. It takes the store some 15 ms, and other commands wait for it. */
const SLICE_MAX = 500;

/**
 * Cancels the messages of the batch's stop group `number` in slices, then refunds them by one change.
 *
 * May be repeated, and two workers may do it at once. A message is cancelled only in the version in which it was
 * found waiting, and versions only rise. So once this has run, the set of messages that carry the group's refund is
 * final, and every run counts the same. Messages that left meanwhile are not in the set. The cancelled messages carry
 * the refund's id, so that no worker refunds them a second time when it redoes its own work.
 *
 * False when the lease is lost; the next holder finishes the group.
 */
export async function cancelGroup(
  deps: CancelDeps,
  { _id, account, group: by, keys }: Pick<BatchDocument, '_id' | 'account' | 'group' | 'keys'>,
  number: number,
  group: StopGroup,
): Promise<boolean> {
  const { db, announcer, held } = deps;
  const refund = groupRefundId(_id, number);
  const { $gte, $lte } = batchMessageRange(_id);
  const listed = group.messages === undefined ? {} : { $in: [...group.messages] };
  let behind: { readonly $gte: MessageId } | { readonly $gt: MessageId } = { $gte };
  let cancelled = 0;
  let amount = 0;
  while (held()) {
    const found: MessageDocument[] = await db
      .collection<MessageDocument>('messages')
      .find({
        _id: { ...behind, $lte, ...listed },
        $or: [{ refund }, { batch: _id, v: group.v, state: { $in: WAITING } }],
      })
      .sort({ _id: 1 })
      .limit(SLICE_MAX)
      .batchSize(SLICE_MAX + 1) // everything in one reply; MongoDB's default for the first is 101
      .toArray();
    const last = found.at(-1);
    if (last === undefined) {
      if (cancelled === 0) return true;
      const paid = by && { by, keys };
      await applyCredits(db, account, [{ id: refund, amount, reason: 'refund', reference: _id, paid }]);
      return true;
    }
    const refunded = await cancelSlice(db, found, group, refund);
    await announcer.announce(refunded.map((message) => ({ message, entry: entryOf(group) })));
    cancelled += refunded.length;
    amount += refunded.reduce((sum, message) => sum + creditsOf(message), 0);
    behind = { $gt: last._id };
  }
  return false;
}

/**
 * The messages of `found` that carry the refund after this update. Some carried it before, and others have left since they were
 * read. `found` may come from a primary that was replaced, and what it cancelled may be undone. So a message that is found with
 * the refund is cancelled again if it waits, and counts only if it has the refund on a majority.
 */
async function cancelSlice(
  db: Db,
  found: readonly MessageDocument[],
  group: StopGroup,
  refund: ReturnType<typeof groupRefundId>,
): Promise<readonly MessageDocument[]> {
  const messages = db.collection<MessageDocument>('messages');
  const set = { state: 'rejected', errorCode: CANCELLED, errorReason: CANCELLED_REASON, refund } as const;
  const { modifiedCount } = await messages.updateMany(
    { _id: { $in: found.map((message) => message._id) }, v: group.v, state: { $in: WAITING } },
    { $set: set, $unset: { due: '' }, $push: { history: entryOf(group) }, $inc: { v: 1 } },
  );
  crashPoint('stop:cancelled');
  if (modifiedCount < found.length) {
    return findEachCommitted(
      messages,
      found.map(({ _id }) => ({ _id, refund })),
    );
  }
  return found.map((message) =>
    message.refund === undefined
      ? { ...message, ...set, v: message.v + 1, history: [...message.history, entryOf(group)] }
      : message,
  );
}

/** A message that waits has no history yet. */
function entryOf({ at }: StopGroup): HistoryEntry {
  return { state: 'rejected', at };
}
