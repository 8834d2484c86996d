import type { Db } from 'mongodb';
import type { ClaimGates } from '../../../shared/claim/claim-gates.ts';
import { QueuedTaker, readQueued } from '../../../shared/claim/take-queued.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { HOURS_LANE } from '../../../shared/messages/routing.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { Backlog } from './backlog.ts';

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

/**
 * Takes queued messages for a carrier. Related files: shared/claim/take-queued.ts (how queued messages are read, and the update
 * that makes them ours, also used by the chat-app worker), shared/claim/claim-gates.ts (which messages may not leave now),
 * `backlog.ts` (which are next when more wait than there is room for).
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
  readonly #backlog: Backlog;
  /** Whether more messages waited at the last claim than there was room for. */
  #isBehind = false;
  #tookAll = false;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#taker = new QueuedTaker({ ...options, holder: options.carrier });
    this.#backlog = new Backlog(options);
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
    this.#backlog.turnTo(from.paths, from.fromLane);
    await this.#options.gates.refresh();
    this.#backlog.readReleased();
    const fairly = this.#isBehind || this.#backlog.goesAround;
    const picked = fairly ? await this.#pickFairly(room) : await this.#pickAll(room, from);
    // The process may have stood still while it read, and another holder may serve the carrier by now.
    const taken = this.#options.held() ? await this.#taker.take(picked) : [];
    // Another carrier serves the same path. What was read ahead is probably out of date too.
    if (taken.length < picked.length) {
      this.#tookAll = false;
      this.#backlog.readAgain();
    }
    return taken;
  }

  /** Reads all paths in the order of the index. If that gives less than there is room for, nothing else waits. */
  async #pickAll(room: Room, { paths, fromLane }: ClaimFrom): Promise<MessageDocument[]> {
    const { gates } = this.#options;
    const lanes = {
      ...(fromLane > 0 ? { $gte: fromLane } : {}),
      ...(gates.promotionalOpen ? {} : { $lt: HOURS_LANE }),
    };
    const filter = { path: { $in: [...paths] }, ...(Object.keys(lanes).length === 0 ? {} : { lane: lanes }) };
    const read = (await readQueued(this.#options, filter, room.messages)).sort((a, b) => a.lane - b.lane);
    const free = read.filter((message) => !gates.holds(message));
    if (free.length < read.length) this.#backlog.goAround(read);
    this.#isBehind = read.length >= room.messages;
    if (this.#isBehind) return this.#pickFairly(room);
    const picked = fitting(free, room);
    this.#tookAll = picked.length === read.length;
    return picked;
  }

  /** Picks messages in a backlog. */
  async #pickFairly(room: Room): Promise<MessageDocument[]> {
    const picked = fitting(await this.#backlog.inOrder(room.messages), room);
    this.#backlog.picked(picked);
    if (picked.length === 0) this.#isBehind = false;
    return picked;
  }
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
