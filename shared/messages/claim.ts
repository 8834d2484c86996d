import type { Collection, Db, Filter } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import { newId } from '../runtime/ids.ts';
import { LANES, LowerLanesShare, pickFairly, QUANTUM, type Room, roomLeft } from './claim-plan.ts';
import type { Claim, MessageDocument } from './message.ts';

/**
 * Takes queued messages for a carrier: queued → submitting, in one update for many, each stamped with the claim. Two workers
 * that want the same message: one gets it, the other sees that it matched fewer and asks which are its own.
 *
 * Order: lanes first, with a small share for the lower ones; inside a lane the accounts in turn, continuing behind the one
 * served last, so that over time each gets the same.
 */
export interface ClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly carrier: string;
  /** Of the carrier's lease. */
  readonly epoch: number;
  readonly paths: readonly string[];
}

/** One path and lane: where the accounts are served in turn. */
interface Queue {
  readonly path: string;
  readonly lane: number;
  /** The account served last. */
  cursor: string;
  /** Found empty: not read again before. */
  emptyUntilMs: number;
}

/** Reads of one queue in one claim: each skips over an account that alone would fill the claim. */
const MAX_SKIPS = 8;
/** While others have more than can be taken, an empty queue is looked at this often. */
const EMPTY_MS = 100;

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #messages: Collection<MessageDocument>;
  readonly #share = new LowerLanesShare();
  readonly #queues: readonly Queue[];

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
    this.#queues = LANES.flatMap((lane) =>
      options.paths.map((path) => ({ path, lane, cursor: '', emptyUntilMs: Number.NEGATIVE_INFINITY })),
    );
  }

  /** The messages that are ours now, as they are after the claim; at most what there is room for. */
  async claim(room: Room): Promise<MessageDocument[]> {
    if (room.messages <= 0 || room.segments <= 0) return [];
    const picked = await this.#pick(room);
    return picked.length === 0 ? [] : this.#take(picked);
  }

  async #pick(room: Room): Promise<MessageDocument[]> {
    // Each in lane order by the index: together less than there is room for means that this is all there is.
    const reads = await Promise.all(this.#options.paths.map((path) => this.#read({ path }, room.messages)));
    const all = reads.flat().sort((a, b) => a.lane - b.lane);
    if (all.length < room.messages) return pickFairly(all, room);
    return this.#pickFromBacklog(all[0]?.lane ?? 0, room);
  }

  /** More waits than there is room for: lane by lane, and in each account by account. */
  async #pickFromBacklog(topLane: number, room: Room): Promise<MessageDocument[]> {
    const picked: MessageDocument[] = [];
    const take = async (queue: Queue, messages: number): Promise<void> => {
      const left = roomLeft({ messages, segments: room.segments }, picked);
      if (left.messages <= 0 || left.segments <= 0) return;
      const known = new Set(picked.map((message) => message._id));
      const read = await this.#readQueue(queue, left.messages);
      const fair = pickFairly(
        read.filter((message) => !known.has(message._id)),
        left,
      );
      picked.push(...fair);
      queue.cursor = fair.at(-1)?.account ?? queue.cursor;
    };
    const reserved = this.#share.next(room.messages);
    for (const queue of this.#queues) if (queue.lane > topLane) await take(queue, reserved);
    for (const queue of this.#queues) if (queue.lane >= topLane) await take(queue, room.messages);
    return picked;
  }

  /** Enough of a queue to pick fairly from: behind the account served last, then from the beginning. */
  async #readQueue(queue: Queue, wanted: number): Promise<MessageDocument[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < queue.emptyUntilMs) return [];
    const { path, lane, cursor: start } = queue;
    const read: MessageDocument[] = [];
    let after = start;
    let wrapped = false;
    for (let skips = 0; skips < MAX_SKIPS && usable(read) < wanted; skips++) {
      const limit = Math.max(wanted - read.length, QUANTUM);
      const account = wrapped ? { $gt: after, $lte: start } : { $gt: after };
      const batch = await this.#read({ path, lane, account } as Filter<MessageDocument>, limit); // '' sorts before every id
      read.push(...batch);
      const last = batch.at(-1);
      if (batch.length === limit && last !== undefined) after = last.account;
      else if (wrapped || start === '') break;
      else {
        wrapped = true;
        after = '';
      }
    }
    if (read.length === 0) queue.emptyUntilMs = nowMs + EMPTY_MS;
    return read;
  }

  /** What has expired is left to the maintenance. */
  #read(filter: Filter<MessageDocument>, limit: number): Promise<MessageDocument[]> {
    return this.#messages
      .find({ ...filter, state: 'queued', validUntil: { $gt: this.#options.clock.now() } })
      .sort({ lane: 1, account: 1, _id: 1 })
      .limit(limit)
      .toArray();
  }

  async #take(picked: readonly MessageDocument[]): Promise<MessageDocument[]> {
    const { carrier, epoch, clock } = this.#options;
    const claim: Claim = { id: newId('clm'), carrier, epoch, at: clock.now() };
    const ids = picked.map((message) => message._id);
    const { modifiedCount } = await this.#messages.updateMany(
      { _id: { $in: ids }, state: 'queued' },
      { $set: { state: 'submitting', claim }, $inc: { v: 1 } },
    );
    if (modifiedCount === picked.length) {
      return picked.map((message) => ({ ...message, state: 'submitting', claim, v: message.v + 1 }));
    }
    return this.#messages.find({ _id: { $in: ids }, 'claim.id': claim.id, state: 'submitting' }).toArray();
  }
}

/** How many of a read fair picking can use before it has to go round again. */
function usable(read: readonly MessageDocument[]): number {
  const counts = new Map<string, number>();
  for (const { account } of read) counts.set(account, Math.min((counts.get(account) ?? 0) + 1, QUANTUM));
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
