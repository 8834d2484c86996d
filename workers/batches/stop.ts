import type { Db } from 'mongodb';
import type { BatchDocument, StopGroup } from '../../shared/batches/batch.ts';
import { refundId } from '../../shared/batches/progress.ts';
import { decideStopGroup, endStop } from '../../shared/batches/store.ts';
import { applyCredits } from '../../shared/ledger/change.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/ledger/refund.ts';
import { CANCELLED } from '../../shared/messages/cancelled.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { type BatchId, batchMessageRange } from '../../shared/runtime/ids.ts';
import { type CancelDeps, cancelGroup, WAITING } from './cancel-group.ts';
import { makeReserved, type SplitDeps } from './split.ts';

export interface StopDeps extends SplitDeps, CancelDeps {
  readonly clock: Clock;
}

/** Messages that a group names; they are stored in the batch. */
const LISTED_MAX = 500;

/**
 * Does what follows from stopping a batch; each step may be done again. `reserved` cannot grow any more, so what lies behind
 * it never becomes a message and is refunded as a whole, once by the batch's id. What lies before it is made first, if it is
 * not there (a frozen worker then finds it and makes none after the refund), and cancelled where it waits: in groups, each
 * decided by one update of the batch before anything of it is done, and refunded by one change. A message that a carrier's
 * worker claims at the same moment is either claimed or cancelled: the filters decide.
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
  const groups = await cancelWaiting(deps, batch);
  if (groups !== undefined) await endStop(db, _id, groups, never + (await countCancelled(deps, batch)));
}

/**
 * Of a stopped batch whose last messages were with a carrier: cancels those that came back (throttled, for example), and
 * tells whether none can come back any more.
 */
export async function stopLeftovers(deps: StopDeps, batch: BatchDocument): Promise<boolean> {
  const { db } = deps;
  const { _id, total, reserved, stopped, stopGroups = 0, stopGroup } = batch;
  const groups = await cancelWaiting(deps, batch);
  if (groups === undefined) return false;
  const cancelled = total - reserved + (await countCancelled(deps, batch));
  const changed = cancelled !== stopped || groups !== stopGroups || stopGroup !== undefined;
  if (changed && !(await endStop(db, _id, groups, cancelled))) return false;
  const away = await db
    .collection<MessageDocument>('messages')
    .findOne({ _id: batchMessageRange(_id), batch: _id, state: { $in: ['queued', 'waiting', 'submitting'] } });
  return away === null;
}

/**
 * Group by group until nothing waits. Returns how many groups were decided and done in all; undefined when the lease went, or
 * somebody else has the batch in hand.
 */
async function cancelWaiting(deps: StopDeps, batch: BatchDocument): Promise<number | undefined> {
  const { db, clock } = deps;
  const { _id, stopGroups = 0, stopGroup } = batch;
  // Who decided it may have died at any line since.
  if (stopGroup !== undefined && !(await cancelGroup(deps, batch, stopGroups, stopGroup))) return undefined;
  for (let groups = stopGroups; ; ) {
    const group = await nextGroup(db, _id, clock.now());
    if (group === undefined) return groups;
    if (!(await decideStopGroup(db, _id, groups, group))) return undefined;
    groups += 1;
    crashPoint('stop:decided');
    if (!(await cancelGroup(deps, batch, groups, group))) return undefined;
  }
}

/**
 * What waits and was never taken by a carrier's worker is one group, whatever it is: it is in the first version, and none comes
 * back to that. What was taken and came back is named one by one. (How a group is done: cancel-group.ts.)
 */
async function nextGroup(db: Db, batch: BatchId, at: Date): Promise<StopGroup | undefined> {
  const messages = db.collection<MessageDocument>('messages');
  // One that may have left before and waits to be sent again is not cancelled: it is refused when it is about to leave (departures.ts).
  const filter = { _id: batchMessageRange(batch), batch, state: { $in: WAITING }, earlier: { $exists: false } };
  const first = await messages.findOne(filter, { sort: { _id: 1 }, projection: { v: 1 } });
  if (first === null) return undefined;
  const { v } = first;
  if (v === 0) return { v, at };
  const same = await messages
    .find({ ...filter, v }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(LISTED_MAX)
    .toArray();
  return { v, at, messages: same.map(({ _id }) => _id) };
}

function countCancelled({ db }: StopDeps, { _id }: BatchDocument): Promise<number> {
  return db
    .collection<MessageDocument>('messages')
    .countDocuments({ _id: batchMessageRange(_id), batch: _id, state: 'rejected', errorCode: CANCELLED });
}
