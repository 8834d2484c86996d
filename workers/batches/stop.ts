import type { Db } from 'mongodb';
import type { BatchDocument } from '../../shared/batches/batch.ts';
import { refundId } from '../../shared/batches/progress.ts';
import { endStop } from '../../shared/batches/store.ts';
import { applyCredits } from '../../shared/credits/change.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/credits/refund.ts';
import { type Change, entryAt } from '../../shared/messages/change.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import type { Settler } from '../../shared/messages/settle.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { type BatchId, batchMessageRange, type MessageId } from '../../shared/runtime/ids.ts';
import { makeReserved, type SplitDeps } from './split.ts';

export interface StopDeps extends SplitDeps {
  readonly clock: Clock;
  /** Of the lease that the batch belongs to. */
  readonly settler: Settler;
  /** Whether the lease is ours still; asked before each group. */
  held(): boolean;
}

/** Messages of one settle: each is one refund in the account's next change. */
const GROUP_MAX = 500;
/** `error_code` of what was stopped. */
export const CANCELLED = 'cancelled';

/**
 * Does what follows from stopping a batch; each step may be done again. `reserved` cannot grow any more, so what lies behind
 * it never becomes a message and is refunded as a whole, once by the batch's id. What lies before it is made first, if it is
 * not there (a frozen worker then finds it and makes none after the refund), and cancelled where it waits: refunded by the
 * message's id. A message that a carrier's worker claims at the same moment is either claimed or cancelled: the filters decide.
 */
export async function stopBatch(deps: StopDeps, batch: BatchDocument): Promise<void> {
  const { db } = deps;
  const { _id, account, total, reserved } = batch;
  await makeReserved(deps, batch);
  const never = total - reserved;
  if (never > 0) {
    const credit = {
      id: refundId(_id),
      amount: never * CREDITS_PER_MESSAGE,
      reason: 'refund',
      reference: _id,
    } as const;
    await applyCredits(db, account, [credit]);
  }
  if (!(await cancelWaiting(deps, _id))) return;
  await endStop(db, _id, never + (await countCancelled(db, _id)));
}

/**
 * Of a stopped batch whose last messages were with a carrier: cancels those that came back (throttled, for example), and
 * tells whether none can come back any more.
 */
export async function stopLeftovers(deps: StopDeps, batch: BatchDocument): Promise<boolean> {
  const { db } = deps;
  const { _id, total, reserved, stopped } = batch;
  if (!(await cancelWaiting(deps, _id))) return false;
  const cancelled = total - reserved + (await countCancelled(db, _id));
  if (cancelled !== stopped) await endStop(db, _id, cancelled);
  const away = await db
    .collection<MessageDocument>('messages')
    .findOne({ _id: batchMessageRange(_id), batch: _id, state: { $in: ['queued', 'waiting', 'submitting'] } });
  return away === null;
}

/** From the front, where claims take too: the first group is ahead of them at once. False when the lease went. */
async function cancelWaiting({ db, clock, settler, held }: StopDeps, batch: BatchId): Promise<boolean> {
  const messages = db.collection<MessageDocument>('messages');
  const { $gte, $lte } = batchMessageRange(batch);
  let behind: { readonly $gte: MessageId } | { readonly $gt: MessageId } = { $gte };
  while (held()) {
    const found: MessageDocument[] = await messages
      .find({ _id: { ...behind, $lte }, batch, state: { $in: ['queued', 'waiting'] } })
      .sort({ _id: 1 })
      .limit(GROUP_MAX)
      .batchSize(GROUP_MAX + 1) // all in one answer: the server's own first batch holds 101
      .toArray();
    const last = found.at(-1);
    if (last === undefined) return true;
    await settler.settle(
      found.map((message) => ({ message, decide: (current: MessageDocument) => decideCancel(current, clock.now()) })),
    );
    behind = { $gt: last._id };
  }
  return false;
}

/** A message that waits ends as rejected; one that has left, or is about to, is let go. Pure. */
export function decideCancel(message: MessageDocument, now: Date): Change | undefined {
  if (message.state !== 'queued' && message.state !== 'waiting') return undefined;
  return {
    state: 'rejected',
    set: { errorCode: CANCELLED, errorReason: 'The batch was stopped before the message left.' },
    unset: ['due'],
    entries: [entryAt('rejected', now, message.history)],
  };
}

function countCancelled(db: Db, batch: BatchId): Promise<number> {
  return db
    .collection<MessageDocument>('messages')
    .countDocuments({ _id: batchMessageRange(batch), batch, state: 'rejected', errorCode: CANCELLED });
}
