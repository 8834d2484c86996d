import type { MessageDocument } from './message.ts';

/** Lanes of `MessageDocument.lane`, the most urgent first. */
export const LANES = [0, 1, 2, 3] as const;
/** Of what can be written, this part is kept for lower lanes while a higher one could fill everything. */
export const LOWER_LANES_SHARE = 0.1;
/** Least messages of one account in a row while others wait. */
export const LEAST_QUANTUM = 5;
/** A claim visits about so many accounts that have a backlog: each visit is a read. */
export const VISITS = 4;

/** How much may be claimed, in both measures. */
export interface Room {
  readonly messages: number;
  readonly segments: number;
}

/** Messages of one account in a row in a claim of this size. */
export function quantumOf(messages: number): number {
  return Math.max(LEAST_QUANTUM, Math.ceil(messages / VISITS));
}

/** What is left of a room when some were picked; never negative. */
export function roomLeft(room: Room, picked: readonly MessageDocument[]): Room {
  return {
    messages: Math.max(room.messages - picked.length, 0),
    segments: Math.max(room.segments - picked.reduce((sum, message) => sum + message.segments, 0), 0),
  };
}

/**
 * As many from the front as there is room for. The message that uses the room up may be longer than what is left: its last
 * segments then wait for a slot, rather than that a long message waits for ever behind short ones.
 */
export function fitting(messages: readonly MessageDocument[], room: Room): MessageDocument[] {
  const picked: MessageDocument[] = [];
  let segments = 0;
  for (const message of messages) {
    if (picked.length >= room.messages || segments >= room.segments) break;
    picked.push(message);
    segments += message.segments;
  }
  return picked;
}

/** Collects the shares of single claims: looking into the lower lanes costs reads, so it is done now and then for half a claim. */
export class LowerLanesShare {
  #owed = 0;

  /** Messages of a claim of `messages` that are for lower lanes. */
  next(messages: number): number {
    this.#owed += messages * LOWER_LANES_SHARE;
    const whole = Math.min(Math.floor(this.#owed), messages);
    if (whole < messages / 2) return 0;
    this.#owed -= whole;
    return whole;
  }
}
