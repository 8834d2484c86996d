import type { Collection, Db, Document } from 'mongodb';
import { isDuplicateKey, storeTrouble } from '../mongo/errors.ts';
import { msAfter, msOf, NOW_MS } from '../mongo/store-time.ts';
import type { Clock } from '../runtime/clock.ts';
import { identityText, isGone, type ProcessIdentity, parseIdentity, thisProcess } from '../runtime/process-identity.ts';

/**
 * A lease gives one process a duty (a carrier's binds, a partition of the webhook endpoints, the maintenance). It runs
 * by the store's time (`$$NOW`), so the machines' clocks need not agree. Every new holder gets a higher `epoch`, and
 * every settle filters on it, so a holder that was frozen and wakes up late writes nothing.
 */
export interface LeaseDocument {
  readonly _id: string;
  /** `identityText` of the holder. */
  readonly owner: string;
  readonly epoch: number;
  readonly until: Date;
}

interface LeaseOptions {
  readonly name: string;
  readonly db: Db;
  readonly clock: Clock;
  readonly ttlMs?: number;
  /** This process, unless a test plays several. */
  readonly identity?: ProcessIdentity;
}

export const LEASE_TTL_MS = 15_000;
/** The holder stops acting this long before the store would let another process take the lease. */
const MARGIN_MS = 3_000;
/** `until` of a lease that nobody holds. */
const NEVER = new Date(0);
/** A slow read proves nothing about the time before it: the store may have been away, for the holder too. */
const SLOW_LOOK_MS = 2_000;
/**
 * Several may make a lease's first document at once. MongoDB then fails all but one with a duplicate key (its manual:
 * reference/command/findAndModify/, "Upsert with Unique Index"); other servers return no document, although the update
 * is done.
 */
const TRIES = 5;

/** Another holder's lease, as seen in consecutive reads, by the monotonic clock. */
interface Watched {
  readonly epoch: number;
  readonly until: Date;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/**
 * For this process a lease is in one of three states:
 *
 * | state      | epoch | it may act | it becomes                                                                               |
 * | ---------- | ----- | ---------- | ---------------------------------------------------------------------------------------- |
 * | another's  | 0     | no         | held: by `keep`, when nobody holds it, its holder is gone, or it was not renewed in time |
 * | held       | > 0   | yes        | run out: when no `keep` or `renew` came in time; another's: by `release`                 |
 * | run out    | > 0   | no         | held, with the same epoch: by `keep`, when nobody took it; another's: by `keep`, if taken |
 */
export class Lease {
  readonly name: string;
  readonly #leases: Collection<LeaseDocument>;
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #me: string;
  #epoch = 0;
  /** From before the request: the store's time is later than that, never earlier. */
  #renewed: Moment = LONG_AGO;
  #watched: Watched | undefined;

  constructor(options: LeaseOptions) {
    this.name = options.name;
    this.#leases = options.db.collection('leases');
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs ?? LEASE_TTL_MS;
    this.#me = identityText(options.identity ?? thisProcess());
  }

  /** Check it right before every effect that only the holder may have (a write to a carrier). */
  get held(): boolean {
    return this.#epoch > 0 && msSince(this.#renewed, this.#clock) < this.#ttlMs - MARGIN_MS;
  }

  /** The fencing number; 0 while not held. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether it is time for the next `keep`. A failed `keep` is due again sooner than a successful one. */
  get due(): boolean {
    return msSince(this.#renewed, this.#clock) >= this.#ttlMs / 3;
  }

  /**
   * Takes or renews the lease; returns whether it is held now. Call it about every third of the TTL. Usually one round trip.
   *
   * Another's lease is taken
   * - when it is free, or its holder was a process of this machine that has ended;
   * - when it has run out by the store's time and was seen unrenewed for half a TTL. After a long outage of the store all leases
   *   have run out, and their holders should renew first: they may know outcomes that nobody else knows;
   * - when it was seen unrenewed for a whole TTL, whatever the store's time: that may have gone back at a failover.
   *
   * Our own is renewed with the same epoch, even when it has run out, if nobody took it.
   */
  async keep(): Promise<boolean> {
    const before = this.#watched;
    this.#watched = undefined;
    let asked = momentOf(this.#clock);
    let lease = await this.#take(this.#epoch > 0 ? { epoch: this.#epoch, owner: this.#me } : undefined);
    if (lease.owner !== this.#me) {
      const seen = this.#watch(lease, before, asked.monotonicMs);
      if (isGone(parseIdentity(lease.owner), parseIdentity(this.#me))) lease = await this.#take(lease);
      else if (seen.lastMs - seen.sinceMs >= this.#ttlMs / 2) lease = await this.#take(undefined, seen);
      this.#watched = seen;
    }
    if (lease.owner === this.#me && lease.epoch !== this.#epoch) {
      // Taken just now, or earlier by a request whose answer was lost. Only a renewal tells how long it is ours.
      asked = momentOf(this.#clock);
      lease = await this.#take(lease);
    }
    if (lease.owner !== this.#me) {
      this.#epoch = 0;
      return false;
    }
    this.#epoch = lease.epoch;
    this.#renewed = asked;
    return true;
  }

  /** One update for leases of one process and TTL. False when some were not renewed: then `keep` each. */
  static async renew(leases: readonly Lease[]): Promise<boolean> {
    const [first] = leases;
    if (first === undefined || !leases.every((lease) => lease.held)) return false;
    const asked = momentOf(first.#clock);
    const { matchedCount } = await first.#leases.updateMany(
      // A process that takes one of our leases writes its own name there.
      { _id: { $in: leases.map(({ name }) => name) }, owner: first.#me },
      [{ $set: { until: msAfter('$$NOW', first.#ttlMs) } }],
    );
    if (matchedCount < leases.length) return false;
    for (const lease of leases) lease.#renewed = asked;
    return true;
  }

  /** Gives the lease back, so that the next holder need not wait. Idempotent. */
  async release(): Promise<void> {
    if (this.#epoch === 0) return;
    const epoch = this.#epoch;
    this.#epoch = 0;
    await this.#leases.updateOne({ _id: this.name, epoch, owner: this.#me }, { $set: { until: NEVER } });
  }

  /** The time since `before` counts on if the lease is unchanged and the store was reachable throughout. */
  #watch({ epoch, until }: LeaseDocument, before: Watched | undefined, askedMs: number): Watched {
    const lastMs = this.#clock.monotonicMs();
    const same = before?.epoch === epoch && before.until.getTime() === until.getTime();
    const unbroken = same && lastMs - askedMs < SLOW_LOOK_MS && askedMs - before.lastMs <= this.#ttlMs / 2;
    return { epoch, until, sinceMs: unbroken ? before.sinceMs : lastMs, lastMs };
  }

  /** Unrenewed for a whole TTL, so its holder has stopped acting (`MARGIN_MS`); or run out by store time. */
  #isOver({ sinceMs, lastMs }: Watched, until: object): Document | true {
    return lastMs - sinceMs >= this.#ttlMs || { $lte: [msOf(until), NOW_MS] };
  }

  /**
   * One atomic update. Takes the lease for a TTL when it is free, held by exactly `displace`, or run out and unchanged
   * since `watched`. A renewal (`displace` is this process) keeps the epoch; any other take raises it. Returns the
   * lease as it is afterwards, whoever holds it.
   */
  async #take(
    displace: { readonly epoch: number; readonly owner: string } | undefined,
    watched?: Watched,
  ): Promise<LeaseDocument> {
    const renews = displace?.owner === this.#me;
    const displaced =
      displace === undefined
        ? false
        : { $and: [{ $eq: ['$epoch', displace.epoch] }, { $eq: ['$owner', displace.owner] }] };
    const until = { $ifNull: ['$until', NEVER] };
    const runOut =
      watched === undefined ? false : { $and: [{ $eq: [until, watched.until] }, this.#isOver(watched, until)] };
    const pipeline: Document[] = [
      { $set: { displaced, taken: { $or: [displaced, { $eq: [until, NEVER] }, runOut] } } },
      {
        $set: {
          owner: { $cond: ['$taken', this.#me, '$owner'] },
          until: { $cond: ['$taken', msAfter('$$NOW', this.#ttlMs), '$until'] },
          epoch: {
            $cond: [
              { $and: ['$taken', renews ? { $not: ['$displaced'] } : true] },
              { $add: [{ $ifNull: ['$epoch', 0] }, 1] },
              '$epoch',
            ],
          },
        },
      },
      { $unset: ['displaced', 'taken'] },
    ];
    for (let tries = 1; tries <= TRIES; tries++) {
      const lease = await this.#update(pipeline);
      if (lease !== undefined) return lease;
    }
    throw storeTrouble('an upsert returned no lease');
  }

  /** Undefined when another process made the lease's first document at the same moment: the next try finds that. */
  async #update(pipeline: readonly Document[]): Promise<LeaseDocument | undefined> {
    try {
      const options = { upsert: true, returnDocument: 'after' } as const;
      return (await this.#leases.findOneAndUpdate({ _id: this.name }, [...pipeline], options)) ?? undefined;
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }
}

/** A time of this process, by both of its clocks. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const LONG_AGO: Moment = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: Number.NEGATIVE_INFINITY };

function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.now().getTime() };
}

/** By the faster clock: the monotonic one stands still in suspend, the other may be set back. */
function msSince({ monotonicMs, wallMs }: Moment, clock: Clock): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.now().getTime() - wallMs);
}

/**
 * The epochs of the leases held at `now`, by name. `now` is this machine's time, so the result is as exact as the
 * clocks. A lease whose holder was a process of this machine that has ended is not held.
 */
export async function heldEpochs(db: Db, names: readonly string[], now: Date): Promise<ReadonlyMap<string, number>> {
  const leases = await db
    .collection<LeaseDocument>('leases')
    .find({ _id: { $in: [...names] }, until: { $gt: now } })
    .toArray();
  const here = thisProcess();
  const held = leases.filter(({ owner }) => !isGone(parseIdentity(owner), here));
  return new Map(held.map(({ _id, epoch }) => [_id, epoch]));
}
