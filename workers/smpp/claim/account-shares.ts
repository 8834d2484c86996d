import assert from 'node:assert/strict';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';

/**
 * How much each account of one queue has got, so that a turn which was cut off (what was read ahead is believed for a moment
 * only) is made up for: without it the one who stands second is short of a few messages at every reading, and the lead of the
 * other grows as long as both have work.
 *
 * Start-time fair queueing (Goyal, Vin, Cheng 1996): an account that had no work for a while begins at what the least served
 * of the others have, so nobody saves turns up.
 */
export class AccountShares {
  readonly #had = new Map<AccountId, number>();
  /** What the least served account had at the last reading; never falls. */
  #least = 0;

  /** The same messages, in turns of at most `quantum`, each of the account that has got least; an account's own order stays. */
  inTurns(messages: readonly MessageDocument[], quantum: number): MessageDocument[] {
    const waiting = byAccount(messages);
    const had = new Map([...waiting.keys()].map((account) => [account, this.#of(account)]));
    if (had.size > 0) this.#begin(Math.min(...had.values()));
    const ordered: MessageDocument[] = [];
    while (ordered.length < messages.length) {
      const account = leastOf(had);
      const turn = waiting.get(account)?.splice(0, quantum) ?? [];
      ordered.push(...turn);
      if (turn.length < quantum) had.delete(account);
      else had.set(account, (had.get(account) ?? 0) + turn.length);
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

  /** Who has no more than `least` needs no entry. */
  #begin(least: number): void {
    this.#least = least;
    for (const [account, had] of this.#had) if (had <= least) this.#had.delete(account);
  }
}

function byAccount(messages: readonly MessageDocument[]): Map<AccountId, MessageDocument[]> {
  const groups = new Map<AccountId, MessageDocument[]>();
  for (const message of messages) {
    const group = groups.get(message.account);
    if (group === undefined) groups.set(message.account, [message]);
    else group.push(message);
  }
  return groups;
}

/** The key of the smallest value, the first of equals. */
function leastOf(had: ReadonlyMap<AccountId, number>): AccountId {
  const [first, ...others] = had;
  assert(first !== undefined, 'an account for each message');
  return others.reduce((least, one) => (one[1] < least[1] ? one : least), first)[0];
}
