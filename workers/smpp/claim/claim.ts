import type { Db } from 'mongodb';
import type { ClaimGates } from '../../../shared/claim/claim-gates.ts';
import { QueuedTaker } from '../../../shared/claim/take-queued.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { HOURS_LANE } from '../../../shared/messages/routing.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { Queue, readQueued } from './queue.ts';
import { LowerLanesQuota, Quotas } from './quota.ts';
import { readInOrder } from './read-in-order.ts';
import { WaitingPaths } from './waiting-paths.ts';

export interface ClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly carrier: string;
  /** Epoch of the carrier's lease. */
  readonly epoch: number;
  readonly gates: ClaimGates;
  /** Whether the carrier's lease is held. */
  held(): boolean;
}

/** Where messages are taken from. */
export interface ClaimFrom {
  /** The paths in sorted order. If it is the same array as last time, the paths are taken as unchanged. */
  readonly paths: readonly string[];
  /** The most urgent lane that may be taken, usually 0. */
  readonly fromLane: number;
}

/** How much may be claimed, in messages and in segments. Both limits apply. */
export interface Room {
  readonly messages: number;
  readonly segments: number;
}

/** The lanes of `MessageDocument.lane`, the most urgent first. */
const LANES = [0, 1, 2, 3, 4] as const;
/** Messages that were read ahead are used for this long. A message in a higher lane waits no longer for its claim. */
const AHEAD_MS = 50;
const MAX_AHEAD = 200;

/**
 * Takes queued messages for a carrier. Related files: `queue.ts` (how one queue is read), `quota.ts` (how much each account
 * gets), `rotation.ts` (which account is next), `read-in-order.ts` (which queues are read), shared/claim/take-queued.ts (the update that makes messages ours, also used by
 * the chat-app worker), shared/claim/claim-gates.ts (which messages may not leave now).
 *
 * **What is taken.** Messages that are `queued` on one of the paths that the carrier serves now (`serving.ts`), have not expired,
 * and are not held by a gate. They become `submitting` with the carrier, the lease's epoch and the claim's id. One update does
 * this for the whole claim. If two carriers want the same message, one gets it. The other sees that its update matched fewer
 * messages, and asks which ones are its own. If the answer to a claim was lost, the next claim first looks for its messages, so
 * none is forgotten.
 *
 * **In which order.** If there is room for all waiting messages, all are taken in the order of lanes. In a backlog the highest
 * lane with messages gets 90 % of the room, and the lanes below it get 10 %. Inside a lane the paths are in rotation, and inside
 * a *queue* (one path and lane) the accounts, each with a quota of 5 to 15 messages. Inside an account the oldest message is
 * first. Messages that were read but not claimed are used for 50 ms.
 *
 * **What is fair.** No account waits for the backlog of another: each gets its quota in each round, however many messages it has
 * waiting. A quota that was cut off is made up for (start-time fair queueing, `Quotas`). Messages that a gate holds cost
 * nothing once this is known, because reads leave out their account. No lane starves, because of the 10 %.
 *
 * **What it costs.** Commands to the store for 1,000 claimed messages, at 50 messages a claim and at 10 (of these, the updates
 * are 20 and 100): one busy account 46 and 215; 50 busy accounts on one lane 96 and 289, on four lanes 122 and 272; a backlog of
 * 100,000 messages of one account beside 20 small ones 47 and 231. While all queues are empty, one read serves all paths.
 *
 * **Not chosen.**
 * - One `findOneAndUpdate` for each message: 1,000 commands for 1,000 messages, and no rotation.
 * - Ordering by age alone: one account's backlog would delay everyone.
 * - Several reads of a queue at once, each from where an earlier one had ended: the same commands and CPU as reads one after the
 *   other (docs/decisions/0044).
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #taker: QueuedTaker<MessageDocument>;
  /** By lane. */
  readonly #pathQuotas = LANES.map(() => new Quotas('path'));
  readonly #lowerLanes = new LowerLanesQuota();
  readonly #waitingPaths: WaitingPaths;
  /** The queues, lane by lane, the most urgent first. Queues of paths that are no longer served are forgotten. */
  #queues: ReadonlyMap<string, Queue> = new Map();
  #from: ClaimFrom = { paths: [], fromLane: 0 };
  /** Whether more messages waited at the last claim than there was room for. */
  #backlog = false;
  /** In a backlog: messages that were read but not claimed yet, in the order in which they will be claimed. */
  #ahead: MessageDocument[] = [];
  #aheadUntilMs = 0;
  /** The lane that alone had more messages than were read ahead. Infinity if there was none. */
  #fullLane = Number.POSITIVE_INFINITY;
  /** How many messages of the last reading were claimed. */
  #used = 0;
  #tookAll = false;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#taker = new QueuedTaker({ ...options, holder: options.carrier });
    this.#waitingPaths = new WaitingPaths(options);
  }

  /** Whether the last claim saw everything that waited and got it. Then only a new entry of the queue brings more. */
  get tookAll(): boolean {
    return this.#tookAll;
  }

  /** Claims messages, at most as many as there is room for. Returns those that are ours now, as they are after the claim. */
  async claim(room: Room, from: ClaimFrom): Promise<MessageDocument[]> {
    this.#tookAll = false;
    if (room.messages <= 0 || room.segments <= 0) return [];
    const recovered = await this.#taker.recover();
    if (recovered.length > 0) return recovered;
    this.#tookAll = from.paths.length === 0;
    if (this.#tookAll) return [];
    this.#turnTo(from);
    await this.#options.gates.refresh();
    const queues = [...this.#queues.values()];
    for (const queue of queues) queue.letGo();
    const fairly = this.#backlog || queues.some(({ goesAround }) => goesAround);
    const picked = fairly ? await this.#pickFairly(room) : await this.#pickAll(room);
    // The process may have stood still while it read, and another holder may serve the carrier by now.
    const taken = this.#options.held() ? await this.#taker.take(picked) : [];
    // Another carrier serves the same path. What was read ahead is probably out of date too.
    if (taken.length < picked.length) {
      this.#tookAll = false;
      this.#ahead = [];
    }
    return taken;
  }

  /** Switches to these paths. What was read ahead for other paths is dropped. */
  #turnTo(from: ClaimFrom): void {
    const { paths, fromLane } = this.#from;
    this.#from = from;
    if (fromLane !== from.fromLane) this.#ahead = [];
    if (paths === from.paths) return;
    if (paths.join() !== from.paths.join()) this.#ahead = [];
    const known = this.#queues;
    const keys = LANES.flatMap((lane) => from.paths.map((path) => ({ path, lane })));
    this.#queues = new Map(
      keys.map((key) => [keyOf(key), known.get(keyOf(key)) ?? new Queue(this.#options, key.path, key.lane)]),
    );
  }

  /** Reads all paths in the order of the index. If that gives less than there is room for, nothing else waits. */
  async #pickAll(room: Room): Promise<MessageDocument[]> {
    const { paths, fromLane } = this.#from;
    const { gates } = this.#options;
    const lanes = {
      ...(fromLane > 0 ? { $gte: fromLane } : {}),
      ...(gates.promotionalOpen ? {} : { $lt: HOURS_LANE }),
    };
    const filter = { path: { $in: [...paths] }, ...(Object.keys(lanes).length === 0 ? {} : { lane: lanes }) };
    const read = (await readQueued(this.#options, filter, room.messages)).sort((a, b) => a.lane - b.lane);
    const free = read.filter((message) => this.#queueOf(message)?.lets(message) ?? false);
    this.#backlog = read.length >= room.messages;
    if (this.#backlog) return this.#pickFairly(room);
    const picked = fitting(free, room);
    this.#tookAll = picked.length === read.length;
    return picked;
  }

  /**
   * Picks messages in a backlog, from those that were read ahead as long as they are fresh. The window frees one slot at a time.
   * So a claim of one message is one update instead of several reads.
   */
  async #pickFairly(room: Room): Promise<MessageDocument[]> {
    const fresh = this.#options.clock.monotonicMs() < this.#aheadUntilMs;
    if (!fresh || this.#ahead.length < room.messages) await this.#readAhead(room);
    const picked = fitting(this.#ahead, room);
    this.#ahead = this.#ahead.slice(picked.length);
    this.#used += picked.length;
    for (const message of picked) {
      this.#queueOf(message)?.claimed(message);
      this.#pathQuotas[message.lane]?.claimed(message);
    }
    const lower = picked.filter(({ lane }) => lane > this.#fullLane).length;
    this.#lowerLanes.claimed(picked.length - lower, lower);
    if (picked.length === 0) this.#backlog = false;
    return picked;
  }

  async #readAhead(room: Room): Promise<void> {
    const wanted = Math.min(Math.max(room.messages, 2 * this.#used), Math.max(room.messages, MAX_AHEAD));
    this.#used = 0;
    const { gates } = this.#options;
    const waiting = await this.#waitingPaths.among(this.#from.paths);
    const open = [...this.#queues.values()].filter(
      ({ path, lane }) =>
        waiting.includes(path) && lane >= this.#from.fromLane && (lane !== HOURS_LANE || gates.promotionalOpen),
    );
    const top = await readInOrder(open, this.#pathQuotas, wanted);
    this.#fullLane = top.fullLane;
    const below = open.filter(({ lane }) => lane > top.fullLane);
    const lower = await readInOrder(below, this.#pathQuotas, this.#lowerLanes.due);
    this.#ahead = [...lower.messages, ...top.messages];
    this.#aheadUntilMs = this.#options.clock.monotonicMs() + AHEAD_MS;
  }

  #queueOf(message: MessageDocument): Queue | undefined {
    return this.#queues.get(keyOf(message));
  }
}

function keyOf({ path, lane }: { readonly path: string; readonly lane: number }): string {
  return `${lane} ${path}`;
}

/**
 * As many of the first messages as there is room for. The last one may have more segments than there is room for. Its last
 * segments then wait for a slot. Otherwise a long message could wait for ever while short ones pass it.
 */
function fitting(messages: readonly MessageDocument[], room: Room): MessageDocument[] {
  const picked: MessageDocument[] = [];
  let segments = 0;
  for (const message of messages) {
    if (picked.length >= room.messages || segments >= room.segments) break;
    picked.push(message);
    segments += message.segments;
  }
  return picked;
}
