import type { BatchDocument, StopGroup } from '../../shared/batches/batch.ts';
import { refundId } from '../../shared/batches/progress.ts';
import { decideStopGroup, endStop } from '../../shared/batches/store.ts';
import { applyCredits } from '../../shared/credits/change.ts';
import { CREDITS_PER_MESSAGE } from '../../shared/credits/refund.ts';
import { CANCELLED } from '../../shared/messages/cancelled.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { batchMessageRange, type MessageId } from '../../shared/runtime/ids.ts';
import { type CancelDeps, cancelGroup } from './cancel-group.ts';
import { makeReserved, type SplitDeps } from './split.ts';

export interface StopDeps extends SplitDeps, CancelDeps {
  readonly clock: Clock;
  /** Whether the batch's lease is ours still; asked before each group. */
  held(): boolean;
}

/** Messages of one group: one update of the store, which runs it to its end (some 15 ms) while others wait. */
const GROUP_MAX = 500;

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
 * From the front, where claims take too: the first group is ahead of them at once. Returns how many groups were decided and
 * done in all; undefined when the lease went, or somebody else has the batch in hand.
 */
async function cancelWaiting(deps: StopDeps, batch: BatchDocument): Promise<number | undefined> {
  const { db, clock, held } = deps;
  const { _id, stopGroups = 0, stopGroup } = batch;
  // Who decided it may have died at any line since.
  if (stopGroup !== undefined) await cancelGroup(deps, batch, stopGroups, stopGroup);
  const messages = db.collection<MessageDocument>('messages');
  const { $gte, $lte } = batchMessageRange(_id);
  let behind: { readonly $gte: MessageId } | { readonly $gt: MessageId } = { $gte };
  let groups = stopGroups;
  while (held()) {
    const found: MessageDocument[] = await messages
      .find({ _id: { ...behind, $lte }, batch: _id, state: { $in: ['queued', 'waiting'] } })
      .sort({ _id: 1 })
      .limit(GROUP_MAX)
      .batchSize(GROUP_MAX + 1) // all in one answer: the server's own first batch holds 101
      .toArray();
    const last = found.at(-1);
    if (last === undefined) return groups;
    for (const [v, same] of byVersion(found)) {
      const group: StopGroup = { messages: same.map((message) => message._id), v, at: clock.now() };
      if (!(await decideStopGroup(db, _id, groups, group))) return undefined;
      crashPoint('stop:decided');
      groups += 1;
      await cancelGroup(deps, batch, groups, group, same);
    }
    behind = { $gt: last._id };
  }
  return undefined;
}

/** Few that wait have been with a carrier before: nearly all are in their first version. */
function byVersion(found: readonly MessageDocument[]): ReadonlyMap<number, readonly MessageDocument[]> {
  const groups = new Map<number, MessageDocument[]>();
  for (const message of found) {
    const same = groups.get(message.v);
    if (same === undefined) groups.set(message.v, [message]);
    else same.push(message);
  }
  return groups;
}

function countCancelled({ db }: StopDeps, { _id }: BatchDocument): Promise<number> {
  return db
    .collection<MessageDocument>('messages')
    .countDocuments({ _id: batchMessageRange(_id), batch: _id, state: 'rejected', errorCode: CANCELLED });
}
