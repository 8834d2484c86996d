import type { Db } from 'mongodb';
import type { Changing, ListenForChanges } from '../runtime/change-signal.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type Found, PollLoop, type PollLoopOptions } from '../runtime/poll-loop.ts';
import { within } from '../runtime/within.ts';
import type { Lease } from './lease.ts';
import { Partitions } from './partitions.ts';

/** Options of every such worker (platform/processes/run-app.ts). */
export interface LeasedWorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** One per partition. */
  readonly leases: readonly Lease[];
  /** How often leases are renewed and divided among the workers, in milliseconds. */
  readonly leaseRoundMs: number;
  /** Calls back when documents of a collection have changed, or an index has new entries. */
  readonly listen?: ListenForChanges | undefined;
  countWorkers(): Promise<number>;
}

interface Habits extends Pick<PollLoopOptions, 'name' | 'idleMs' | 'gapMs'> {
  /** Collections or indexes whose changes are likely to bring work. */
  readonly hears: readonly Changing[];
  /** How long a stop waits for answers to requests in flight, and then for the last writes. */
  readonly stopMs?: { readonly answers: number; readonly lastWrites: number };
}

/** Their sum is shorter than the time that a process has to stop (platform/runtime/lifecycle.ts). */
const STOP_MS = { answers: 10_000, lastWrites: 2_000 };

/**
 * Base class of a worker whose work is divided into partitions. It takes partitions by their leases, runs one round after the
 * other for those that it holds, and at its end finishes open work before it gives them back. All its state is in the store, so
 * the next holder can continue after a crash.
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

  /** Takes the partitions that it can get and begins. Throws when the store cannot be reached. */
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

  /** Looks for work once and begins it. */
  protected abstract round(): Promise<Found>;

  /** Whether work is open for an id that matches `fits`. A partition with open work is not given away. */
  protected abstract hasInHand(fits: (id: Id) => boolean): boolean;

  /** Called when a stop begins, perhaps in the middle of a round. */
  protected close(): void {}

  /** Called after the last round. Begins nothing new; resolves when no work is open. */
  protected async drain(): Promise<void> {}

  /** Aborts what is still in flight. */
  protected async cutOff(): Promise<void> {}

  /** Leaves what could not be stored to the next holder. */
  protected giveUp(): void {}

  /** Whether a reported change may bring work for this worker. */
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
