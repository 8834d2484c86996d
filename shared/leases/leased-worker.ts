import type { Db } from 'mongodb';
import type { ListenForChanges } from '../mongo/change-signal.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { PollLoop, type PollLoopOptions } from '../runtime/poll-loop.ts';
import { within } from '../runtime/within.ts';
import type { Lease } from './lease.ts';
import { Partitions } from './partitions.ts';

/** What every such worker is given (processes/run-leased.ts). */
export interface LeasedWorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** One per partition. */
  readonly leases: readonly Lease[];
  /** How often leases are renewed and divided among the workers, in milliseconds. */
  readonly leaseRoundMs: number;
  /** Tells that documents of a collection have changed. */
  readonly listen?: ListenForChanges | undefined;
  countWorkers(): Promise<number>;
}

interface Habits extends Pick<PollLoopOptions, 'name' | 'idleMs' | 'gapMs'> {
  /** Collections in which a change makes work likely. */
  readonly hears: readonly string[];
  /** How long a stop waits for the answers to what is in flight, and then for the last writes. */
  readonly stopMs?: { readonly answers: number; readonly lastWrites: number };
}

/** Together shorter than a process has to stop (runtime/lifecycle.ts). */
const STOP_MS = { answers: 10_000, lastWrites: 2_000 };

/**
 * The skeleton of a worker whose work is divided into partitions: takes partitions by their leases, does one round after the
 * other in those that it holds, and at its end finishes what is in hand before it gives them back. All that it knows is in
 * the store, so that the next holder can go on after a crash.
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

  /** Takes what partitions it can and begins. Throws when the store cannot be asked. */
  async start(): Promise<void> {
    await this.partitions.start();
    this.#loop.start();
  }

  /** Lets the round in progress end, finishes what is in hand, and gives the partitions back. */
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

  /** Looks for work once and begins it; whether there may be more at once. */
  protected abstract round(): Promise<'more' | 'idle'>;

  /** Whether anything is in hand that belongs to an id which fits. Such a partition is not given away. */
  protected abstract hasInHand(fits: (id: Id) => boolean): boolean;

  /** A stop begins, perhaps in the middle of a round. */
  protected close(): void {}

  /** The last round has ended. Begins nothing new, and resolves when nothing is in hand any more. */
  protected async drain(): Promise<void> {}

  /** What is still in flight ends now. */
  protected async cutOff(): Promise<void> {}

  /** What could not be stored so far is left to the next holder. */
  protected giveUp(): void {}

  /** Whether a change that was heard may be work for this worker. */
  protected minds(): boolean {
    return true;
  }

  /** Undefined unless all of them can be heard: a loop that listens looks less often by itself. */
  #hear(listen: ListenForChanges, collections: readonly string[], wake: () => void): (() => void) | undefined {
    let heard = false;
    const changed = (): void => {
      // The first one always: it tells the loop that it is not deaf.
      if (heard && !this.minds()) return;
      heard = true;
      wake();
    };
    const ends = collections.flatMap((collection) => listen(collection, changed) ?? []);
    return ends.length === collections.length ? () => ends.forEach((end) => void end()) : undefined;
  }
}
