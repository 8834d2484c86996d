import type { Db } from 'mongodb';
import type { ClaimGates } from '../../../shared/claim/claim-gates.ts';
import { QueuedTaker } from '../../../shared/claim/take-queued.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { HOURS_LANE } from '../../../shared/messages/routing.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { fitting, LowerLanesShare, quantumOf, type Room, roomLeft } from './claim-plan.ts';
import { ClaimQueues, type Queue } from './claim-queues.ts';

/**
 * Takes queued messages for a carrier (take-queued.ts), and says which are next.
 *
 * While there is room for all that waits, all is taken, in lane order. In a backlog: lane by lane with a small share for the
 * lower ones, and inside a lane the accounts in turn, a few messages each, so that the backlog of one stands before nobody.
 * What gates hold (claim-gates.ts) is not read once it is known, however much of it waits.
 */
export interface ClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly carrier: string;
  /** Of the carrier's lease. */
  readonly epoch: number;
  readonly paths: readonly string[];
  readonly gates: ClaimGates;
}

/** What was read ahead is believed for so long: a message in a higher lane waits no longer for its turn. */
const AHEAD_MS = 50;
const MAX_AHEAD = 200;

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #taker: QueuedTaker<MessageDocument>;
  readonly #share = new LowerLanesShare();
  readonly #queues: ClaimQueues;
  /** At the last claim more waited than there was room for. */
  #backlog = false;
  /** In a backlog, what was read and not claimed yet, in the order of claiming. */
  #ahead: MessageDocument[] = [];
  #aheadUntilMs = 0;
  /** The lane that alone had more than was read ahead. */
  #fullLane = Number.POSITIVE_INFINITY;
  /** How many of the last reading were claimed. */
  #used = 0;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#taker = new QueuedTaker(options);
    this.#queues = new ClaimQueues(options);
  }

  /** The messages that are ours now, as they are after the claim; at most what there is room for. */
  async claim(room: Room): Promise<MessageDocument[]> {
    if (room.messages <= 0 || room.segments <= 0) return [];
    const recovered = await this.#taker.recover();
    if (recovered.length > 0) return recovered;
    await this.#options.gates.refresh();
    this.#queues.letGo();
    const picked = this.#backlog || this.#queues.around ? await this.#pickInTurn(room) : await this.#pickAll(room);
    return picked.length === 0 ? [] : this.#take(picked);
  }

  /** Each path in lane order by the index: together less than there is room for means that this is all there is. */
  async #pickAll(room: Room): Promise<MessageDocument[]> {
    const { paths, gates } = this.#options;
    const lanes = gates.promotionalOpen ? {} : { lane: { $lt: HOURS_LANE } };
    const reads = await Promise.all(paths.map((path) => this.#queues.read({ path, ...lanes }, room.messages)));
    const read = reads.flat().sort((a, b) => a.lane - b.lane);
    const all = this.#queues.unheld(read);
    this.#backlog = read.length >= room.messages;
    return this.#backlog ? this.#pickInTurn(room) : fitting(all, room);
  }

  /**
   * From what was read ahead while it is fresh: a window frees slot by slot, and a claim of one is then one update instead of
   * several reads. Messages that another carrier took since are found out by the claim.
   */
  async #pickInTurn(room: Room): Promise<MessageDocument[]> {
    const fresh = this.#options.clock.monotonicMs() < this.#aheadUntilMs;
    if (!fresh || this.#ahead.length < room.messages) await this.#readAhead(room);
    const picked = fitting(this.#ahead, room);
    this.#ahead = this.#ahead.slice(picked.length);
    this.#used += picked.length;
    for (const message of picked) {
      const queue = this.#queues.of(message);
      if (queue === undefined) continue;
      queue.cursor = message.account;
      queue.shares.claimed(message.account);
    }
    const lower = picked.filter(({ lane }) => lane > this.#fullLane).length;
    this.#share.claimed(picked.length - lower, lower);
    if (picked.length === 0) this.#backlog = false;
    return picked;
  }

  async #readAhead(room: Room): Promise<void> {
    const wanted = Math.min(Math.max(room.messages, 2 * this.#used), Math.max(room.messages, MAX_AHEAD));
    this.#used = 0;
    const size = { messages: wanted, segments: Number.POSITIVE_INFINITY };
    const open = this.#queues.all.filter(({ lane }) => lane !== HOURS_LANE || this.#options.gates.promotionalOpen);
    const top = await this.#readQueues(open, size);
    this.#fullLane = top.fullLane;
    const below = open.filter(({ lane }) => lane > top.fullLane);
    const share = { ...size, messages: this.#share.due };
    const lower = share.messages === 0 ? undefined : await this.#readQueues(below, share);
    this.#ahead = [...(lower?.messages ?? []), ...top.messages];
    this.#aheadUntilMs = this.#options.clock.monotonicMs() + AHEAD_MS;
  }

  /** Up to `room` in the order of `queues`, and the lane that had more than was left of it (Infinity: none had). */
  async #readQueues(
    queues: readonly Queue[],
    room: Room,
  ): Promise<{ readonly messages: MessageDocument[]; readonly fullLane: number }> {
    const messages: MessageDocument[] = [];
    for (const queue of queues) {
      const left = roomLeft(room, messages).messages;
      if (left === 0) break;
      const turns = queue.shares.inTurns(await this.#queues.inTurn(queue, left), quantumOf(left));
      messages.push(...turns.slice(0, left));
      if (messages.length >= room.messages) return { messages, fullLane: queue.lane };
    }
    return { messages, fullLane: Number.POSITIVE_INFINITY };
  }

  async #take(picked: readonly MessageDocument[]): Promise<MessageDocument[]> {
    const taken = await this.#taker.take(picked);
    // Another carrier serves the same path: what was read ahead is out of date too.
    if (taken.length < picked.length) this.#ahead = [];
    return taken;
  }
}
