import type { Collection, Db } from 'mongodb';
import { refundByChannel } from '../channels/channels.ts';
import type { StateChange } from '../events/bodies.ts';
import type { AnyMessage } from '../messages/any-message.ts';
import { applyChange, type Change, changeUpdate } from '../messages/change.ts';
import type { HistoryEntry } from '../messages/message.ts';
import { STATES } from '../messages/status.ts';
import { isDuplicateKey } from '../mongo/errors.ts';
import { updateEach } from '../mongo/update-each.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import type { MessageId } from '../runtime/ids.ts';
import type { Announcer } from '../webhooks/announce.ts';

/**
 * A settle is one decision about a message and what follows from it: its events (deliveries to webhooks) and, where it ended
 * without having left, its refund. Many at once: announced in one intent document, written in one bulk, followed up by one
 * insert. Whoever dies between two of these steps: the next holder of the lease finds the intent and does them again, which
 * writes the same.
 */
export interface SettleItem<M extends AnyMessage> {
  /** As it was read, or as the claimer knows it; may be out of date. */
  readonly message: M;
  /** Undefined: nothing to change. Asked again, with the stored document, when the message has changed since it was read. */
  decide(message: M): Change | undefined;
}

export interface SettlerOptions {
  readonly db: Db;
  readonly announcer: Announcer;
  /** The lease under which it settles. */
  readonly lease: string;
  readonly epoch: number;
  /** Streams of one lease settle side by side, each with an intent of its own. */
  readonly stream: Stream;
}

export const STREAMS = ['outcomes', 'receipts', 'unknowns', 'due'] as const;
export type Stream = (typeof STREAMS)[number];

/** What a stream is about to settle, or just has: overwritten by its next group. */
export interface IntentDocument {
  readonly _id: string;
  readonly epoch: number;
  readonly messages: readonly MessageId[];
}

/** Another process holds the lease now: this one must not settle any more. */
export class LeaseLostError extends Error {
  readonly code = 'lease_lost';
}

interface Decided<M extends AnyMessage> {
  readonly message: M;
  readonly change: Change;
  /** The message as the change leaves it. */
  readonly after: M;
}

/** A message that was written, with what was added to its history. */
interface Written {
  readonly message: AnyMessage;
  readonly entries: readonly HistoryEntry[];
}

/** A message that was perhaps written, and the states that it then reached. */
interface Uncertain {
  readonly message: MessageId;
  readonly states: readonly HistoryEntry['state'][];
}

/** Rounds in which some message changed between read and write. */
const MAX_ROUNDS = 5;

export class Settler {
  readonly #options: SettlerOptions;
  readonly #messages: Collection<AnyMessage>;
  readonly #intents: Collection<IntentDocument>;
  /** Follow-up of an earlier group that failed: first of all it is done again. */
  #owed: readonly Written[] = [];
  /** An earlier group whose answer was lost: what was written of it is found out first of all, and owed. */
  #uncertain: readonly Uncertain[] = [];

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
    this.#intents = options.db.collection('intents');
  }

  /**
   * Settles one group; returns, in the items' order, the messages as they are stored now, undefined where nothing was to be changed. One
   * group at a time. Throws the driver's error when the store fails: then the same group is to be settled again, or, if nobody
   * does, its next reader decides anew; what follows from what was written all the same, the next call does (`payOwed`). Throws
   * `LeaseLostError` when another holder was here.
   */
  async settle<M extends AnyMessage>(items: readonly SettleItem<M>[]): Promise<(M | undefined)[]> {
    await this.payOwed();
    const settled = new Array<M | undefined>(items.length).fill(undefined);
    const follow: Written[] = [];
    let open = items.map((item, index) => ({ item, index, message: item.message }));
    let announced = false;
    try {
      for (let round = 0; open.length > 0; round++) {
        if (round === MAX_ROUNDS) throw new Error('messages changed faster than they could be settled');
        const decided = open.flatMap((entry) => {
          const change = entry.item.decide(entry.message);
          return change === undefined ? [] : [{ ...entry, change, after: applyChange(entry.message, change) }];
        });
        if (decided.length === 0) break;
        if (!announced && decided.some(hasFollowUp)) {
          await this.#intend(items.map((item) => item.message._id));
          crashPoint('settle:intended');
          announced = true;
        }
        const stored = await this.#write<M>(decided);
        open = [];
        for (const entry of decided) {
          const fresh = stored?.get(entry.message._id);
          if (stored === undefined || (fresh !== undefined && isAsDecided(fresh, entry.after))) {
            settled[entry.index] = entry.after;
            if (hasFollowUp(entry)) follow.push({ message: entry.after, entries: entry.change.entries ?? [] });
          } else if (fresh !== undefined) {
            open.push({ item: entry.item, index: entry.index, message: fresh });
          }
        }
      }
    } finally {
      // Also when a later round failed.
      this.#owed = follow;
    }
    if (follow.length > 0) crashPoint('settle:updated');
    await this.payOwed();
    return settled;
  }

  /** Does again what failed after an earlier group, if anything did. May be called at any time. */
  async payOwed(): Promise<void> {
    await this.#lookAgain();
    const owed = this.#owed;
    if (owed.length === 0) return;
    const changes = owed.flatMap(({ message, entries }) => entries.map((entry) => ({ message, entry })));
    await followUp(
      this.#options,
      changes,
      owed.map(({ message }) => message),
    );
    if (this.#owed === owed) this.#owed = [];
  }

  /** Undefined: all were written. Else the messages as they are stored, for each to be compared with what was decided. */
  async #write<M extends AnyMessage>(decided: readonly Decided<M>[]): Promise<Map<MessageId, M> | undefined> {
    try {
      const updates = decided.map(({ message, change }) => changeUpdate(message, change));
      const matched = await updateEach(this.#options.db, 'messages', updates);
      return matched === decided.length ? undefined : await this.#read<M>(decided.map(({ message }) => message._id));
    } catch (error) {
      this.#uncertain = decided.filter(hasFollowUp).map(({ message, change: { entries = [] } }) => ({
        message: message._id,
        states: entries.map(({ state }) => state),
      }));
      throw error;
    }
  }

  /**
   * Perhaps the store did what it never answered. Nobody else would follow that up: who settles the group again may find nothing
   * left to change, and the next group overwrites the intent.
   */
  async #lookAgain(): Promise<void> {
    const uncertain = this.#uncertain;
    if (uncertain.length === 0) return;
    const stored = await this.#read(uncertain.map(({ message }) => message));
    const written = uncertain.flatMap(({ message: id, states }) => {
      const message = stored.get(id);
      return message === undefined
        ? []
        : [{ message, entries: message.history.filter(({ state }) => states.includes(state)) }];
    });
    this.#owed = [...this.#owed, ...written];
    if (this.#uncertain === uncertain) this.#uncertain = [];
  }

  async #intend(messages: readonly MessageId[]): Promise<void> {
    const { lease, epoch, stream } = this.#options;
    try {
      await this.#intents.updateOne(
        { _id: intentId(lease, stream), epoch: { $lte: epoch } },
        { $set: { epoch, messages } },
        { upsert: true },
      );
    } catch (error) {
      // A higher epoch is there: the upsert then tried to insert beside it.
      if (isDuplicateKey(error)) throw new LeaseLostError(`${lease} has another holder`, { cause: error });
      throw error;
    }
  }

  async #read<M extends AnyMessage>(ids: readonly MessageId[]): Promise<Map<MessageId, M>> {
    const stored = await this.#messages.find({ _id: { $in: [...ids] } }).toArray();
    return new Map(stored.map((message) => [message._id, message as M])); // a message never changes its channel
  }
}

/**
 * An intent stays until the next group of its lease. What it names and is older was announced, or nobody held the lease for
 * weeks; its deliveries may be removed by now (workers/maintenance/pruning/deliveries.ts), and to announce it again would post it again. The shortest
 * retention of deliveries (`DELIVERY_DAYS`) is a day longer.
 */
const OWED_MS = 20 * 86_400_000;

/** Events before this time are not announced again. */
export function oldestOwed(now: Date): Date {
  return new Date(now.getTime() - OWED_MS);
}

/**
 * What every holder of a lease does first: it puts its epoch into the intents, so that an earlier holder that only slept
 * announces nothing any more, then does the follow-up of groups that were left half done: events since `since`
 * (`oldestOwed`), refunds whatever their age.
 */
export async function redoIntents(
  db: Db,
  announcer: Announcer,
  lease: string,
  epoch: number,
  since = new Date(0),
): Promise<void> {
  const collection = db.collection<IntentDocument>('intents');
  await fenceIntents(collection, lease, epoch);
  const intents = await collection.find({ _id: { $in: STREAMS.map((stream) => intentId(lease, stream)) } }).toArray();
  const ids = intents.flatMap((intent) => intent.messages);
  if (ids.length === 0) return;
  const messages = await db
    .collection<AnyMessage>('messages')
    .find({ _id: { $in: ids } })
    .toArray();
  const changes = messages.flatMap((message) => message.history.map((entry) => ({ message, entry })));
  await followUp(
    { db, announcer },
    changes.filter(({ entry }) => entry.at >= since),
    messages,
  );
}

/** Throws `LeaseLostError` when a later holder was here. */
async function fenceIntents(intents: Collection<IntentDocument>, lease: string, epoch: number): Promise<void> {
  try {
    await intents.bulkWrite(
      STREAMS.map((stream) => ({
        updateOne: {
          filter: { _id: intentId(lease, stream), epoch: { $lte: epoch } },
          update: { $set: { epoch }, $setOnInsert: { messages: [] } },
          upsert: true,
        },
      })),
    );
  } catch (error) {
    if (isDuplicateKey(error)) throw new LeaseLostError(`${lease} has another holder`, { cause: error });
    throw error;
  }
}

async function followUp(
  { db, announcer }: Pick<SettlerOptions, 'db' | 'announcer'>,
  changes: readonly StateChange[],
  messages: readonly AnyMessage[],
): Promise<void> {
  await announcer.announce(changes);
  crashPoint('settle:announced');
  await refundByChannel(db, messages);
}

/** It has events; or it ended before, and what is known of its copies by now may be all that its refund waited for. */
function hasFollowUp({ change, after }: Decided<AnyMessage>): boolean {
  return (change.entries ?? []).length > 0 || (change.set?.earlier !== undefined && STATES[after.state].final);
}

/** Whether the stored message is what we meant to write: then we (or an earlier try whose answer was lost) wrote it. */
function isAsDecided(stored: AnyMessage, after: AnyMessage): boolean {
  return (
    stored.v === after.v &&
    stored.state === after.state &&
    stored.outcome === after.outcome &&
    stored.history.length === after.history.length &&
    JSON.stringify(stored.parts) === JSON.stringify(after.parts) &&
    JSON.stringify(stored.earlier) === JSON.stringify(after.earlier)
  );
}

function intentId(lease: string, stream: Stream): string {
  return `${lease}/${stream}`;
}
