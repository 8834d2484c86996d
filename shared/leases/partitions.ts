import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { Lease } from './lease.ts';

/**
 * Work that belongs to something with an id (an account, an endpoint, a batch) is divided into partitions by a hash of that id.
 * Each partition has a lease, and only the lease's holder does the work. A process takes every partition that is free. When it
 * holds more than an even part (partitions ÷ living workers, rounded up), it finishes what it has in hand of the surplus, gives
 * it back and leaves it alone for a while, so that others can take it; when nobody does, it takes it again. Nobody works in a
 * partition that is being given away, so rounds follow each other faster then, on both sides.
 */
export interface PartitionsOptions {
  /** `webhooks:0` … in a fixed number: all processes of an app must agree on it. */
  readonly leases: readonly Lease[];
  readonly clock: Clock;
  readonly log: Log;
  /** Workers alive now, this one included. */
  countWorkers(): Promise<number>;
  /** Whether this process still has something of that partition in hand. */
  isBusy(partition: number): boolean;
  readonly roundMs: number;
}

interface Partition {
  readonly lease: Lease;
  leaving: boolean;
  /** By the monotonic clock: until then it is for the others. */
  leftAloneUntilMs: number;
}

/** How much sooner a round comes when a partition changes hands; what was begun in one that is to be left must end in that time. */
const HURRY = 5;
/** For so many rounds after a worker has come or gone, one that holds less than its even part looks for more in a hurry. */
const SETTLING_ROUNDS = 3;

export class Partitions {
  readonly #options: PartitionsOptions;
  readonly #partitions: readonly Partition[];
  #workers = 0;
  #settlingUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: PartitionsOptions) {
    this.#options = options;
    this.#partitions = options.leases.map((lease) => ({ lease, leaving: false, leftAloneUntilMs: 0 }));
  }

  /** Tries once to take the partitions, then goes on in the background. Throws when the store cannot be asked. */
  async start(): Promise<void> {
    await this.#keep();
    this.#schedule();
  }

  /** The number of the partition that an id falls into. */
  of(id: string): number {
    return partitionOf(id, this.#partitions.length);
  }

  /** Whether this process may work on what has that id now. */
  owns(id: string): boolean {
    return this.#mayWorkIn(this.#partitions[this.of(id)]);
  }

  /** The partitions that it may work in now, by number. */
  owned(): ReadonlySet<number> {
    return new Set([...this.#partitions.keys()].filter((n) => this.#mayWorkIn(this.#partitions[n])));
  }

  /** Whether this process holds the first partition. A duty that one worker does for all of them goes with it. */
  get first(): boolean {
    return this.#partitions[0]?.lease.held === true;
  }

  /** How many it holds. */
  get held(): number {
    return this.#partitions.filter(({ lease }) => lease.held).length;
  }

  /** Gives all back. The caller has finished what it had in hand. */
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
    const seeks = clock.monotonicMs() < this.#settlingUntilMs && this.held < this.#evenPart;
    return leaves || seeks ? roundMs / HURRY : roundMs;
  }

  get #evenPart(): number {
    return Math.ceil(this.#partitions.length / Math.max(1, this.#workers));
  }

  async #keep(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const wanted = this.#partitions.filter(({ leftAloneUntilMs }) => leftAloneUntilMs <= nowMs);
    const ours = wanted.filter(({ lease }) => lease.held).map(({ lease }) => lease);
    const renewed = new Set((await Lease.renew(ours)) ? ours : []);
    await Promise.all(wanted.map(({ lease }) => renewed.has(lease) || lease.keep()));
    for (const [number, partition] of this.#partitions.entries()) {
      if (partition.leaving && !this.#options.isBusy(number)) await this.#leave(partition);
    }
    const workers = await this.#options.countWorkers();
    if (workers !== this.#workers) this.#settlingUntilMs = nowMs + SETTLING_ROUNDS * this.#options.roundMs;
    this.#workers = workers;
    const held = this.#partitions.filter(({ lease, leaving }) => lease.held && !leaving);
    for (const surplus of held.slice(this.#evenPart)) surplus.leaving = true;
  }

  async #leave(partition: Partition): Promise<void> {
    await partition.lease.release();
    partition.leaving = false;
    partition.leftAloneUntilMs = this.#options.clock.monotonicMs() + 2 * this.#options.roundMs;
    this.#options.log.info('share_left', { lease: partition.lease.name });
  }
}

/** FNV-1a over the id: cheap, and the same in every process and version. */
export function partitionOf(id: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % partitions;
}
