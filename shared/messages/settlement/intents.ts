import type { Collection, Db } from 'mongodb';
import type { StateChange } from '../../events/catalogue.ts';
import type { Announcer } from '../../events/webhooks/announce.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { findEachCommitted } from '../../platform/mongo/find-one.ts';
import { systemClock } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';
import { refundByChannel } from '../channels/channels.ts';
import type { AnyMessage } from '../document/any-message.ts';
import type { HistoryEntry, MessageDocument } from '../document/message.ts';
import { requeue } from '../queue/queue-store.ts';

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

export interface FollowUpDeps {
  readonly db: Db;
  readonly announcer: Announcer;
}

/** A message that was written, with its new history entries. */
export interface Written {
  readonly message: AnyMessage;
  readonly entries: readonly HistoryEntry[];
  /** Whether this was learned by reading: then it may have been written, and told, before. */
  readonly again: boolean;
}

/** What is to be announced: changes that were surely never announced, and others. */
interface Told {
  readonly fresh: readonly StateChange[];
  readonly again: readonly StateChange[];
}

/**
 * Least time from the start of one follow-up to the start of the next, while fewer messages wait for it than this. All events for one
 * endpoint that it has are one document, which is written twice: so the longer this is, the fewer. Nobody waits for a follow-up but
 * the receiver of the webhook.
 */
const GAP_MS = 60;
const WAITING_MAX = 200;

/**
 * The follow-up of the groups of one stream: one at a time, in their order, beside the changes of the next groups. A follow-up that
 * fails is repeated before the next change. Until it is done its messages are `open`: every new intent must name them too.
 */
export class FollowUps {
  readonly #deps: FollowUpDeps;
  #due: readonly Written[] = [];
  #beganMs = Number.NEGATIVE_INFINITY;
  /** What is due should have been done before: it failed, or nobody knew of it. */
  #late = false;
  /** Until the gap is over. */
  #timer: NodeJS.Timeout | undefined;
  /** The first of `due` that a follow-up has begun with. A repeat has the same ones: they are announced in groups. */
  #begun: (Told & { readonly count: number }) | undefined;
  #inProgress: Promise<void> | undefined;

  constructor(deps: FollowUpDeps) {
    this.#deps = deps;
  }

  get open(): readonly MessageId[] {
    return this.#due.map(({ message }) => message._id);
  }

  /** `late`: they were written some time ago. */
  add(written: readonly Written[], late = false): void {
    this.#due = [...this.#due, ...written];
    if (written.length > 0 && late) this.#late = true;
  }

  /** Waits for the follow-up in progress; then the next has all that is due, and begins when the gap is over. Never throws. */
  async next(): Promise<void> {
    await this.#inProgress?.catch(() => undefined);
    const waitMs = this.#beganMs + GAP_MS - systemClock.monotonicMs();
    if (waitMs <= 0 || this.#due.length >= WAITING_MAX)
      this.#begin().catch(() => undefined); // `repeat` throws the error.
    else this.#timer ??= setTimeout(() => this.#begin().catch(() => undefined), waitMs);
  }

  /** Does what is late, unless a follow-up is in progress. Throws when it fails again. */
  async repeat(): Promise<void> {
    if (this.#late && this.#inProgress === undefined) await this.#begin();
  }

  /** Resolves when all is done. Throws when a follow-up fails. */
  async finish(): Promise<void> {
    await this.#inProgress;
    await this.#begin();
  }

  /** The follow-up in progress, or a new one. */
  #begin(): Promise<void> {
    if (this.#inProgress !== undefined) return this.#inProgress;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#due.length > 0) this.#beganMs = systemClock.monotonicMs();
    this.#late = true;
    this.#inProgress = this.#doDue().finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  }

  async #doDue(): Promise<void> {
    for (let left = this.#due.length; left > 0; ) {
      const due = this.#due.slice(0, this.#begun?.count ?? left);
      this.#begun ??= {
        count: left,
        fresh: due.filter(({ again }) => !again).flatMap(changesOf),
        again: due.filter(({ again }) => again).flatMap(changesOf),
      };
      const messages = due.map(({ message }) => message);
      await followUp(this.#deps, this.#begun, messages);
      this.#begun = undefined;
      this.#due = this.#due.slice(due.length);
      left -= due.length;
    }
    this.#late = false;
  }
}

function changesOf({ message, entries }: Written): readonly StateChange[] {
  return entries.map((entry) => ({ message, entry }));
}

/** Follow-up of written changes: their events, then the lines of `messages` that wait again, then refunds. May be repeated. */
async function followUp(
  { db, announcer }: FollowUpDeps,
  { fresh, again }: Told,
  messages: readonly AnyMessage[],
): Promise<void> {
  if (again.length > 0) await announcer.announce(again, 'again');
  if (fresh.length > 0) await announcer.announce(fresh, 'grouped');
  crashPoint('settle:announced');
  await requeue(db, messages.filter(waitsAgain));
  await refundByChannel(db, messages);
}

function waitsAgain(message: AnyMessage): message is MessageDocument {
  return message.channel === 'sms' && message.state === 'queued';
}
