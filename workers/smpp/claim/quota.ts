import assert from 'node:assert/strict';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';

/** What an account, and what the lower lanes, may take of a claim while more waits than there is room for. */

/** Messages of one account in a row. Each account with a backlog costs a read of its own, so a quota is not smaller. */
const LEAST_QUOTA = 5;
const MOST_QUOTA = 15;
/** A claim is for about so many accounts. */
const ACCOUNTS_PER_CLAIM = 5;

/** Messages that one account may have in a row in a claim of this size. */
export function quotaOf(messages: number): number {
  return Math.min(Math.max(Math.ceil(messages / ACCOUNTS_PER_CLAIM), LEAST_QUOTA), MOST_QUOTA);
}

/**
 * How much each account of one queue has got. A quota can be cut off in the middle, because what was read ahead is believed
 * for a moment only. Without this count the account that comes second would miss a few messages at every reading.
 *
 * This is start-time fair queueing (Goyal, Vin, Cheng 1996): an account that had no work for a while begins with what the least
 * served of the others has had, so nobody saves up.
 */
export class AccountQuotas {
  readonly #had = new Map<AccountId, number>();
  /** What the least served account had at the last reading; never falls. */
  #least = 0;

  /** The same messages in rounds of `quota` for the account that has had least; the messages of an account stay in order. */
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

  /** One message of this account was claimed. */
  claimed(account: AccountId): void {
    this.#had.set(account, this.#of(account) + 1);
  }

  #of(account: AccountId): number {
    return Math.max(this.#had.get(account) ?? 0, this.#least);
  }

  /** Accounts that had no more than `least` need no entry. */
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

/** The key of the smallest value, the first of equals. */
function leastOf(had: ReadonlyMap<AccountId, number>): AccountId {
  const [first, ...others] = had;
  assert(first !== undefined, 'an account for each message');
  return others.reduce((least, one) => (one[1] < least[1] ? one : least), first)[0];
}

/** Part of what can be written that the lower lanes get while a higher one could fill everything. */
const LOWER_LANES_PART = 0.1;
/** Looking into the lower lanes costs reads, so they get nothing before they may have so many messages. */
const LOWER_LANES_LEAST = 3;
/** What empty lanes did not use is not saved for ever. */
const LOWER_LANES_MOST = 30;

/** What the lower lanes may have: it grows with what the highest lane with work gets. */
export class LowerLanesQuota {
  #owed = 0;

  /** Messages that the lower lanes may have now. */
  get due(): number {
    return this.#owed < LOWER_LANES_LEAST ? 0 : Math.floor(this.#owed);
  }

  /** `higher` messages of the highest lane with work were claimed, and `lower` of the lanes below it. */
  claimed(higher: number, lower: number): void {
    this.#owed = Math.min(Math.max(this.#owed + higher * LOWER_LANES_PART - lower, 0), LOWER_LANES_MOST);
  }
}
