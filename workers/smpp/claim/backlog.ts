import type { MessageDocument } from '../../../shared/messages/message.ts';
import { HOURS_LANE } from '../../../shared/messages/routing.ts';
import { Queue, type QueueOptions } from './queue.ts';
import { LowerLanesQuota, Quotas } from './quota.ts';
import { readInOrder } from './read-in-order.ts';
import { WaitingPaths } from './waiting-paths.ts';

/** The lanes of `MessageDocument.lane`, the most urgent first. */
const LANES = [0, 1, 2, 3, 4] as const;
/** Messages that were read ahead are used for this long. So a new message in a higher lane waits at most this long for them. */
const AHEAD_MS = 50;
const MAX_AHEAD = 200;

/**
 * Decides which messages are next when more wait than a carrier has room for, or when reads must go around accounts on hold. The
 * rules are in `claim.ts`. Related files: `queue.ts` (how one queue is read), `quota.ts` (how much each account gets),
 * `rotation.ts` (which account is next), `read-in-order.ts` (which queues are read).
 */
export class Backlog {
  readonly #options: QueueOptions;
  /** By lane. */
  readonly #pathQuotas = LANES.map(() => new Quotas('path'));
  readonly #lowerLanes = new LowerLanesQuota();
  readonly #waitingPaths: WaitingPaths;
  /** The queues, lane by lane, the most urgent first. Queues of paths that are no longer served are forgotten. */
  #queues: ReadonlyMap<string, Queue> = new Map();
  #paths: readonly string[] = [];
  #fromLane = 0;
  /** Messages that were read but not claimed yet, in the order in which they will be claimed. */
  #ahead: MessageDocument[] = [];
  #aheadUntilMs = 0;
  /** The lane in which the last reading reached the number that it wanted. Infinity if it found fewer. */
  #fullLane = Number.POSITIVE_INFINITY;
  /** How many messages of the last reading were picked. */
  #used = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#waitingPaths = new WaitingPaths(options);
  }

  /** Whether reads leave out any account. */
  get goesAround(): boolean {
    for (const queue of this.#queues.values()) if (queue.goesAround) return true;
    return false;
  }

  /** Switches to these paths. What was read ahead for other paths is dropped. */
  turnTo(paths: readonly string[], fromLane: number): void {
    const [pathsBefore, fromLaneBefore] = [this.#paths, this.#fromLane];
    this.#paths = paths;
    this.#fromLane = fromLane;
    if (fromLane !== fromLaneBefore) this.#ahead = [];
    if (paths === pathsBefore) return;
    if (paths.join() !== pathsBefore.join()) this.#ahead = [];
    const known = this.#queues;
    const keys = LANES.flatMap((lane) => paths.map((path) => ({ path, lane })));
    this.#queues = new Map(
      keys.map((key) => [keyOf(key), known.get(keyOf(key)) ?? new Queue(this.#options, key.path, key.lane)]),
    );
  }

  /** From now on reads include accounts again that the gates have released since the last call. */
  readReleased(): void {
    for (const queue of this.#queues.values()) queue.readReleased();
  }

  /** From now on reads leave out the accounts of those messages that a gate holds. */
  goAround(messages: readonly MessageDocument[]): void {
    for (const message of messages) this.#queueOf(message)?.admits(message);
  }

  /** Drops what was read ahead, because it is probably out of date. */
  readAgain(): void {
    this.#ahead = [];
  }

  /**
   * The next messages in their order, `wanted` or more if so many wait: those that were read ahead, as long as they are fresh. The
   * window frees one slot at a time. So a claim of one message is one update instead of several reads.
   */
  async inOrder(wanted: number): Promise<readonly MessageDocument[]> {
    const fresh = this.#options.clock.monotonicMs() < this.#aheadUntilMs;
    if (!fresh || this.#ahead.length < wanted) await this.#readAhead(wanted);
    return this.#ahead;
  }

  /** Notes that these messages are claimed, the first of those that are next. */
  picked(picked: readonly MessageDocument[]): void {
    this.#ahead = this.#ahead.slice(picked.length);
    this.#used += picked.length;
    for (const message of picked) {
      this.#queueOf(message)?.claimed(message);
      this.#pathQuotas[message.lane]?.claimed(message);
    }
    const lower = picked.filter(({ lane }) => lane > this.#fullLane).length;
    this.#lowerLanes.claimed(picked.length - lower, lower);
  }

  async #readAhead(least: number): Promise<void> {
    const wanted = Math.min(Math.max(least, 2 * this.#used), Math.max(least, MAX_AHEAD));
    this.#used = 0;
    const { gates } = this.#options;
    const waiting = await this.#waitingPaths.among(this.#paths);
    const open = [...this.#queues.values()].filter(
      ({ path, lane }) =>
        waiting.includes(path) && lane >= this.#fromLane && (lane !== HOURS_LANE || gates.promotionalOpen),
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
