import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { Lease } from './lease.ts';

/**
 * Work that belongs to something with an id (an endpoint, a batch) is dealt out in shares by a hash of that id; each share
 * is a lease, and only its holder does the work in it. A process takes every share that is free. When it holds more than its
 * part (shares ÷ living workers, rounded up), it finishes what it has in hand of some, gives them back and leaves them alone
 * for a while, so that the others can take them; when nobody does, it takes them again. In a share that is being given away
 * nobody works, so rounds then follow each other faster, on both sides.
 */
export interface SharesOptions {
  /** `webhooks:0` … in a fixed number: all processes of an app must agree on it. */
  readonly leases: readonly Lease[];
  readonly clock: Clock;
  readonly log: Log;
  /** Workers alive now, this one included. */
  countWorkers(): Promise<number>;
  /** Whether this process still has something of that share in hand. */
  isBusy(share: number): boolean;
  readonly roundMs: number;
}

interface Share {
  readonly lease: Lease;
  leaving: boolean;
  /** By the monotonic clock: until then it is for the others. */
  leftAloneUntilMs: number;
}

/** In a hurry a round comes so many times sooner; what was begun in a share that is to be left has that long to be in hand. */
const HURRY = 5;
/** For so many rounds after a worker has come or gone, one that holds less than its part looks for more in a hurry. */
const SETTLING_ROUNDS = 3;

export class Shares {
  readonly #options: SharesOptions;
  readonly #shares: readonly Share[];
  #workers = 0;
  #settlingUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: SharesOptions) {
    this.#options = options;
    this.#shares = options.leases.map((lease) => ({ lease, leaving: false, leftAloneUntilMs: 0 }));
  }

  /** Tries once to take the shares, then goes on in the background. Throws when the store cannot be asked. */
  async start(): Promise<void> {
    await this.#keep();
    this.#schedule();
  }

  /** Whether this process may work on what has that id now. */
  owns(id: string): boolean {
    return this.#ownsShare(this.#shares[shareOf(id, this.#shares.length)]);
  }

  /** The shares that it may work on now, by number. */
  owned(): ReadonlySet<number> {
    return new Set([...this.#shares.keys()].filter((n) => this.#ownsShare(this.#shares[n])));
  }

  /** Whether this process holds the first share: duties that one worker does for all go with it. */
  get first(): boolean {
    return this.#shares[0]?.lease.held === true;
  }

  /** How many it holds. */
  get held(): number {
    return this.#shares.filter(({ lease }) => lease.held).length;
  }

  /** Gives all back. The caller has finished what it had in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await Promise.all(this.#shares.map(({ lease }) => lease.release()));
  }

  #ownsShare(share: Share | undefined): boolean {
    return share !== undefined && !share.leaving && share.lease.held;
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
    const leaves = this.#shares.some(({ leaving }) => leaving);
    const seeks = clock.monotonicMs() < this.#settlingUntilMs && this.held < this.#part;
    return leaves || seeks ? roundMs / HURRY : roundMs;
  }

  get #part(): number {
    return Math.ceil(this.#shares.length / Math.max(1, this.#workers));
  }

  async #keep(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const wanted = this.#shares.filter(({ leftAloneUntilMs }) => leftAloneUntilMs <= nowMs);
    const ours = wanted.filter(({ lease }) => lease.held).map(({ lease }) => lease);
    const renewed = new Set((await Lease.renew(ours)) ? ours : []);
    await Promise.all(wanted.map(({ lease }) => renewed.has(lease) || lease.keep()));
    for (const [number, share] of this.#shares.entries()) {
      if (share.leaving && !this.#options.isBusy(number)) await this.#leave(share);
    }
    const workers = await this.#options.countWorkers();
    if (workers !== this.#workers) this.#settlingUntilMs = nowMs + SETTLING_ROUNDS * this.#options.roundMs;
    this.#workers = workers;
    const held = this.#shares.filter(({ lease, leaving }) => lease.held && !leaving);
    for (const share of held.slice(this.#part)) share.leaving = true;
  }

  async #leave(share: Share): Promise<void> {
    await share.lease.release();
    share.leaving = false;
    share.leftAloneUntilMs = this.#options.clock.monotonicMs() + 2 * this.#options.roundMs;
    this.#options.log.info('share_left', { lease: share.lease.name });
  }
}

/** FNV-1a over the id: cheap, and the same in every process and version. */
export function shareOf(id: string, shares: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % shares;
}
