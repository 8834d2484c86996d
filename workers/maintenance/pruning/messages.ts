import type { Db, Filter } from 'mongodb';
import { type BatchDocument, batchCollection, findUncounted } from '../../../shared/messages/batch.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { CONTENT_TEXTS } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument, MessageState } from '../../../shared/messages/document/message.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import type { ScheduleDocument } from '../../../shared/messages/schedule.ts';
import type { IntentDocument } from '../../../shared/messages/settlement/intents.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { type AccountId, lowestId, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { along, idsOf, type PruneWalk } from './walk.ts';

const FINAL = (Object.keys(STATES) as MessageState[]).filter((state) => STATES[state].final); // its keys are the states

/**
 * Messages that ended before `before`, so that nothing can happen to them any more. The filter uses the last change
 * and not only the id. A message that was stored late (from a schedule that nobody released for a month) or just
 * changed by a late receipt has an old id.
 */
export function endedBefore(before: Date): Filter<AnyMessage> {
  return {
    $or: [{ state: { $in: FINAL } }, { state: 'sent', closedReason: { $exists: true } }],
    due: { $exists: false },
    'fallback.due': { $exists: false },
    'history.at': { $not: { $gte: before } },
  };
}

type Found = Pick<MessageDocument, '_id' | 'batch'>;

/**
 * Removes messages that ended before `before`. Messages of a batch stay until the batch has stored its counts
 * (workers/maintenance/pruning/batches.ts). Messages that an intent names stay too: the next holder of that lease
 * checks whether something is still to be done for them. The ledger and conversations refer to messages but do not read them. A
 * receipt for a removed message becomes an orphan and expires. With `account`: of this one alone.
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

/**
 * Which of these messages an intent names: a redo may still read them. Only the next group of its stream replaces an intent, so that
 * of an idle lease can be very old. Asked for each group of the walk, because a walk can last for hours.
 */
async function intendedAmong(db: Db, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
  const intents = await db
    .collection<IntentDocument>('intents')
    .find({ messages: { $in: ids } }, { projection: { messages: 1 } })
    .toArray();
  const intended = new Set(intents.flatMap(({ messages }) => messages));
  return ids.filter((id) => intended.has(id));
}

/**
 * Unfinished work that is older counts as stuck. While workers run, it is redone within minutes (finish-pending.ts,
 * workers/schedules/release.ts).
 */
const REDONE_MS = 24 * 3_600_000;

/**
 * Whether work that was begun long ago is still unfinished. Redoing it inserts messages and schedules that are
 * missing, so none may be removed before it is done.
 */
export async function isRedoOpen(db: Db, now: Date): Promise<boolean> {
  const begun = { $lte: new Date(now.getTime() - REDONE_MS) };
  const [account, schedule] = await Promise.all([
    db.collection<AccountDocument>('accounts').findOne({ pendingAt: begun }, { projection: { _id: 1 } }),
    db.collection<ScheduleDocument>('schedules').findOne({ due: begun, state: 'sending' }, { projection: { _id: 1 } }),
  ]);
  return account !== null || schedule !== null;
}

/** Everything of a message that says what it said. Of a received one the type stays, of a template its name. */
const TEXTS = ['text', 'inbound.body', 'inbound.more', ...CONTENT_TEXTS, 'fallback.sms.text'];
const UNSET = Object.fromEntries(TEXTS.map((name) => [name, '' as const]));
const ANY = TEXTS.map((name) => ({ [name]: { $exists: true } }));

/**
 * Removes the texts of messages that ended before `before` and stay longer (`HARKARA_TEXT_DAYS`). The version of a message stays: nothing is
 * decided by its text once it has ended. `from`: where this walk begins; what is older was walked before.
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

/** The same of batches: the text of all their messages. Nobody reads it once every entry is a message. */
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
