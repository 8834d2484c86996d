import assert from 'node:assert/strict';
import type { MessageDocument } from '../../../shared/messages/message.ts';

/** How much an account, a path, and how much the lower lanes, may take of a claim when more waits than there is room for. */

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
 * Counts how many messages each account of one queue has got, or each path of one lane. A quota may be cut off in the middle,
 * because what was read ahead is used only for a moment. Without this count, whoever comes second would lose a few messages at
 * every reading.
 *
 * This is start-time fair queueing (Goyal, Vin, Cheng 1996). An account or path that had no messages for a while starts with the
 * count of the least served. So none can save up quota.
 */
export class Quotas<K extends 'account' | 'path'> {
  readonly #by: K;
  readonly #had = new Map<MessageDocument[K], number>();
  /** The count of the least served at the last reading. It never falls. */
  #least = 0;

  constructor(by: K) {
    this.#by = by;
  }

  /**
   * Orders the messages in rounds of `quota`, beginning with the account or path that has got least. The messages of each stay in
   * order.
   */
  inRounds(messages: readonly MessageDocument[], quota: number): MessageDocument[] {
    const waiting = this.#divided(messages);
    const had = new Map([...waiting.keys()].map((key) => [key, this.#of(key)]));
    if (had.size > 0) this.#begin(Math.min(...had.values()));
    const ordered: MessageDocument[] = [];
    while (ordered.length < messages.length) {
      const key = leastOf(had);
      const next = waiting.get(key)?.splice(0, quota) ?? [];
      ordered.push(...next);
      if (next.length < quota) had.delete(key);
      else had.set(key, (had.get(key) ?? 0) + next.length);
    }
    return ordered;
  }

  /** Notes that this message was claimed. */
  claimed(message: MessageDocument): void {
    const key = message[this.#by];
    this.#had.set(key, this.#of(key) + 1);
  }

  #of(key: MessageDocument[K]): number {
    return Math.max(this.#had.get(key) ?? 0, this.#least);
  }

  /** Starts a reading. Those with a count of at most `least` need no entry. */
  #begin(least: number): void {
    this.#least = least;
    for (const [key, had] of this.#had) if (had <= least) this.#had.delete(key);
  }

  #divided(messages: readonly MessageDocument[]): Map<MessageDocument[K], MessageDocument[]> {
    const waiting = new Map<MessageDocument[K], MessageDocument[]>();
    for (const message of messages) {
      const others = waiting.get(message[this.#by]);
      if (others === undefined) waiting.set(message[this.#by], [message]);
      else others.push(message);
    }
    return waiting;
  }
}

/** The key with the smallest value. Of equal ones, the first. */
function leastOf<K>(had: ReadonlyMap<K, number>): K {
  const [first, ...others] = had;
  assert(first !== undefined, 'a key for each message');
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
