import type { Collection, Db } from 'mongodb';
import type { Announcer } from '../../events/webhooks/announce.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { findEachCommitted } from '../../platform/mongo/find-one.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';
import type { AnyMessage } from '../document/any-message.ts';
import { followUp } from './follow-up.ts';

/** The streams of one lease settle in parallel, each with its own intent. */
export const STREAMS = ['outcomes', 'receipts', 'unknowns', 'due', 'fallbacks'] as const;
export type Stream = (typeof STREAMS)[number];

/** The lease under which messages are settled. */
export interface Holder {
  readonly lease: string;
  readonly epoch: number;
}

/**
 * The messages of one group: those that a stream is about to settle, or has just settled. It is stored before the messages
 * change. If the process dies before their events and refunds are stored, the next holder of the lease finds the group here and
 * makes them (`redoIntents`). The stream's next group replaces it.
 */
export interface IntentDocument {
  /** `<lease>/<stream>` */
  readonly _id: string;
  readonly epoch: number;
  readonly messages: readonly MessageId[];
}

/** Another process holds the lease now, so this one must settle nothing more. */
export class LeaseLostError extends Error {
  readonly code = 'lease_lost';
}

/** Stores an intent. Throws `LeaseLostError` when a later holder has written to it. */
export async function writeIntent(
  db: Db,
  { lease, epoch }: Holder,
  stream: Stream,
  messages: readonly MessageId[],
): Promise<void> {
  await unlessLost(lease, () =>
    intentsOf(db).updateOne(
      { _id: intentId(lease, stream), epoch: { $lte: epoch } },
      { $set: { epoch, messages } },
      { upsert: true },
    ),
  );
}

/**
 * Writes the epoch into all intents of the lease. From then on an earlier holder can write none. Throws `LeaseLostError` like
 * `writeIntent`.
 */
export async function fenceIntents(db: Db, { lease, epoch }: Holder): Promise<void> {
  await unlessLost(lease, () =>
    intentsOf(db).bulkWrite(
      STREAMS.map((stream) => ({
        updateOne: {
          filter: { _id: intentId(lease, stream), epoch: { $lte: epoch } },
          update: { $set: { epoch }, $setOnInsert: { messages: [] } },
          upsert: true,
        },
      })),
    ),
  );
}

/** The messages of all intents of the lease. */
export async function readIntents(db: Db, lease: string): Promise<readonly MessageId[]> {
  const ids = STREAMS.map((stream) => intentId(lease, stream));
  const intents = await intentsOf(db)
    .find({ _id: { $in: ids } })
    .toArray();
  return intents.flatMap(({ messages }) => messages);
}

/**
 * A duplicate key usually means that the intent has a higher epoch: the filter did not match it, so the upsert tried to insert a
 * second document with its id. It may also mean that an earlier holder made the intent at the same moment: MongoDB repeats no upsert
 * that asks for more than equality (its manual: reference/method/db.collection.updateOne/, "Upsert with Duplicate Values"). So the
 * write is made twice: the second duplicate key can only mean the higher epoch.
 */
async function unlessLost(lease: string, write: () => Promise<unknown>): Promise<void> {
  const refused = async (): Promise<unknown> => {
    try {
      await write();
      return undefined;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return error;
    }
  };
  const cause = (await refused()) && (await refused());
  if (cause !== undefined) throw new LeaseLostError(`${lease} has another holder`, { cause });
}

function intentsOf(db: Db): Collection<IntentDocument> {
  return db.collection('intents');
}

function intentId(lease: string, stream: Stream): string {
  return `${lease}/${stream}`;
}

/**
 * An intent stays until its stream settles the next group, so an old one may name messages that were announced weeks ago. Their
 * deliveries may have been pruned by now (workers/maintenance/prune.ts); announcing them again would post them
 * again. The shortest retention of deliveries (`HARKARA_DELIVERY_DAYS`) is a day longer than this.
 */
const ANNOUNCED_WITHIN_MS = 20 * 86_400_000;

/** Events before this time are not announced again. */
export function oldestUnannounced(now: Date): Date {
  return new Date(now.getTime() - ANNOUNCED_WITHIN_MS);
}

/**
 * The first duty of every new lease holder. It fences off an earlier holder that may only be frozen. Then it repeats the
 * follow-up of groups that may be unfinished: events since `since` (`oldestUnannounced`), refunds of any age.
 */
export async function redoIntents(
  db: Db,
  announcer: Announcer,
  lease: string,
  epoch: number,
  since = new Date(0),
): Promise<void> {
  await fenceIntents(db, { lease, epoch });
  const ids = await readIntents(db, lease);
  if (ids.length === 0) return;
  // Credits are given back by what these documents say, and no failover may undo that: so they are read from a majority.
  const messages = await findEachCommitted(
    db.collection<AnyMessage>('messages'),
    [...new Set(ids)].map((_id) => ({ _id })),
  );
  const changes = messages.flatMap((message) => message.history.map((entry) => ({ message, entry })));
  await followUp({ db, announcer }, { fresh: [], again: changes.filter(({ entry }) => entry.at >= since) }, messages);
}
