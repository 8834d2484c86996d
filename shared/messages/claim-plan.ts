import type { AccountId } from '../runtime/ids.ts';
import type { MessageDocument } from './message.ts';

/** Lanes of `MessageDocument.lane`, the most urgent first. */
export const LANES = [0, 1, 2, 3] as const;
/** Of what can be written, this part is kept for lower lanes while a higher one could fill everything. */
export const LOWER_LANES_SHARE = 0.1;
/** Messages of one account in a row while others wait. */
export const QUANTUM = 5;

/** How much may be claimed, in both measures. */
export interface Room {
  readonly messages: number;
  readonly segments: number;
}

/**
 * Picks from what was read of one lane (accounts in order, each oldest first): a few messages of each account in turn, so that the
 * backlog of one stands before nobody. Stops when the room is used up; the message that uses it up may be longer than what
 * is left, its last segments then wait for a slot.
 */
export function pickFairly(read: readonly MessageDocument[], room: Room): MessageDocument[] {
  const byAccount = new Map<AccountId, MessageDocument[]>();
  for (const message of read) {
    const queue = byAccount.get(message.account);
    if (queue === undefined) byAccount.set(message.account, [message]);
    else queue.push(message);
  }
  const picked: MessageDocument[] = [];
  let segments = 0;
  for (let taken = 0; byAccount.size > 0; taken += QUANTUM) {
    for (const [account, queue] of byAccount) {
      for (const message of queue.slice(taken, taken + QUANTUM)) {
        if (picked.length >= room.messages || segments >= room.segments) return picked;
        picked.push(message);
        segments += message.segments;
      }
      if (queue.length <= taken + QUANTUM) byAccount.delete(account);
    }
  }
  return picked;
}

/** Turns shares of single claims, each too small to be a whole message, into whole messages now and then. */
export class LowerLanesShare {
  #owed = 0;

  /** Messages of a claim of `messages` that are for lower lanes first. */
  next(messages: number): number {
    this.#owed += messages * LOWER_LANES_SHARE;
    const whole = Math.min(Math.floor(this.#owed), messages);
    this.#owed -= whole;
    return whole;
  }
}

/** What is left of a room when some were picked; never negative. */
export function roomLeft(room: Room, picked: readonly MessageDocument[]): Room {
  return {
    messages: Math.max(room.messages - picked.length, 0),
    segments: Math.max(room.segments - picked.reduce((sum, message) => sum + message.segments, 0), 0),
  };
}
