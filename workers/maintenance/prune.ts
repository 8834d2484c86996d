import type { Db } from 'mongodb';
import { type DeliveryDocument, deliveriesOf } from '../../shared/events/webhooks/delivery.ts';
import type { QueueDocument } from '../../shared/messages/queue/queue-document.ts';
import { removeEnded } from '../../shared/messages/queue/queue-store.ts';
import type { ScheduleDocument } from '../../shared/messages/schedule.ts';
import { findShortRetentions } from '../../shared/money/accounts/store.ts';
import { type ConversationDocument, conversationCollection } from '../../shared/money/conversations/conversation.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { lowestId, testAccountOf } from '../../shared/platform/runtime/ids.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import { eraseClosed } from './close-accounts.ts';
import { batchTextWalk, batchWalk, forgottenChunkWalk, isRedoOpen, messageWalk, textWalk } from './prune-messages.ts';
import { along, idsOf, type PrunePace, type PruneWalk, pruneAlong, Rests, type StoreKind } from './prune-walk.ts';

/** How long ended things are kept, in days (HARKARA_MESSAGE_DAYS, HARKARA_DELIVERY_DAYS; batches 90). */
export interface Retention {
  /** Conversations are kept as long as messages. */
  readonly messages: number;
  /** HARKARA_TEXT_DAYS; as long as the messages if that is no less. */
  readonly texts: number;
  readonly deliveries: number;
  /** Schedules are kept as long as batches. */
  readonly batches: number;
  /** Closed accounts with everything that is theirs (HARKARA_CLOSED_ACCOUNT_DAYS). */
  readonly closedAccounts: number;
}

export interface PruneDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention: Retention;
  readonly store: StoreKind;
  held(): boolean;
  onRemoved(what: string, count: number): void;
}

const DAY_MS = 86_400_000;
/** Pauses between groups. With MongoDB a group mostly waits for the network and a majority of the members. */
const PAUSES: Readonly<Record<StoreKind, { readonly leastMs: number; readonly perWork: number }>> = {
  embedded: { leastMs: 50, perWork: 9 },
  mongodb: { leastMs: 5, perWork: 3 },
};
/** The most days from acceptance to a message's end: a week of validity, then receipts. */
const LATE_DAYS = 14;

/** Throws the driver's error; the next run continues. `lastRun`: when the last run that got to its end began. */
export async function pruneOld(deps: PruneDeps, lastRun?: Date): Promise<void> {
  const { db, clock, log, retention } = deps;
  const now = clock.now();
  const daysAgo = (days: number): Date => new Date(now.getTime() - days * DAY_MS);
  const messagesBefore = daysAgo(retention.messages);
  const batchesBefore = daysAgo(retention.batches);
  const textsBefore = daysAgo(retention.texts);
  // Texts leave their messages, so a run goes on where the last ended, less the time that a message may take.
  const textsFrom = lastRun && lowestId('msg', new Date(lastRun.getTime() - (retention.texts + LATE_DAYS) * DAY_MS));
  const pace = paceOf(deps);
  const walks: Walks = {
    deliveries: pruneAlong(deliveryWalk(db, daysAgo(retention.deliveries)), pace),
    batch_chunks: pruneAlong(forgottenChunkWalk(db, clock), pace),
    queue: pruneAlong(queueWalk(db, now), pace),
  };
  if (await isRedoOpen(db, now)) {
    log.warn('prune_waits', { reason: 'something that was begun long ago is not finished' });
  } else {
    walks.schedules = pruneAlong(scheduleWalk(db, batchesBefore), pace);
    walks.batches = pruneAlong(batchWalk(db, { messagesBefore, batchesBefore }, pace), pace);
    walks.messages = pruneAlong(messageWalk(db, messagesBefore), pace);
    walks.messages_of_accounts = pruneOwn(deps, batchesBefore, pace);
    if (retention.texts < retention.messages) walks.texts = pruneAlong(textWalk(db, textsBefore, textsFrom), pace);
    if (retention.texts < retention.batches) walks.batch_texts = pruneAlong(batchTextWalk(db, textsBefore), pace);
  }
  await takeTurns(deps, walks, pace);
}

async function* pruneOwn({ db, clock, retention }: PruneDeps, batchesBefore: Date, pace: PrunePace) {
  const now = clock.now().getTime();
  for (const { _id: account, messageDays = retention.messages } of await findShortRetentions(db, retention.messages)) {
    const messagesBefore = new Date(now - messageDays * DAY_MS);
    for (const one of [account, testAccountOf(account)]) {
      yield* pruneAlong(batchWalk(db, { messagesBefore, batchesBefore, account: one }, pace), pace);
      yield* pruneAlong(messageWalk(db, messagesBefore, one), pace);
    }
  }
}

export async function pruneClosed(deps: PruneDeps): Promise<void> {
  const { db, clock, retention } = deps;
  const before = new Date(clock.now().getTime() - retention.closedAccounts * DAY_MS);
  const pace = paceOf(deps);
  await takeTurns(deps, { closed_accounts: eraseClosed(db, clock, before, pace) }, pace);
}

/** Runs rarely and apart from the others, because it reads all conversations. */
export async function pruneConversations(deps: PruneDeps): Promise<void> {
  const { db, clock, retention } = deps;
  const now = clock.now();
  if (await isRedoOpen(db, now)) return;
  const before = new Date(now.getTime() - retention.messages * DAY_MS);
  const pace = paceOf(deps);
  await takeTurns(deps, { conversations: pruneAlong(conversationWalk(db, before), pace) }, pace);
}

type Walks = Record<string, ReturnType<typeof pruneAlong>>;

function paceOf({ clock, store, held }: PruneDeps): PrunePace {
  return { store, mayGoOn: held, rests: new Rests(clock, PAUSES[store]) };
}

/** Takes one group of each walk in turn, so that each advances even if every run ends early. */
async function takeTurns({ log, onRemoved }: PruneDeps, walks: Walks, pace: PrunePace): Promise<void> {
  const removed = new Map(Object.keys(walks).map((what) => [what, 0]));
  const open = new Map(Object.entries(walks));
  while (open.size > 0) {
    for (const [what, walk] of open) {
      const step = await walk.next();
      if (step.done) {
        open.delete(what);
        continue;
      }
      onRemoved(what, step.value);
      removed.set(what, (removed.get(what) ?? 0) + step.value);
      await pace.rests.pause();
    }
  }
  for (const [what, documents] of removed) if (documents > 0) log.info('pruned', { what, documents });
}

/**
 * Removes deliveries created before `before` that are neither due nor wait for a retry. Announcing an event again would
 * create its delivery again, but no intent is old enough for that (`oldestUnannounced`, settlement/intents.ts).
 */
function deliveryWalk(db: Db, before: Date): PruneWalk<Pick<DeliveryDocument, '_id'>> {
  const deliveries = deliveriesOf(db);
  const below = lowestId('evt', before);
  return {
    group: { embedded: 100, mongodb: 2_000 },
    // A delivery's id begins with its event's id.
    look: along(db, 'deliveries', { below }),
    remove: async (found) => {
      const { deletedCount } = await deliveries.deleteMany(
        {
          _id: idsOf(found),
          state: { $in: ['done', 'exhausted', 'discarded'] },
          // An event can be years younger than its message's id.
          createdAt: { $lt: before },
          $nor: [{ replayedAt: { $gte: before } }],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}

/** Removes schedules that were sent or refunded and whose time was before `before`, unless they still have a `due`. */
function scheduleWalk(db: Db, before: Date): PruneWalk<Pick<ScheduleDocument, '_id'>> {
  const schedules = db.collection<ScheduleDocument>('schedules');
  const below = lowestId('sch', before);
  return {
    group: { embedded: 100, mongodb: 2_000 },
    look: along(db, 'schedules', { below }),
    remove: async (found) => {
      const { deletedCount } = await schedules.deleteMany(
        {
          _id: idsOf(found),
          state: { $in: ['sent', 'cancelled'] },
          due: { $exists: false },
          at: { $lt: before },
          // Keeps schedules that were released late, because no worker ran at their time.
          $nor: [{ releasedAt: { $gte: before } }],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}

/** How long lines outlive their messages' validity: a carrier's worker may still have claimed one. */
const OVER_MS = 3_600_000;

/** Removes lines of expired messages. Usually a carrier's worker took the last line and removed the document. */
function queueWalk(db: Db, now: Date): PruneWalk<Pick<QueueDocument, '_id'>> {
  const before = new Date(now.getTime() - OVER_MS);
  const below = lowestId('que', before);
  return {
    group: { embedded: 50, mongodb: 1_000 },
    look: along(db, 'queue', { below }),
    remove: (found) => removeEnded(db, { _id: idsOf(found), until: { $lt: before }, writeAt: { $exists: false } }, now),
  };
}

/**
 * Removes what is stored of customers without an exchange since `before`. If such a customer writes again, it is like
 * the first time, as after any closed session. `before` must be earlier than the creation of every message that may
 * still wait in a conversation. Customers' ids do not sort by time, so this walks all of them.
 */
function conversationWalk(db: Db, before: Date): PruneWalk<Pick<ConversationDocument, '_id'>> {
  const conversations = conversationCollection(db);
  const since = lowestId('cnv', before);
  return {
    group: { embedded: 100, mongodb: 2_000 },
    look: along(db, 'conversations', {}),
    remove: async (found) => {
      const { deletedCount } = await conversations.deleteMany(
        {
          _id: idsOf(found),
          // A customer's request for no more marketing stands, like an opt-out.
          'marketing.stopped': { $ne: true },
          // At least one exists: a document with none was just created for an opening (money/conversations/pay.ts).
          $or: [
            { lastInboundAt: { $lt: before } },
            { 'current.until': { $lt: before } },
            { refunded: { $lt: since } },
            { linkedAt: { $lt: before } },
          ],
          $nor: [
            { lastInboundAt: { $gte: before } },
            { 'current.until': { $gte: before } },
            { refunded: { $gte: since } },
            { linkedAt: { $gte: before } },
          ],
        },
        { hint: { _id: 1 } },
      );
      return deletedCount;
    },
  };
}
