import type { Collection, Db } from 'mongodb';
import { QueuedTaker } from '../../shared/claim/take-queued.ts';
import { CHAT_LANE, CHAT_PATH, type ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { SendKind } from './standings.ts';

export interface ChatClaimerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly account: AccountId;
  /** Lease of the account's partition, and its epoch. Every claim stores both. */
  readonly lease: string;
  readonly epoch: number;
}

const QUEUE = { path: CHAT_PATH, lane: CHAT_LANE, state: 'queued' } as const;
const IN_ORDER = { lane: 1, account: 1, _id: 1 } as const;

/**
 * Takes queued messages of one account: they change from queued to submitting. Only the holder of the partition claims, so there
 * is no race.
 */
export class ChatClaimer {
  readonly #options: ChatClaimerOptions;
  readonly #messages: Collection<ChatMessageDocument>;
  readonly #taker: QueuedTaker<ChatMessageDocument>;

  constructor(options: ChatClaimerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
    const { db, clock, lease: holder, epoch } = options;
    this.#taker = new QueuedTaker({ db, clock, holder, epoch });
  }

  /**
   * The oldest queued message of each customer, except the customers in `without`; at most `limit`. With `kind` only of
   * messages of that kind. Leaves expired messages to the maintenance.
   */
  async queued(limit: number, without: readonly string[], kind?: SendKind): Promise<ChatMessageDocument[]> {
    const { account, clock } = this.#options;
    const found = await this.#messages
      .find({
        ...QUEUE,
        account,
        validUntil: { $gt: clock.now() },
        ...(without.length === 0 ? {} : { to: { $nin: [...without] } }),
        ...(kind === undefined ? {} : { 'content.kind': kind === 'template' ? kind : { $ne: 'template' } }),
      })
      .sort(IN_ORDER)
      .limit(limit)
      .toArray();
    const first = new Map<string, ChatMessageDocument>();
    for (const message of found) if (!first.has(message.to)) first.set(message.to, message);
    return [...first.values()];
  }

  /** Claims the messages. Returns those that are ours now, as they are after the claim. */
  take(messages: readonly ChatMessageDocument[]): Promise<ChatMessageDocument[]> {
    return this.#taker.take(messages);
  }

  /** Number of messages of a claim whose answer from the store is missing. */
  get uncertain(): number {
    return this.#taker.uncertain;
  }

  /** Finds the messages of a claim whose answer from the store was lost. */
  recover(): Promise<ChatMessageDocument[]> {
    return this.#taker.recover();
  }
}

/** Messages that one read covers, of any number of accounts. */
const PAGE = 32;

/**
 * Finds accounts with queued chat-app messages, after `after` in the order of their ids, by one read of the queue's index.
 * `more`: there may be other accounts after the last one. To skip the backlog of one account, ask again with that account as
 * `after`.
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
