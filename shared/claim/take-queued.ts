import type { Collection, Db, Filter } from 'mongodb';
import type { AnyMessage } from '../messages/any-message.ts';
import type { Claim, MessageDocument } from '../messages/message.ts';
import { enter } from '../messages/status.ts';
import { findAtOnce } from '../mongo/find-at-once.ts';
import { findEachForSure } from '../mongo/find-one.ts';
import type { Clock } from '../runtime/clock.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import { type MessageId, newId } from '../runtime/ids.ts';

const SUBMITTING = enter('queued', 'submitting');

export interface TakerOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** The holder of the claims: a carrier, or the lease of a partition of the chat-app accounts. */
  readonly holder: string;
  /** Epoch of the lease. */
  readonly epoch: number;
}

/**
 * Reads the first messages that match, in the order of paths, lanes, accounts and ids. Expired messages are left to the
 * maintenance.
 */
export function readQueued(
  { db, clock }: Pick<TakerOptions, 'db' | 'clock'>,
  filter: Filter<MessageDocument>,
  limit: number,
): Promise<MessageDocument[]> {
  return findAtOnce<MessageDocument>(db, 'messages', {
    filter: { ...filter, state: 'queued', validUntil: { $gt: clock.now() } },
    sort: { path: 1, lane: 1, account: 1, _id: 1 },
    limit,
  });
}

/**
 * The claim itself: one update moves many messages from queued to submitting and stamps each with the claim. When two workers
 * want the same message, one gets it. The other sees that its update matched fewer messages and reads which ones it got.
 */
export class QueuedTaker<M extends AnyMessage> {
  readonly #options: TakerOptions;
  readonly #messages: Collection<AnyMessage>;
  /** A claim whose answer was lost; it may have been made. Nobody else looks for the messages that it took. */
  #uncertain: { readonly ids: readonly MessageId[]; readonly claim: Claim } | undefined;

  constructor(options: TakerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
  }

  /** Number of messages of a claim that is not answered, or whose answer was lost. */
  get uncertain(): number {
    return this.#uncertain?.ids.length ?? 0;
  }

  /** The messages that this claim took, as they are after it. After a driver's error, call `recover` first. */
  async take(picked: readonly M[]): Promise<M[]> {
    if (picked.length === 0) return [];
    const { holder, epoch, clock } = this.#options;
    const claim: Claim = { id: newId('clm'), carrier: holder, epoch, at: clock.now() };
    const ids = picked.map((message) => message._id);
    this.#uncertain = { ids, claim };
    const count = await this.#stamp(ids, claim);
    if (count > 0) crashPoint('claim:taken');
    const taken =
      count === picked.length
        ? picked.map((message) => ({ ...message, state: SUBMITTING, claim, v: message.v + 1 }))
        : await this.#taken(ids, claim, count);
    this.#uncertain = undefined;
    return taken;
  }

  /**
   * If the answer to the last claim was lost: makes the claim once more, and returns what both attempts took together. The first
   * one, if it is still on its way, then finds nothing to take. What is returned is stored by a majority of the store's members, so
   * that no failover undoes the claim and another worker sends the message too.
   */
  async recover(): Promise<M[]> {
    if (this.#uncertain === undefined) return [];
    const { ids, claim } = this.#uncertain;
    await this.#stamp(ids, claim);
    const taken = await this.#takenForSure(ids, claim);
    this.#uncertain = undefined;
    return taken;
  }

  /** Takes what is still queued, except what this claim took before and gave back. Returns how many. */
  async #stamp(ids: readonly MessageId[], claim: Claim): Promise<number> {
    const { modifiedCount } = await this.#messages.updateMany(
      { _id: { $in: [...ids] }, state: 'queued', 'claim.id': { $ne: claim.id } },
      { $set: { state: SUBMITTING, claim }, $inc: { v: 1 } },
    );
    return modifiedCount;
  }

  /** The `count` messages that an answered claim took. A primary that was just replaced may show fewer: then it asks for sure. */
  async #taken(ids: readonly MessageId[], claim: Claim, count: number): Promise<M[]> {
    const found = await this.#messages.find({ _id: { $in: [...ids] }, ...takenBy(claim) }).toArray();
    return found.length < count ? this.#takenForSure(ids, claim) : (found as M[]); // those of `picked`, which were M
  }

  async #takenForSure(ids: readonly MessageId[], claim: Claim): Promise<M[]> {
    const mine = ids.map((_id) => ({ _id, ...takenBy(claim) }));
    return (await findEachForSure(this.#messages, mine)) as M[]; // as above; a message never changes its channel
  }
}

function takenBy({ id }: Claim) {
  return { 'claim.id': id, state: SUBMITTING } as const;
}
