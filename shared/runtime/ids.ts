import { randomFillSync } from 'node:crypto';
import { systemClock } from './clock.ts';

/**
 * Ids sort by time and carry their kind: `msg_01jd8x…` is a prefix and 26 characters, 10 of time (48-bit milliseconds)
 * and 16 random (80 bits), like a ULID in lower case. Sorting by time lets every index grow at its right end.
 *
 * What follows from something has an id *derived* from it (`eventId`), so that doing the follow-up twice writes the same.
 */
type Id<Prefix extends string> = `${Prefix}_${string}`;

export type AccountId = Id<'acc'>;
export type MessageId = Id<'msg'>;
/** One debit and all that it pays for. */
export type GroupId = Id<'grp'>;
export type EndpointId = Id<'whk'>;
export type EventId = Id<'evt'>;
export type SenderId = Id<'snd'>;
/** One grouped claim of a worker, stamped on what it took. */
export type ClaimId = Id<'clm'>;
export type RequestId = Id<'req'>;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_CHARACTERS = 16;
const random = Buffer.alloc(RANDOM_CHARACTERS * 256);
let randomUsed = random.length;
let lastMs = 0;
const tail = new Uint8Array(RANDOM_CHARACTERS);

/** A new id. Ids of one process never go back in order, also within a millisecond. */
export function newId<Prefix extends string>(prefix: Prefix, nowMs: number = systemClock.now().getTime()): Id<Prefix> {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    drawRandomTail();
  } else {
    incrementTail();
  }
  let text = '';
  let time = lastMs;
  for (let i = 0; i < 10; i++) {
    text = ALPHABET.charAt(time % 32) + text;
    time = Math.floor(time / 32);
  }
  for (const value of tail) text += ALPHABET.charAt(value);
  return `${prefix}_${text}` as const;
}

/** The id of the event "this message reached this state"; one message reaches a state once. */
export function eventId(message: MessageId, state: string): EventId {
  return `evt_${message.slice(4)}_${state}` as const;
}

const MESSAGE_ID = /^msg_[0-9a-hjkmnp-tv-z]{26}$/;

export function isMessageId(value: string): value is MessageId {
  return MESSAGE_ID.test(value);
}

/** When an id was made, to the millisecond. */
export function idTime(id: string): Date {
  let ms = 0;
  for (const character of id.slice(id.indexOf('_') + 1, id.indexOf('_') + 11)) {
    ms = ms * 32 + ALPHABET.indexOf(character);
  }
  return new Date(ms);
}

function drawRandomTail(): void {
  if (randomUsed === random.length) {
    randomFillSync(random);
    randomUsed = 0;
  }
  for (let i = 0; i < RANDOM_CHARACTERS; i++) tail[i] = (random[randomUsed + i] ?? 0) & 31;
  // The highest random bit starts clear, so that increments within one millisecond cannot overflow in practice.
  tail[0] = (tail[0] ?? 0) & 15;
  randomUsed += RANDOM_CHARACTERS;
}

function incrementTail(): void {
  for (let i = RANDOM_CHARACTERS - 1; i >= 0; i--) {
    const value = (tail[i] ?? 0) + 1;
    tail[i] = value & 31;
    if (value < 32) return;
  }
}
