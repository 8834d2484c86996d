import assert from 'node:assert/strict';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';

/** How much an account, and how much the lower lanes, may take of a claim when more waits than there is room for. */

/** The smallest quota of an account. In a backlog each account costs a read of its own, so a quota should be worth it. */
const LEAST_QUOTA = 5;
const MOST_QUOTA = 15;
/** A claim should serve about this many accounts. */
const ACCOUNTS_PER_CLAIM = 5;

/** How many messages in a row one account may have, in a claim of this size. */
export function quotaOf(messages: number): number {
  return Math.min(Math.max(Math.ceil(messages / ACCOUNTS_PER_CLAIM), LEAST_QUOTA), MOST_QUOTA);
}

/**
 * Counts how many messages each account of one queue has got. A quota may be cut off in the middle, because what was read ahead
 * is used only for a moment. Without this count, the account that comes second would lose a few messages at every reading.
 *
 * This is start-time fair queueing (Goyal, Vin, Cheng 1996). An account that had no messages for a while starts with the count of
 * the least served account. So no account can save up quota.
 */
export class AccountQuotas {
  readonly #had = new Map<AccountId, number>();
  /** The count of the least served account at the last reading. It never falls. */
  #least = 0;

  /**
   * Orders the messages in rounds of `quota`, beginning with the account that has got least. The messages of each account stay in
   * order.
   */
  inRounds(messages: readonly MessageDocument[], quota: number): MessageDocument[] {
    const waiting = byAccount(messages);
    const had = new Map([...waiting.keys()].map((account) => [account, this.#of(account)]));
    if (had.size > 0) this.#begin(Math.min(...had.values()));
    const ordered: MessageDocument[] = [];
    while (ordered.length < messages.length) {
      const account = leastOf(had);
      const next = waiting.get(account)?.splice(0, quota) ?? [];
      ordered.push(...next);
      if (next.length < quota) had.delete(account);
      else had.set(account, (had.get(account) ?? 0) + next.length);
    }
    return ordered;
  }

  /** Notes that one message of this account was claimed. */
  claimed(account: AccountId): void {
    this.#had.set(account, this.#of(account) + 1);
  }

  #of(account: AccountId): number {
    return Math.max(this.#had.get(account) ?? 0, this.#least);
  }

  /** Starts a reading. Accounts with a count of at most `least` need no entry. */
  #begin(least: number): void {
    this.#least = least;
    for (const [account, had] of this.#had) if (had <= least) this.#had.delete(account);
  }
}

function byAccount(messages: readonly MessageDocument[]): Map<AccountId, MessageDocument[]> {
  const waiting = new Map<AccountId, MessageDocument[]>();
  for (const message of messages) {
    const others = waiting.get(message.account);
    if (others === undefined) waiting.set(message.account, [message]);
    else others.push(message);
  }
  return waiting;
}

/** The key with the smallest value. Of equal ones, the first. */
function leastOf(had: ReadonlyMap<AccountId, number>): AccountId {
  const [first, ...others] = had;
  assert(first !== undefined, 'an account for each message');
  return others.reduce((least, one) => (one[1] < least[1] ? one : least), first)[0];
}

/** The part of the room that the lower lanes get while a higher lane could use all of it. */
const LOWER_LANES_PART = 0.1;
/** Reading the lower lanes costs time, so they get nothing until they may have this many messages. */
const LOWER_LANES_LEAST = 3;
/** The most that lower lanes can save up while they are empty. */
const LOWER_LANES_MOST = 30;

/** How many messages of lower lanes may be claimed. It grows with what the highest lane with messages gets. */
export class LowerLanesQuota {
  #owed = 0;

  /** Messages that the lower lanes may have now. */
  get due(): number {
    return this.#owed < LOWER_LANES_LEAST ? 0 : Math.floor(this.#owed);
  }

  /** Notes a claim: `higher` messages of the highest lane with messages, and `lower` messages of the lanes below it. */
  claimed(higher: number, lower: number): void {
    this.#owed = Math.min(Math.max(this.#owed + higher * LOWER_LANES_PART - lower, 0), LOWER_LANES_MOST);
  }
}
