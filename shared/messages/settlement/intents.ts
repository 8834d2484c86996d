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
import { isCarried } from '../document/channel.ts';
import type { HistoryEntry, MessageDocument } from '../document/message.ts';
import { requeue } from '../queue/queue-store.ts';

/** The streams of one lease settle in parallel, each with its own intent. */
export const STREAMS = ['outcomes', 'receipts', 'unknowns', 'due', 'fallbacks'] as const;
export type Stream = (typeof STREAMS)[number];

export interface Holder {
  readonly lease: string;
  readonly epoch: number;
}

/**
 * The messages that a stream is about to settle, or has just settled. Stored before they change: if the process dies
 * before their events and refunds are stored, the next holder of the lease makes them (`redoIntents`). The stream's
 * next group replaces it.
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

/** Throws `LeaseLostError` when a later holder has written to the intent. */
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

/** From then on an earlier holder can write no intent of the lease. Throws as `writeIntent` does. */
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

export async function readIntents(db: Db, lease: string): Promise<readonly MessageId[]> {
  const ids = STREAMS.map((stream) => intentId(lease, stream));
  const intents = await intentsOf(db)
    .find({ _id: { $in: ids } })
    .toArray();
  return intents.flatMap(({ messages }) => messages);
}

/**
 * A duplicate key usually means that the intent has a higher epoch: the filter did not match, so the upsert tried to
 * insert. But an earlier holder may have made the intent at the same moment: MongoDB repeats no upsert that asks for
 * more than equality (its manual: reference/method/db.collection.updateOne/, "Upsert with Duplicate Values"). So the
 * write is made twice: a second duplicate key can only mean the higher epoch.
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
 * An intent stays until its stream settles the next group, so an old one may name messages that were announced weeks
 * ago. If their deliveries were pruned since (workers/maintenance/prune.ts), announcing would post them again.
 * Deliveries are kept (`HARKARA_DELIVERY_DAYS`) a day longer than this, at least.
 */
const ANNOUNCED_WITHIN_MS = 20 * 86_400_000;

export function oldestUnannounced(now: Date): Date {
  return new Date(now.getTime() - ANNOUNCED_WITHIN_MS);
}

/**
 * The first duty of a new lease holder. Fences off an earlier holder that may only be frozen, then repeats the
 * follow-up of groups that may be unfinished: events from `since` on, refunds of any age.
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
  // Credits are given back by these documents, and no failover may undo that: so they are read from a majority.
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

export interface Written {
  readonly message: AnyMessage;
  readonly entries: readonly HistoryEntry[];
  /** Learned by reading: so it may have been written, and told, before. */
  readonly again: boolean;
}

interface Told {
  readonly fresh: readonly StateChange[];
  readonly again: readonly StateChange[];
}

/**
 * Least time between the starts of two follow-ups, while fewer messages than `WAITING_MAX` wait. All events of a
 * follow-up for one endpoint are one document, so a longer gap means fewer. Only receivers of webhooks wait for it.
 */
const GAP_MS = 60;
const WAITING_MAX = 200;

/**
 * The follow-up of one stream's groups: one at a time, in order, beside the changes of the next groups. One that fails
 * is repeated before the next change. Until it is done its messages are `open`: every new intent must name them too.
 */
export class FollowUps {
  readonly #deps: FollowUpDeps;
  #due: readonly Written[] = [];
  #beganMs = Number.NEGATIVE_INFINITY;
  /** Whether a due follow-up has failed before, or its messages were written some time ago. */
  #late = false;
  #timer: NodeJS.Timeout | undefined;
  /** The group that a follow-up has begun with: a repeat must announce the same group. */
  #begun: (Told & { readonly count: number }) | undefined;
  #inProgress: Promise<void> | undefined;

  constructor(deps: FollowUpDeps) {
    this.#deps = deps;
  }

  get open(): readonly MessageId[] {
    return this.#due.map(({ message }) => message._id);
  }

  add(written: readonly Written[], late = false): void {
    this.#due = [...this.#due, ...written];
    if (written.length > 0 && late) this.#late = true;
  }

  /** Waits for the follow-up in progress; the next takes all that is due, when the gap is over. Never throws. */
  async next(): Promise<void> {
    await this.#inProgress?.catch(() => undefined);
    const waitMs = this.#beganMs + GAP_MS - systemClock.monotonicMs();
    if (waitMs <= 0 || this.#due.length >= WAITING_MAX)
      this.#begin().catch(() => undefined); // `repeat` throws the error
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

/** Events, then lines for messages that wait again, then refunds. May be repeated. */
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
  return isCarried(message.channel) && message.state === 'queued';
}
