import type { Db } from 'mongodb';
import type { InboxItemDocument } from '../../shared/messages/chat-inbox-item.ts';
import { isCustomerUserId } from '../../shared/messages/document/recipient.ts';
import { conversationKey } from '../../shared/money/conversations/conversation.ts';
import { linkCustomers, type Pair } from '../../shared/money/conversations/names.ts';
import { readConversations } from '../../shared/money/conversations/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { MatchedMessage } from './match-statuses.ts';

/** How many linked pairs are remembered, and for how long. Then all are forgotten, and each is linked again when it is next seen. */
const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = 3_600_000;

/** Learns by which other numbers the provider knows customers. Their own messages come from these. */
export class Aliases {
  readonly #db: Db;
  readonly #clock: Clock;
  /** Pairs that are linked in the store already. Each message names its pair four times: in its answer and in three statuses. */
  readonly #linked = new Set<string>();
  #sinceMs = 0;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Links numbers that differ. May be repeated. */
  async learn(pairs: readonly Pair[]): Promise<void> {
    this.#forget(pairs.length);
    const fresh = new Map<string, Pair>();
    for (const pair of pairs) {
      const key = `${pair.account} ${pair.customer} ${pair.alias}`;
      if (pair.alias !== pair.customer && !this.#linked.has(key)) fresh.set(key, pair);
    }
    if (fresh.size === 0) return;
    await linkCustomers(this.#db, [...fresh.values()], this.#clock.now());
    for (const key of fresh.keys()) this.#linked.add(key);
  }

  /**
   * Links the number and the user id of customers who wrote, where a message names both. Nearly every message does. So a pair is
   * linked only if the user id has been used alone, without the number, before: then a conversation is stored under it.
   */
  async learnFrom(received: readonly InboxItemDocument[]): Promise<void> {
    const pairs = received.flatMap(({ account, what }): readonly Pair[] => {
      const userId = what.kind === 'message' ? what.more?.from_user_id : undefined;
      if (what.kind !== 'message' || what.from === null || typeof userId !== 'string' || !isCustomerUserId(userId))
        return [];
      return [{ account, customer: userId, alias: what.from }];
    });
    const keyOf = ({ account, customer }: Pair) => conversationKey(account, customer);
    const known = pairs.length === 0 ? new Map() : await readConversations(this.#db, pairs.map(keyOf));
    await this.learn(pairs.filter((pair) => known.has(keyOf(pair))));
  }

  #forget(room: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#linked.size + room <= REMEMBERED_MAX && nowMs - this.#sinceMs < REMEMBERED_MS) return;
    this.#linked.clear();
    this.#sinceMs = nowMs;
  }
}

/** The customers' other numbers: a status names the customer as the provider knows it (Cloud API, Webhooks: `recipient_id`). Pure. */
export function aliasPairs(matched: readonly MatchedMessage[]): readonly Pair[] {
  return matched.flatMap(({ message: { account, to }, statuses }) =>
    statuses.flatMap(({ recipient }) => (recipient === undefined ? [] : [{ account, customer: to, alias: recipient }])),
  );
}
