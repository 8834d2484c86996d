import type { MessageDocument } from '../../../shared/messages/message.ts';

/** Lanes of `MessageDocument.lane`, the most urgent first. */
export const LANES = [0, 1, 2, 3, 4] as const;
/** Of what can be written, this part is kept for lower lanes while a higher one could fill everything. */
export const LOWER_LANES_SHARE = 0.1;
/** Messages of one account in a row while others wait. Each turn of an account with a backlog is a read of its own. */
const LEAST_QUANTUM = 5;
const MOST_QUANTUM = 15;
const TURNS = 5;

/** How much may be claimed, in both measures. */
export interface Room {
  readonly messages: number;
  readonly segments: number;
}

/** Messages of one account in a row in a claim of this size. */
export function quantumOf(messages: number): number {
  return Math.min(Math.max(Math.ceil(messages / TURNS), LEAST_QUANTUM), MOST_QUANTUM);
}

/** Accounts whose ids are behind `$gt` and before `$lt`, or up to `$lte`. */
export interface AccountRange {
  readonly $gt: string;
  readonly $lt?: string;
  readonly $lte?: string;
}

/** All accounts but `without`, as ranges in order: those behind the one that was served last, then from the beginning. */
export function accountTurns(servedLast: string, without: Iterable<string>): AccountRange[] {
  const holes = [...without].sort();
  const turns: AccountRange[] = [];
  let from = servedLast;
  for (const hole of holes.filter((id) => id > servedLast)) {
    turns.push({ $gt: from, $lt: hole });
    from = hole;
  }
  turns.push({ $gt: from });
  if (servedLast === '') return turns;
  from = '';
  for (const hole of holes.filter((id) => id <= servedLast)) {
    turns.push({ $gt: from, $lt: hole });
    from = hole;
  }
  if (from !== servedLast) turns.push({ $gt: from, $lte: servedLast });
  return turns;
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

/** What lower lanes may have: it grows with what the highest one gets, and looking for them costs reads, so it is used in pieces. */
export class LowerLanesShare {
  #owed = 0;

  /** Messages that lower lanes may have now. */
  get due(): number {
    return this.#owed < LEAST_SHARE ? 0 : Math.floor(this.#owed);
  }

  /** `higher` messages of the highest lane with work were claimed, and `lower` of those below it. */
  claimed(higher: number, lower: number): void {
    this.#owed = Math.min(Math.max(this.#owed + higher * LOWER_LANES_SHARE - lower, 0), MOST_SHARE);
  }
}

const LEAST_SHARE = 3;
/** What empty lanes did not use is not saved for ever. */
const MOST_SHARE = 30;
