import type { Db } from 'mongodb';
import type { ClaimGates } from '../../../shared/claim/claim-gates.ts';
import { QueuedTaker } from '../../../shared/claim/take-queued.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { HOURS_LANE } from '../../../shared/messages/routing.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { Queue, readQueued } from './queue.ts';
import { LowerLanesQuota, quotaOf } from './quota.ts';
import { WaitingPaths } from './waiting-paths.ts';

export interface ClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly carrier: string;
  /** Of the carrier's lease. */
  readonly epoch: number;
  readonly gates: ClaimGates;
}

/** Where messages are taken from. */
export interface ClaimFrom {
  /** Sorted. The same array as before means: the same paths. */
  readonly paths: readonly string[];
  /** The most urgent lane; usually 0. */
  readonly fromLane: number;
}

/** How much may be claimed, in both measures. */
export interface Room {
  readonly messages: number;
  readonly segments: number;
}

/** Lanes of `MessageDocument.lane`, the most urgent first. */
const LANES = [0, 1, 2, 3, 4] as const;
/** What was read ahead is believed for so long: a message in a higher lane waits no longer for its claim. */
const AHEAD_MS = 50;
const MAX_AHEAD = 200;

/**
 * Takes queued messages for a carrier. Read on: `queue.ts` (how one queue is read), `quota.ts` (what each account gets),
 * `rotation.ts` (whose turn comes first), shared/claim/take-queued.ts (the update that makes messages ours, as for the chat-app
 * worker), shared/claim/claim-gates.ts (what may not leave now).
 *
 * **What is taken.** Messages that are `queued` on one of the paths that the carrier serves now (`serving.ts`), have not expired and are held by no gate. They
 * become `submitting` with the carrier, the lease's epoch and the claim's id, in one update for the whole claim. Of two carriers
 * that want the same message one gets it; the other sees that its update matched fewer, and asks which ones are its own. A claim
 * whose answer was lost is looked for first at the next claim, so nothing is forgotten.
 *
 * **In which order.** While there is room for all that waits, all of it, in the order of lanes. In a backlog: the highest lane that
 * has messages, and 10 % of the room for the lanes below it. Inside a lane (a *queue*: one path and lane) the accounts in rotation,
 * a quota of 5 to 15 messages each; inside an account the oldest first. What is read and not claimed yet is used for 50 ms.
 *
 * **What is fair.** No account waits for the backlog of another: each gets its quota in each round, whatever it has waiting, and
 * a quota that was cut off is made up for (start-time fair queueing, `AccountQuotas`). What a gate holds costs nothing once it is
 * known: reads go around its account. No lane starves: see the 10 %.
 *
 * **What it costs.** Commands to the store for 1,000 claimed messages, at 50 messages a claim and at 10 (the updates are 20 and
 * 100 of these): one busy account 46 and 215; 50 busy accounts on one lane 96 and 289, on four lanes 122 and 272; a backlog of
 * 100,000 messages of one account beside 20 small ones 47 and 231. An empty queue: one read for all paths together.
 *
 * **Not chosen.**
 * - One `findOneAndUpdate` for each message: 1,000 commands for 1,000 messages, and no rotation.
 * - Ordering by age alone: one account's backlog stands before everyone.
 * - Several reads of a queue at once, begun where earlier reads had ended: the same commands and CPU as one after the other
 *   (docs/decisions/0044).
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #taker: QueuedTaker<MessageDocument>;
  readonly #lowerLanes = new LowerLanesQuota();
  readonly #waitingPaths: WaitingPaths;
  /** Lane by lane, the most urgent first; those of paths that are served no more are forgotten. */
  #queues: ReadonlyMap<string, Queue> = new Map();
  #from: ClaimFrom = { paths: [], fromLane: 0 };
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
    this.#taker = new QueuedTaker({ ...options, holder: options.carrier });
    this.#waitingPaths = new WaitingPaths(options);
  }

  /** The messages that are ours now, as they are after the claim; at most what there is room for. */
  async claim(room: Room, from: ClaimFrom): Promise<MessageDocument[]> {
    if (room.messages <= 0 || room.segments <= 0) return [];
    const recovered = await this.#taker.recover();
    if (recovered.length > 0) return recovered;
    if (from.paths.length === 0) return [];
    this.#turnTo(from);
    await this.#options.gates.refresh();
    const queues = [...this.#queues.values()];
    for (const queue of queues) queue.letGo();
    const fairly = this.#backlog || queues.some(({ goesAround }) => goesAround);
    const picked = fairly ? await this.#pickFairly(room) : await this.#pickAll(room);
    if (picked.length === 0) return [];
    const taken = await this.#taker.take(picked);
    // Another carrier serves the same path: what was read ahead is out of date too.
    if (taken.length < picked.length) this.#ahead = [];
    return taken;
  }

  /** What was read ahead on other paths is not for now. */
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

  /** All paths one after the other by the index: less than there is room for means that this is all there is. */
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
    return this.#backlog ? this.#pickFairly(room) : fitting(free, room);
  }

  /**
   * From what was read ahead while it is fresh: a window frees slot by slot, and a claim of one is then one update instead of
   * several reads.
   */
  async #pickFairly(room: Room): Promise<MessageDocument[]> {
    const fresh = this.#options.clock.monotonicMs() < this.#aheadUntilMs;
    if (!fresh || this.#ahead.length < room.messages) await this.#readAhead(room);
    const picked = fitting(this.#ahead, room);
    this.#ahead = this.#ahead.slice(picked.length);
    this.#used += picked.length;
    for (const message of picked) this.#queueOf(message)?.claimed(message.account);
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
    const top = await readInOrder(open, wanted);
    this.#fullLane = top.fullLane;
    const below = open.filter(({ lane }) => lane > top.fullLane);
    const lower = await readInOrder(below, this.#lowerLanes.due);
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

/** Up to `wanted` in the order of `queues`, and the lane that had more than was left of it (Infinity: none had). */
async function readInOrder(
  queues: readonly Queue[],
  wanted: number,
): Promise<{ readonly messages: MessageDocument[]; readonly fullLane: number }> {
  const messages: MessageDocument[] = [];
  for (const queue of queues) {
    const left = wanted - messages.length;
    if (left === 0) break;
    const inRounds = queue.quotas.inRounds(await queue.next(left), quotaOf(left));
    messages.push(...inRounds.slice(0, left));
    if (messages.length === wanted) return { messages, fullLane: queue.lane };
  }
  return { messages, fullLane: Number.POSITIVE_INFINITY };
}

/**
 * As many from the front as there is room for. The message that uses the room up may be longer than what is left: its last
 * segments then wait for a slot, rather than that a long message waits for ever behind short ones.
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
