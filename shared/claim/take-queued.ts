import type { Collection, Db } from 'mongodb';
import type { AnyMessage } from '../messages/any-message.ts';
import type { Claim } from '../messages/message.ts';
import { enter } from '../messages/status.ts';
import type { Clock } from '../runtime/clock.ts';
import { crashPoint } from '../runtime/crash-point.ts';
import { type MessageId, newId } from '../runtime/ids.ts';

export interface TakerOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** The holder of the claims: a carrier, or the lease of a partition of the chat-app accounts. */
  readonly holder: string;
  /** Epoch of the lease. */
  readonly epoch: number;
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

  /** The messages that this claim took, as they are after it. After a driver's error, call `recover` first. */
  async take(picked: readonly M[]): Promise<M[]> {
    if (picked.length === 0) return [];
    const { holder, epoch, clock } = this.#options;
    const claim: Claim = { id: newId('clm'), carrier: holder, epoch, at: clock.now() };
    const ids = picked.map((message) => message._id);
    const state = enter('queued', 'submitting');
    this.#uncertain = { ids, claim };
    const { modifiedCount } = await this.#messages.updateMany(
      { _id: { $in: ids }, state: 'queued' },
      { $set: { state, claim }, $inc: { v: 1 } },
    );
    if (modifiedCount > 0) crashPoint('claim:taken');
    const taken =
      modifiedCount === picked.length
        ? picked.map((message) => ({ ...message, state, claim, v: message.v + 1 }))
        : await this.#taken(ids, claim);
    this.#uncertain = undefined;
    return taken;
  }

  /** The messages that the last claim took, if its answer was lost. */
  async recover(): Promise<M[]> {
    if (this.#uncertain === undefined) return [];
    const taken = await this.#taken(this.#uncertain.ids, this.#uncertain.claim);
    this.#uncertain = undefined;
    return taken;
  }

  async #taken(ids: readonly MessageId[], claim: Claim): Promise<M[]> {
    const mine = { _id: { $in: [...ids] }, 'claim.id': claim.id, state: 'submitting' } as const;
    return (await this.#messages.find(mine).toArray()) as M[]; // those of `picked`, which were M; a message never changes its channel
  }
}
