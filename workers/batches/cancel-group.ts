import type { Db } from 'mongodb';
import type { BatchDocument, StopGroup } from '../../shared/batches/batch.ts';
import { groupRefundId } from '../../shared/batches/progress.ts';
import { applyCredits } from '../../shared/credits/change.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/credits/refund.ts';
import { CANCELLED, CANCELLED_REASON } from '../../shared/messages/cancelled.ts';
import type { HistoryEntry, MessageDocument } from '../../shared/messages/message.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import type { Announcer } from '../../shared/webhooks/announce.ts';

export interface CancelDeps {
  readonly db: Db;
  readonly announcer: Announcer;
}

/**
 * Cancels the messages of a stop group, the batch's `number`th, and refunds them by one change; may be done again, also by
 * two at once. The update names the version in which each was found waiting, and versions only rise: so when this update has
 * run once, by whomever, it is settled for ever which messages bear the group's refund, and everyone who asks afterwards
 * counts the same. What has left since is not among them. The messages bear the refund's id so that no redo of a worker that
 * had them in hand refunds them by their own.
 *
 * `found` are the messages as they were read, where the caller knows them.
 */
export async function cancelGroup(
  { db, announcer }: CancelDeps,
  { _id, account }: Pick<BatchDocument, '_id' | 'account'>,
  number: number,
  { messages: ids, v, at }: StopGroup,
  found?: readonly MessageDocument[],
): Promise<void> {
  const messages = db.collection<MessageDocument>('messages');
  const refund = groupRefundId(_id, number);
  const entry: HistoryEntry = { state: 'rejected', at };
  const set = {
    state: 'rejected',
    errorCode: CANCELLED,
    errorReason: CANCELLED_REASON,
    refund,
  } as const;
  const { modifiedCount } = await messages.updateMany(
    { _id: { $in: [...ids] }, v, state: { $in: ['queued', 'waiting'] } },
    { $set: set, $unset: { due: '' }, $push: { history: entry }, $inc: { v: 1 } },
  );
  const cancelled =
    modifiedCount === found?.length
      ? found.map((message) => ({ ...message, ...set, v: v + 1, history: [...message.history, entry] }))
      : await messages.find({ _id: { $in: [...ids] }, refund }).toArray();
  if (cancelled.length === 0) return;
  crashPoint('stop:cancelled');
  await announcer.announce(cancelled.map((message) => ({ message, entry })));
  const credit = {
    id: refund,
    amount: cancelled.length * CREDITS_PER_MESSAGE,
    reason: 'refund',
    reference: _id,
  } as const;
  await applyCredits(db, account, [credit]);
}
