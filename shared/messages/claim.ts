import type { Collection, Db, Filter } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import { type MessageId, newId } from '../runtime/ids.ts';
import { fitting, LANES, LowerLanesShare, quantumOf, type Room, roomLeft } from './claim-plan.ts';
import type { Claim, MessageDocument } from './message.ts';

/**
 * Takes queued messages for a carrier: queued → submitting, in one update for many, each stamped with the claim. Two workers
 * that want the same message: one gets it, the other sees that it matched fewer and asks which are its own.
 *
 * While there is room for all that waits, all is taken, in lane order. In a backlog: lane by lane with a small share for the
 * lower ones, and inside a lane the accounts in turn, a few messages each, so that the backlog of one stands before nobody.
 */
export interface ClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly carrier: string;
  /** Of the carrier's lease. */
  readonly epoch: number;
  readonly paths: readonly string[];
}

/** One path and lane, whose accounts are served in turn. */
interface Queue {
  readonly path: string;
  readonly lane: number;
  /** The account served last. */
  cursor: string;
  /** Found empty: not read again before. */
  emptyUntilMs: number;
}

/** Reads of one queue in one claim. */
const MAX_READS = 8;
/** While others have more than can be taken, an empty queue is looked at this often. */
const EMPTY_MS = 100;

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #messages: Collection<MessageDocument>;
  readonly #share = new LowerLanesShare();
  readonly #queues: readonly Queue[];
  /** At the last claim more waited than there was room for. */
  #backlog = false;

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
    const picked = this.#backlog ? await this.#pickInTurn(room) : await this.#pickAll(room);
    return picked.length === 0 ? [] : this.#take(picked);
  }

  /** Each path in lane order by the index: together less than there is room for means that this is all there is. */
  async #pickAll(room: Room): Promise<MessageDocument[]> {
    const reads = await Promise.all(this.#options.paths.map((path) => this.#read({ path }, room.messages)));
    const all = reads.flat().sort((a, b) => a.lane - b.lane);
    this.#backlog = all.length >= room.messages;
    return this.#backlog ? this.#pickInTurn(room) : fitting(all, room);
  }

  async #pickInTurn(room: Room): Promise<MessageDocument[]> {
    const picked: MessageDocument[] = [];
    const reserved = this.#share.next(room.messages);
    const top = await this.#pickFrom(this.#queues, { ...room, messages: room.messages - reserved }, picked);
    const lower = this.#queues.filter(({ lane }) => top !== undefined && lane > top);
    await this.#pickFrom(lower, room, picked);
    // What the lower lanes did not want.
    await this.#pickFrom(this.#queues, room, picked);
    this.#backlog = roomLeft(room, picked).messages === 0 || roomLeft(room, picked).segments === 0;
    return picked;
  }

  /** Adds to `picked` up to `room`; returns the lane in which the room was used up, if it was. */
  async #pickFrom(queues: readonly Queue[], room: Room, picked: MessageDocument[]): Promise<number | undefined> {
    for (const queue of queues) {
      const left = roomLeft(room, picked);
      if (left.messages === 0 || left.segments === 0) return queue.lane;
      const known = new Set(picked.map((message) => message._id));
      const read = await this.#readQueue(queue, left.messages, known);
      const fits = fitting(read, left);
      picked.push(...fits);
      queue.cursor = fits.at(-1)?.account ?? queue.cursor;
      if (fits.length < read.length || read.length >= left.messages) return queue.lane;
    }
    return undefined;
  }

  /**
   * Up to `wanted` of a queue: behind the account served last, then from the beginning; a few of each account, and more of
   * the same ones only when no other has any.
   */
  async #readQueue(queue: Queue, wanted: number, known: ReadonlySet<MessageId>): Promise<MessageDocument[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < queue.emptyUntilMs) return [];
    const { path, lane, cursor } = queue;
    const found: MessageDocument[] = [];
    let empty = true;
    let range: { readonly $gt: string; readonly $lte?: string } = { $gt: cursor };
    for (let reads = 0; reads < MAX_READS && found.length < wanted; reads++) {
      const limit = Math.min(quantumOf(wanted), wanted - found.length);
      const batch = await this.#read({ path, lane, account: range } as Filter<MessageDocument>, limit); // '' is before every id
      found.push(...batch.filter((message) => !known.has(message._id)));
      empty &&= batch.length === 0;
      const last = batch.at(-1);
      if (batch.length === limit && last !== undefined) range = { ...range, $gt: last.account };
      else if (range.$lte === undefined && cursor !== '') range = { $gt: '', $lte: cursor };
      else if (!empty) return this.#readDeeper(queue, wanted, known, found);
      else break;
    }
    if (empty) queue.emptyUntilMs = nowMs + EMPTY_MS;
    return found;
  }

  /** Every account of the queue had its turn, and there is room left. */
  async #readDeeper(
    queue: Queue,
    wanted: number,
    known: ReadonlySet<MessageId>,
    found: readonly MessageDocument[],
  ): Promise<MessageDocument[]> {
    const { path, lane } = queue;
    const had = new Set([...known, ...found.map((message) => message._id)]);
    const all = await this.#read({ path, lane }, wanted + known.size);
    const rest = all.filter((message) => !had.has(message._id));
    return [...found, ...rest.slice(0, wanted - found.length)];
  }

  /** What has expired is left to the maintenance. */
  #read(filter: Filter<MessageDocument>, limit: number): Promise<MessageDocument[]> {
    return this.#messages
      .find({ ...filter, state: 'queued', validUntil: { $gt: this.#options.clock.now() } })
      .sort({ lane: 1, account: 1, _id: 1 })
      .limit(limit)
      .batchSize(limit + 1) // all in one answer: the server's own first batch holds 101
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
