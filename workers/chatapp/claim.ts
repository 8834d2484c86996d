import type { Collection, Db } from 'mongodb';
import { CHAT_LANE, CHAT_PATH, type ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { Claim } from '../../shared/messages/message.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { type AccountId, type MessageId, newId } from '../../shared/runtime/ids.ts';

export interface ChatClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly account: AccountId;
  /** Of the share under which the account is served; both stand in the claim. */
  readonly lease: string;
  readonly epoch: number;
}

const QUEUE = { path: CHAT_PATH, lane: CHAT_LANE, state: 'queued' } as const;
const IN_ORDER = { lane: 1, account: 1, _id: 1 } as const;

/** Takes queued messages of one account: queued → submitting. Only the holder of the share does, so nobody is raced with. */
export class ChatClaimer {
  readonly #options: ChatClaimerOptions;
  readonly #messages: Collection<ChatMessageDocument>;
  /** A claim whose answer was lost: what it took is ours and was never written, and nobody else would find it. */
  #uncertain: { readonly ids: readonly MessageId[]; readonly claim: Claim } | undefined;

  constructor(options: ChatClaimerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
  }

  /** The oldest queued message of each customer but those of `without`; at most `limit`. What has expired is left to the maintenance. */
  async queued(limit: number, without: readonly string[]): Promise<ChatMessageDocument[]> {
    const { account, clock } = this.#options;
    const found = await this.#messages
      .find({
        ...QUEUE,
        account,
        validUntil: { $gt: clock.now() },
        ...(without.length === 0 ? {} : { to: { $nin: [...without] } }),
      })
      .sort(IN_ORDER)
      .limit(limit)
      .toArray();
    const first = new Map<string, ChatMessageDocument>();
    for (const message of found) if (!first.has(message.to)) first.set(message.to, message);
    return [...first.values()];
  }

  /** Those of the messages that are ours now, as they are after the claim. */
  async take(messages: readonly ChatMessageDocument[]): Promise<ChatMessageDocument[]> {
    if (messages.length === 0) return [];
    const { lease, epoch, clock } = this.#options;
    const claim: Claim = { id: newId('clm'), carrier: lease, epoch, at: clock.now() };
    const ids = messages.map(({ _id }) => _id);
    this.#uncertain = { ids, claim };
    const { modifiedCount } = await this.#messages.updateMany(
      { _id: { $in: ids }, state: 'queued' },
      { $set: { state: 'submitting', claim }, $inc: { v: 1 } },
    );
    const taken =
      modifiedCount === messages.length
        ? messages.map((message) => ({ ...message, state: 'submitting' as const, claim, v: message.v + 1 }))
        : await this.#taken(ids, claim);
    this.#uncertain = undefined;
    return taken;
  }

  /** What a claim took whose answer was lost. */
  async recover(): Promise<ChatMessageDocument[]> {
    if (this.#uncertain === undefined) return [];
    const taken = await this.#taken(this.#uncertain.ids, this.#uncertain.claim);
    this.#uncertain = undefined;
    return taken;
  }

  #taken(ids: readonly MessageId[], claim: Claim): Promise<ChatMessageDocument[]> {
    return this.#messages.find({ _id: { $in: [...ids] }, 'claim.id': claim.id, state: 'submitting' }).toArray();
  }
}

/** Messages that one look reads, of as many accounts as they happen to be. */
const PAGE = 32;

/**
 * Accounts that have queued chat-app messages, behind `after` in the order of their ids. `more`: there may be others behind the
 * last. One read of the queue's index; the backlog of one account is skipped by asking again behind it.
 */
export async function accountsWithWork(
  db: Db,
  after: string,
): Promise<{ readonly accounts: readonly AccountId[]; readonly more: boolean }> {
  const found = await db
    .collection<Pick<ChatMessageDocument, '_id' | 'account'>>('messages')
    .find({ ...QUEUE, account: { $gt: after } } as object, { projection: { account: 1 } }) // '' is before every id
    .sort(IN_ORDER)
    .limit(PAGE)
    .toArray();
  return { accounts: [...new Set(found.map(({ account }) => account))], more: found.length === PAGE };
}
