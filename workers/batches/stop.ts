import type { Db } from 'mongodb';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import {
  type BatchDocument,
  batchCollection,
  decideStopGroup,
  endStop,
  groupRefundId,
  refundId,
  type StopGroup,
} from '../../shared/messages/batch.ts';
import { CANCELLED, CANCELLED_REASON } from '../../shared/messages/document/change.ts';
import type { HistoryEntry, MessageDocument } from '../../shared/messages/document/message.ts';
import { removeEnded, writeAllOut } from '../../shared/messages/queue/queue-store.ts';
import { CREDITS_PER_MESSAGE, creditsOf } from '../../shared/money/accounts/prices.ts';
import { applyCredits } from '../../shared/money/ledger/change.ts';
import { findCommitted, findEachCommitted } from '../../shared/platform/mongo/find-one.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { type BatchId, batchMessageRange, type MessageId } from '../../shared/platform/runtime/ids.ts';
import { makeReserved, type SplitDeps } from './split.ts';

export type StopDeps = SplitDeps & CancelDeps;

/** The ids of a group's messages are stored in the batch. */
const LISTED_MAX = 500;

/**
 * Stops a batch. Every step may be repeated.
 *
 * `reserved` no longer grows, so the entries after it never become messages: they are refunded together, once, under
 * the batch's id. Entries before it that are not messages yet are made into messages before any is cancelled: a frozen
 * worker that wakes finds them and makes none after their refund. Lines that only the queue has are written out, so
 * that from then on the messages decide. Those that wait are cancelled in groups: one update of the batch fixes a group
 * before it is cancelled, and one change refunds it. If a carrier's worker claims a message at the same moment, the
 * filters let only one of the two updates succeed.
 *
 * `found` may come from a primary that was replaced. Credits are given back only for a stop that is not undone.
 */
export async function stopBatch(deps: StopDeps, found: Pick<BatchDocument, '_id'>): Promise<void> {
  const { db, clock } = deps;
  const batch = await findCommitted(batchCollection(db), { _id: found._id, state: 'stopping' });
  if (batch === null) return;
  const { _id, account, path, lane, total, reserved, group: by, keys, credits } = batch;
  const never = total - reserved;
  const refundNever = async (amount: number): Promise<void> => {
    if (amount === 0) return;
    const credit = {
      id: refundId(_id),
      amount,
      reason: 'refund',
      reference: _id,
      ...(by === undefined ? {} : { paid: { by, keys } }),
    } as const;
    await applyCredits(db, account, [credit]);
  };
  if (credits === undefined) await refundNever(never * CREDITS_PER_MESSAGE);
  await makeReserved(deps, batch);
  await writeAllOut(db, clock.now(), { batch: _id });
  // With a price list, an entry's text decides its cost. All that became messages exist now: refunds the rest.
  if (credits !== undefined && never > 0) await refundNever(credits - (await costOfMade(db, _id)));
  const groups = await cancelWaiting(deps, batch);
  if (groups === undefined) return;
  // Documents that a new route table moved are not found here. Their messages are cancelled all the same.
  await removeEnded(
    db,
    { open: true, path, lane, account, batch: _id, written: true, 'claims.0': { $exists: false } },
    clock.now(),
  );
  await endStop(db, _id, groups, never + (await countCancelled(deps, batch)));
}

async function costOfMade(db: Db, batch: BatchId): Promise<number> {
  const made = db
    .collection<MessageDocument>('messages')
    .find({ _id: batchMessageRange(batch), batch })
    .project<Pick<MessageDocument, '_id' | 'credits'>>({ credits: 1 });
  let sum = 0;
  for await (const message of made) sum += creditsOf(message);
  return sum;
}

/** Cancels messages that came back from a carrier after the stop. Returns whether none can come back any more. */
export async function stopLeftovers(deps: StopDeps, found: BatchDocument): Promise<boolean> {
  const { db } = deps;
  // A group may be rolled back with its primary. The next would get the same number, and its refund the same id.
  const batch = found.stopGroup === undefined ? found : await findCommitted(batchCollection(db), { _id: found._id });
  if (batch === null) return false;
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

/** Cancels group by group. Returns the number of groups; undefined if the lease is lost or another worker decided. */
async function cancelWaiting(deps: StopDeps, batch: BatchDocument): Promise<number | undefined> {
  const { db, clock } = deps;
  const { _id, stopGroups = 0, stopGroup } = batch;
  // The worker that decided this group may have died before it finished.
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
 * Waiting messages that no carrier's worker ever claimed form one group: they are in their first version, to which no
 * message returns. Messages that were claimed and came back are named one by one.
 */
async function nextGroup(db: Db, batch: BatchId, at: Date): Promise<StopGroup | undefined> {
  const messages = db.collection<MessageDocument>('messages');
  // Not a message of which an earlier copy may have left: departures.ts refuses it when it is about to leave again.
  const filter = {
    _id: batchMessageRange(batch),
    batch,
    state: { $in: WAITING },
    earlier: { $exists: false },
    givenUp: { $exists: false },
  };
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

export interface CancelDeps {
  readonly db: Db;
  readonly announcer: Announcer;
  held(): boolean;
}

const WAITING = ['queued', 'waiting'] as const;
/** The most messages in one update, which takes the store some 15 ms while other commands wait. */
const SLICE_MAX = 500;

/**
 * Cancels the messages of the batch's stop group `number` in slices, then refunds them by one change. False when the
 * lease is lost; the next holder finishes the group.
 *
 * May be repeated, and two workers may do it at once: a message is cancelled only in the version in which it was found
 * waiting, and versions only rise. So after one run the set of messages with this refund's id is final, and every run
 * counts the same. Messages that left meanwhile are not in it. The id also keeps a worker that redoes its own work from
 * refunding them a second time.
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
 * The messages of `found` that carry the refund after this update. Some carried it before, and others have left since
 * they were read. `found` may come from a primary that was replaced, and the cancellation it shows may be undone: a
 * message found with the refund is cancelled again if it waits, and counts only if it has the refund on a majority.
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
