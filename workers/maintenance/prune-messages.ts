import type { Db, Filter } from 'mongodb';
import {
  type BatchChunkDocument,
  type BatchDocument,
  batchCollection,
  chunkCollection,
  countBatch,
  findUncounted,
  keepCounts,
  removeChunks,
} from '../../shared/messages/batch.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { CONTENT_TEXTS } from '../../shared/messages/document/chat-message.ts';
import type { MessageDocument, MessageState } from '../../shared/messages/document/message.ts';
import { STATES } from '../../shared/messages/document/status.ts';
import type { ScheduleDocument } from '../../shared/messages/schedule.ts';
import type { IntentDocument } from '../../shared/messages/settlement/intents.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { declareOver } from '../../shared/money/payment/debit.ts';
import { readPaid } from '../../shared/money/payment/pending.ts';
import { findCommitted, findEachCommitted } from '../../shared/platform/mongo/find-one.ts';
import { SHOWN_BATCHES } from '../../shared/platform/mongo/indexes.ts';
import { msOf, NOW_MS } from '../../shared/platform/mongo/store-time.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import {
  type AccountId,
  type BatchId,
  batchMessageRange,
  isBatchId,
  lowestId,
  type MessageId,
} from '../../shared/platform/runtime/ids.ts';
import { along, idsOf, type PrunePace, type PruneWalk } from './prune-walk.ts';

const FINAL = (Object.keys(STATES) as MessageState[]).filter((state) => STATES[state].final); // its keys are the states

/**
 * Messages that ended before `before`: nothing can happen to them any more. The last change counts too, because a
 * message that was stored late (a schedule that nobody released for a month) or got a late receipt has an old id.
 */
function endedBefore(before: Date): Filter<AnyMessage> {
  return {
    $or: [{ state: { $in: FINAL } }, { state: 'sent', closedReason: { $exists: true } }],
    due: { $exists: false },
    'fallback.due': { $exists: false },
    'history.at': { $not: { $gte: before } },
  };
}

type Found = Pick<MessageDocument, '_id' | 'batch'>;

/**
 * Removes messages that ended before `before`, not those of a batch without stored counts (`batchWalk`), nor those that
 * an intent names: the next holder of that lease checks them. The ledger and conversations refer to messages but do not
 * read them. A receipt for a removed message becomes an orphan and expires. `account`: only this one's.
 */
export function messageWalk(db: Db, before: Date, account?: AccountId): PruneWalk<Found> {
  const messages = db.collection<AnyMessage>('messages');
  const below = lowestId('msg', before);
  const own = account === undefined ? {} : { account };
  return {
    group: { embedded: 50, mongodb: 1_000 },
    look: along(db, 'messages', { below, where: own, fields: { batch: 1 } }),
    remove: async (found) => {
      const range = idsOf(found);
      const batches = [...new Set(found.flatMap(({ batch }) => batch ?? []))];
      const uncounted = await findUncounted(db, batches);
      const kept = await intendedAmong(
        db,
        found.map(({ _id }) => _id),
      );
      const { deletedCount } = await messages.deleteMany(
        {
          ...endedBefore(before),
          ...own,
          _id: kept.length === 0 ? range : { ...range, $nin: kept },
          ...(uncounted.length === 0 ? {} : { batch: { $nin: uncounted } }),
        },
        { hint: account === undefined ? { _id: 1 } : 'account' },
      );
      return deletedCount;
    },
  };
}

/** The messages that an intent names: a redo may still read them. An idle lease's intent can be very old. */
async function intendedAmong(db: Db, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
  const intents = await db
    .collection<IntentDocument>('intents')
    .find({ messages: { $in: ids } }, { projection: { messages: 1 } })
    .toArray();
  const intended = new Set(intents.flatMap(({ messages }) => messages));
  return ids.filter((id) => intended.has(id));
}

/** Unfinished work older than this is stuck: it is redone within minutes (finish-pending.ts, schedules/release.ts). */
const REDONE_MS = 24 * 3_600_000;

/** Redoing work that was begun long ago inserts missing messages and schedules: none may be removed before. */
export async function isRedoOpen(db: Db, now: Date): Promise<boolean> {
  const begun = { $lte: new Date(now.getTime() - REDONE_MS) };
  const [account, schedule] = await Promise.all([
    db.collection<AccountDocument>('accounts').findOne({ pendingAt: begun }, { projection: { _id: 1 } }),
    db.collection<ScheduleDocument>('schedules').findOne({ due: begun, state: 'sending' }, { projection: { _id: 1 } }),
  ]);
  return account !== null || schedule !== null;
}

/** Everything that holds a message's words. A received message's type stays, and a template's name. */
const TEXTS = ['text', 'inbound.body', 'inbound.more', ...CONTENT_TEXTS, 'fallback.sms.text'];
const UNSET = Object.fromEntries(TEXTS.map((name) => [name, '' as const]));
const ANY = TEXTS.map((name) => ({ [name]: { $exists: true } }));

/**
 * Removes texts of messages that ended before `before` and stay longer (`HARKARA_TEXT_DAYS`). Versions stay: nothing is
 * decided by an ended message's text. `from`: where this walk begins; older messages were walked before.
 */
export function textWalk(db: Db, before: Date, from: MessageId | undefined): PruneWalk<Pick<MessageDocument, '_id'>> {
  const messages = db.collection<AnyMessage>('messages');
  const below = lowestId('msg', before);
  return {
    group: { embedded: 50, mongodb: 1_000 },
    look: along(db, 'messages', { from, below }),
    remove: async (found) => {
      const { modifiedCount } = await messages.updateMany(
        { $and: [endedBefore(before), { $or: ANY }], _id: idsOf(found) },
        { $unset: UNSET },
      );
      return modifiedCount;
    },
  };
}

/** A batch's text is that of all its messages. Nobody reads it once every entry is a message. */
export function batchTextWalk(db: Db, before: Date): PruneWalk<Pick<BatchDocument, '_id'>> {
  const batches = batchCollection(db);
  const below = lowestId('bat', before);
  return {
    group: { embedded: 50, mongodb: 1_000 },
    look: along(db, 'batches', { below }),
    remove: async (found) => {
      const { modifiedCount } = await batches.updateMany(
        {
          ...{ _id: idsOf(found), state: { $in: ['split', 'stopped'] }, open: { $exists: false } },
          $or: [{ 'content.text': { $exists: true } }, { 'content.params': { $exists: true } }],
        },
        { $unset: { 'content.text': '', 'content.params': '' } },
      );
      return modifiedCount;
    },
  };
}

type FoundBatch = Pick<BatchDocument, '_id' | 'state' | 'open' | 'counts' | 'validUntil'>;

export interface OldBatches {
  /** Messages that ended before this may be removed, once their batch has stored its counts. */
  readonly messagesBefore: Date;
  /** Batches whose validity ended before this may be removed, once all their messages are removed. */
  readonly batchesBefore: Date;
  readonly account?: AccountId;
}

/**
 * Stores the final counts in batches whose messages have all ended: `messageWalk` may then remove the messages, and
 * `GET /v2/batches/{id}` shows the same. Also removes ended batches. The ledger keeps their refunds.
 */
export function batchWalk(
  db: Db,
  { messagesBefore, batchesBefore, account }: OldBatches,
  pace: PrunePace,
): PruneWalk<FoundBatch> {
  const batches = batchCollection(db);
  const below = lowestId('bat', messagesBefore > batchesBefore ? messagesBefore : batchesBefore);
  const where = account === undefined ? {} : { account, ...SHOWN_BATCHES };
  return {
    // Small groups: each batch needs its own commands and a pause.
    group: { embedded: 50, mongodb: 50 },
    look: along(db, 'batches', { below, where, fields: { state: 1, open: 1, counts: 1, validUntil: 1 } }),
    remove: async (found) => {
      let removed = 0;
      for (const { _id, state, open, counts, validUntil } of found) {
        if (open || (state !== 'split' && state !== 'stopped')) continue;
        if (counts !== undefined && validUntil >= batchesBefore) continue;
        if (!pace.mayGoOn()) break;
        if (counts === undefined) await count(db, _id, messagesBefore);
        else if (!(await hasMessages(db, _id))) {
          removed += (await batches.deleteOne({ _id, state, open: { $exists: false } })).deletedCount;
        }
        await pace.rests.pause();
      }
      return removed;
    },
  };
}

/** Idempotent. A batch that has changed since it was read is left alone (`keepCounts`). */
async function count(db: Db, id: BatchId, before: Date): Promise<void> {
  const messages = db.collection<AnyMessage>('messages');
  const alive = await messages.findOne(
    { _id: batchMessageRange(id), batch: id, $nor: [endedBefore(before)] },
    { projection: { _id: 1 } },
  );
  if (alive !== null) return;
  const batch = await batchCollection(db).findOne({ _id: id });
  if (batch === null) return;
  const counts = await countBatch(db, batch);
  // If some are still queued, an entry has no message yet, so its end is unknown.
  if (counts.queued === 0) await keepCounts(db, id, counts);
}

async function hasMessages(db: Db, id: BatchId): Promise<boolean> {
  const message = await db
    .collection<AnyMessage>('messages')
    .findOne({ _id: batchMessageRange(id), batch: id }, { projection: { _id: 1 } });
  return message !== null;
}

const BATCHES_MAX = 100;
/** Recipients without a batch that are younger than this stay. */
const FORGOTTEN_MS = 3_600_000;

/**
 * Removes batches that were never paid for and never will be, with their recipients: their gateway died before the
 * debit, or did not learn its outcome. The store's clock decides that the time to pay is over, and the account
 * remembers it (shared/money/payment/debit.ts), so machines' clocks do not matter. A batch whose debit is pending is
 * left to finish-pending.ts. Returns how many it looked at.
 */
export async function pruneUnpaid(db: Db): Promise<number> {
  const batches = batchCollection(db);
  const found = await batches
    .find(
      {
        state: 'unpaid',
        // Matches every account: without a condition on the first field of the hinted index, MongoDB logs a warning.
        account: { $gt: 'acc_' },
        unpaid: { $exists: true },
        $expr: { $lte: [msOf('$unpaid.payBy'), NOW_MS] },
      },
      { projection: { account: 1, unpaid: 1 }, hint: 'unpaid' },
    )
    .limit(BATCHES_MAX)
    .toArray();
  for (const { _id, account, unpaid: order } of found) {
    // From here on a delayed debit is refused, even by a server whose clock is behind.
    if (order !== undefined && !(await declareOver(db, account, order.payBy))) continue;
    const pending = [...(await readPaid(db, account, findCommitted)).values()];
    if (pending.some(({ batch, schedules }) => batch === _id || schedules.some((one) => one.batch === _id))) continue;
    // The batch may have been marked as paid since it was read, and its pending change cleared. Then it stays.
    const unpaid = await findCommitted(batches, { _id, state: 'unpaid' }, { _id: 1 });
    if (unpaid === null) continue;
    await removeChunks(db, _id);
    await batches.deleteOne({ _id, state: 'unpaid' });
  }
  return found.length;
}

type FoundChunk = Pick<BatchChunkDocument, '_id'>;

/**
 * Removes recipients without a batch: they remain when a gateway freezes while storing them, wakes after the batch was
 * removed, writes the rest and dies. A batch is stored before its recipients and removed after them, so such recipients
 * never get a batch. Those of the last hour stay, and a batch that a read does not show is asked for again: the read
 * may come from a primary that was replaced.
 */
export function forgottenChunkWalk(db: Db, clock: Clock): PruneWalk<FoundChunk> {
  const chunks = chunkCollection(db);
  const below = `${lowestId('bat', new Date(clock.now().getTime() - FORGOTTEN_MS))}:`;
  return {
    // A chunk has up to 0.5 MB.
    group: { embedded: 20, mongodb: 20 },
    look: along(db, 'batch_chunks', { below }),
    remove: async (found) => {
      const ids = [...new Set(found.map(({ _id }) => batchOf(_id)))];
      const there = await batchCollection(db)
        .find({ _id: { $in: ids } }, { projection: { _id: 1 } })
        .toArray();
      const seen = new Set(there.map(({ _id }) => _id));
      const unseen = ids.filter((id) => !seen.has(id)).map((_id) => ({ _id }));
      const known = new Set([...seen, ...(await findEachCommitted(batchCollection(db), unseen)).map(({ _id }) => _id)]);
      const forgotten = found.map(({ _id }) => _id).filter((id) => !known.has(batchOf(id)));
      if (forgotten.length === 0) return 0;
      return (await chunks.deleteMany({ _id: { $in: forgotten } })).deletedCount;
    },
  };
}

function batchOf(chunk: BatchChunkDocument['_id']): BatchId {
  const [id = ''] = chunk.split(':');
  if (!isBatchId(id)) throw new Error('a chunk is named after its batch');
  return id;
}
