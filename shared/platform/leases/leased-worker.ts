import type { Db } from 'mongodb';
import type { Changing, ListenForChanges } from '../runtime/change-signal.ts';
import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type Found, PollLoop, type PollLoopOptions } from '../runtime/poll-loop.ts';
import { within } from '../runtime/within.ts';
import { Lease } from './lease.ts';

export interface LeasedWorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly leases: readonly Lease[];
  /** How often leases are renewed and divided among the workers. */
  readonly leaseRoundMs: number;
  /** Calls back when documents of a collection have changed, or an index has new entries. */
  readonly listen?: ListenForChanges | undefined;
  countWorkers(): Promise<number>;
}

interface Habits extends Pick<PollLoopOptions, 'name' | 'idleMs' | 'gapMs'> {
  readonly hears: readonly Changing[];
  /** How long a stop waits for answers to requests in flight, and then for the last writes. */
  readonly stopMs?: { readonly answers: number; readonly lastWrites: number };
}

/** Their sum is shorter than the time that a process has to stop (platform/runtime/lifecycle.ts). */
const STOP_MS = { answers: 10_000, lastWrites: 2_000 };

/**
 * Base class of a worker whose work is divided into partitions. It takes partitions by their leases, runs one round
 * after the other, and at its end finishes open work before it gives them back. All its state is in the store, so the
 * next holder can continue after a crash.
 */
export abstract class LeasedWorker<Id extends string> {
  protected readonly partitions: Partitions;
  readonly #loop: PollLoop;
  readonly #stopMs: NonNullable<Habits['stopMs']>;

  constructor({ leases, clock, log, countWorkers, leaseRoundMs, listen }: LeasedWorkerOptions, habits: Habits) {
    this.partitions = new Partitions({
      leases,
      clock,
      log,
      countWorkers,
      isBusy: (partition) => this.hasInHand((id) => this.partitions.of(id) === partition),
      onGained: () => this.#loop.wake(),
      roundMs: leaseRoundMs,
    });
    const { hears, stopMs = STOP_MS, ...loop } = habits;
    this.#stopMs = stopMs;
    this.#loop = new PollLoop({
      ...loop,
      log,
      work: () => this.round(),
      listen: listen === undefined ? undefined : (wake) => this.#hear(listen, hears, wake),
    });
  }

  /** Throws when the store cannot be reached. */
  async start(): Promise<void> {
    await this.partitions.start();
    this.#loop.start();
  }

  /** Lets the current round end, finishes open work, and gives the partitions back. */
  async stop(): Promise<void> {
    this.close();
    await this.#loop.stop();
    const drained = this.drain();
    await within(this.#stopMs.answers, drained);
    await this.cutOff();
    await within(this.#stopMs.lastWrites, drained);
    this.giveUp();
    await this.partitions.stop();
  }

  protected abstract round(): Promise<Found>;

  /** Whether work is open for an id that matches `fits`. A partition with open work is not given away. */
  protected abstract hasInHand(fits: (id: Id) => boolean): boolean;

  /** Called when a stop begins, perhaps in the middle of a round. */
  protected close(): void {}

  /** Called after the last round. Begins nothing new; resolves when no work is open. */
  protected async drain(): Promise<void> {}

  protected async cutOff(): Promise<void> {}

  /** Leaves what could not be stored to the next holder. */
  protected giveUp(): void {}

  protected mayBringWork(): boolean {
    return true;
  }

  /** Undefined unless all of them can be watched: a loop that listens polls less often. */
  #hear(listen: ListenForChanges, hears: readonly Changing[], wake: () => void): (() => void) | undefined {
    let heard = false;
    const changed = (): void => {
      // Always pass on the first change: it shows the loop that listening works.
      if (heard && !this.mayBringWork()) return;
      heard = true;
      wake();
    };
    const ends = hears.flatMap((changing) => listen(changing, changed) ?? []);
    const end = (): void => ends.forEach((one) => void one());
    if (ends.length === hears.length) return end;
    end();
    return undefined;
  }
}

/**
 * Divides work among processes. A hash of an id (account, endpoint, batch) gives its partition; only the holder of the
 * partition's lease does the work. A process takes every free partition. If it holds more than an even part (partitions
 * ÷ living workers, rounded up), it finishes the open work of the surplus, gives it back and leaves it alone for a
 * while, so that others can take it; then it may take it again. Nobody works in a partition that is being given away,
 * so rounds are faster then, on both sides.
 */
export interface PartitionsOptions {
  /** `webhooks:0` and so on. All processes of an app must agree on their number. */
  readonly leases: readonly Lease[];
  readonly clock: Clock;
  readonly log: Log;
  /** Workers alive now, this one included. */
  countWorkers(): Promise<number>;
  isBusy(partition: number): boolean;
  /** Called when this process may work in a partition in which it could not before. */
  onGained(): void;
  readonly roundMs: number;
}

interface Partition {
  readonly lease: Lease;
  leaving: boolean;
  /** By the monotonic clock: until then the partition is left to the others. */
  leftAloneUntilMs: number;
}

/** Rounds are so much faster while a partition changes hands; open work there must end within such a round. */
const HURRY = 5;
/** For so many rounds after a worker came or went, a process with less than its part seeks faster. */
const SEEKING_ROUNDS = 3;

export class Partitions {
  readonly #options: PartitionsOptions;
  readonly #partitions: readonly Partition[];
  #workers = 0;
  #seekingUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: PartitionsOptions) {
    this.#options = options;
    this.#partitions = options.leases.map((lease) => ({ lease, leaving: false, leftAloneUntilMs: 0 }));
  }

  /** Tries once to take the partitions, then continues in the background. Throws when the store cannot be reached. */
  async start(): Promise<void> {
    await this.#keep();
    this.#schedule();
  }

  of(id: string): number {
    return partitionOf(id, this.#partitions.length);
  }

  owns(id: string): boolean {
    return this.#mayWorkIn(this.#partitions[this.of(id)]);
  }

  owned(): ReadonlySet<number> {
    return new Set([...this.#partitions.keys()].filter((n) => this.#mayWorkIn(this.#partitions[n])));
  }

  /** The first partition's holder also does the duties that one worker does for all. */
  get first(): boolean {
    return this.#partitions[0]?.lease.held === true;
  }

  get held(): number {
    return this.#partitions.filter(({ lease }) => lease.held).length;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await Promise.all(this.#partitions.map(({ lease }) => lease.release()));
  }

  #mayWorkIn(partition: Partition | undefined): boolean {
    return partition !== undefined && !partition.leaving && partition.lease.held;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#keep()
        .catch((error: unknown) => this.#options.log.warn('leases_failed', errorFields(error)))
        .then(() => this.#schedule());
    }, this.#nextMs());
  }

  #nextMs(): number {
    const { roundMs, clock } = this.#options;
    const leaves = this.#partitions.some(({ leaving }) => leaving);
    const isSeeking = clock.monotonicMs() < this.#seekingUntilMs && this.held < this.#evenPart;
    return leaves || isSeeking ? roundMs / HURRY : roundMs;
  }

  get #evenPart(): number {
    return Math.ceil(this.#partitions.length / Math.max(1, this.#workers));
  }

  async #keep(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const before = this.owned();
    const wanted = this.#partitions.filter(({ leftAloneUntilMs }) => leftAloneUntilMs <= nowMs);
    const ours = wanted.filter(({ lease }) => lease.held).map(({ lease }) => lease);
    const renewed = new Set((await Lease.renew(ours)) ? ours : []);
    await Promise.all(wanted.map(({ lease }) => renewed.has(lease) || lease.keep()));
    if ([...this.owned()].some((number) => !before.has(number))) this.#options.onGained();
    for (const [number, partition] of this.#partitions.entries()) {
      if (partition.leaving && !this.#options.isBusy(number)) await this.#leave(partition);
    }
    const workers = await this.#options.countWorkers();
    if (workers !== this.#workers) this.#seekingUntilMs = nowMs + SEEKING_ROUNDS * this.#options.roundMs;
    this.#workers = workers;
    const held = this.#partitions.filter(({ lease, leaving }) => lease.held && !leaving);
    for (const surplus of held.slice(this.#evenPart)) surplus.leaving = true;
  }

  async #leave(partition: Partition): Promise<void> {
    await partition.lease.release();
    partition.leaving = false;
    partition.leftAloneUntilMs = this.#options.clock.monotonicMs() + 2 * this.#options.roundMs;
    this.#options.log.info('partition_left', { lease: partition.lease.name });
  }
}

/** FNV-1a over the id: cheap, and the same in every process and version. */
function partitionOf(id: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % partitions;
}
