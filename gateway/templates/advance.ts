import type { Slot } from '../../shared/templates/slot.ts';
import { SLOT_VALUES } from '../../shared/templates/slot-value.ts';
import { sliceHash } from './rolling-hash.ts';
import { type Literal, setBit, type TextBits } from './text-bits.ts';

/**
 * The set of positions in the text that some leading parts of a template can reach. Only the words from `low` to
 * `high` are defined. Slots are short, so the set stays narrow. The words around it hold leftovers of earlier uses;
 * nobody reads them, so nobody clears them.
 */
export interface Reach {
  readonly bits: Uint32Array;
  low: number;
  high: number;
}

/**
 * This many code units of a literal are compared for all positions at once. Only positions that pass are then compared one by
 * one.
 */
const CHECKED_TOGETHER = 32;
/**
 * Up to this many positions are compared one by one. More of them mean a repetitive text: then one search finds all
 * occurrences.
 */
const COMPARED_SINGLY = 4;

/** After this many requests for one literal, the whole text is searched for it once. That costs as much as some 30 requests. */
const ASKED_OFTEN = 16;

/**
 * Fills `to` with the positions after the literal, for each position of `from` where it begins. False when it begins
 * at none.
 */
export function passLiteral(scan: TextBits, literal: Literal, from: Reach, to: Reach, scratch: Uint32Array): boolean {
  const { text } = literal;
  const last = Math.min(from.high, scan.text.length - text.length);
  if (last < from.low) return false;
  const firstWord = from.low >> 5;
  const lastWord = last >> 5;
  for (let w = firstWord; w <= lastWord; w++) scratch[w] = from.bits[w] ?? 0;

  const isThere =
    scan.asked(literal) > ASKED_OFTEN
      ? keepFollowed(scratch, firstWord, lastWord, scan.occurrences(literal), 0)
      : keepBeginnings(scan, literal, scratch, firstWord, lastWord);
  if (!isThere) return false;
  to.low = from.low + text.length;
  to.high = last + text.length;
  shiftInto(to, scratch, firstWord, lastWord, text.length);
  return true;
}

/**
 * Fills `to` with the positions after a value of the slot, for each position of `from` where one can begin. False
 * when there are none.
 */
export function passSlot(scan: TextBits, slot: Slot, from: Reach, to: Reach): boolean {
  if (SLOT_VALUES[slot.type].kind === 'shape') return passShape(scan, slot, from, to);
  to.low = from.low;
  to.high = Math.min(scan.text.length, from.high + slot.max);
  const firstWord = to.low >> 5;
  const lastWord = to.high >> 5;
  const fromLast = from.high >> 5;
  for (let w = firstWord; w <= lastWord; w++) to.bits[w] = w <= fromLast ? (from.bits[w] ?? 0) : 0;
  let covered = 0;
  if (slot.min === 1) {
    if (!moveOne(to.bits, firstWord, lastWord, scan.runsOf(slot.type, 1))) return false;
    covered = 1;
  }
  // After a round, all positions up to `reach` code units further are set. The next round adds up to reach + 1 more,
  // so the number of rounds grows with the logarithm of the slot's maximum.
  for (let reach = 0, left = slot.max - covered; left > 0; ) {
    const step = Math.min(reach + 1, left, 16);
    spread(to.bits, firstWord, lastWord, scan.runsOf(slot.type, step), step);
    reach += step;
    left -= step;
  }
  return true;
}

function passShape(scan: TextBits, slot: Slot, from: Reach, to: Reach): boolean {
  to.low = from.low;
  to.high = Math.min(scan.text.length, from.high + slot.max);
  to.bits.fill(0, to.low >> 5, (to.high >> 5) + 1);
  let any = false;
  for (let w = from.low >> 5; w <= from.high >> 5; w++) {
    for (let rest = from.bits[w] ?? 0; rest !== 0; rest &= rest - 1) {
      for (const end of scan.endsOf(slot.type, slot.max, w * 32 + lowestBit(rest))) {
        setBit(to.bits, end);
        any = true;
      }
    }
  }
  return any;
}

/** Keeps the positions where the literal begins. False when none is left. */
function keepBeginnings(scan: TextBits, literal: Literal, bits: Uint32Array, first: number, last: number): boolean {
  const { text } = literal;
  const together = Math.min(text.length, CHECKED_TOGETHER);
  for (let i = 0; i < together; i++) {
    const positions = scan.positionsOf(text.charCodeAt(i));
    if (positions === undefined || !keepFollowed(bits, first, last, positions, i)) return false;
    if ((i & 3) === 3 && atMost(COMPARED_SINGLY, bits, first, last))
      return compareSingly(scan, literal, bits, first, last);
  }
  return together === text.length || keepFollowed(bits, first, last, scan.occurrences(literal), 0);
}

/** Keeps each position p for which p + `ahead` is in `positions`. `ahead` must be below 32. False when none is left. */
function keepFollowed(bits: Uint32Array, first: number, last: number, positions: Uint32Array, ahead: number): boolean {
  let any = 0;
  for (let w = first; w <= last; w++) {
    // JavaScript shifts by 0 when it is told to shift by 32.
    const carried = ahead === 0 ? 0 : (positions[w + 1] ?? 0) << (32 - ahead);
    const kept = (bits[w] ?? 0) & (((positions[w] ?? 0) >>> ahead) | carried);
    bits[w] = kept;
    any |= kept;
  }
  return any !== 0;
}

function compareSingly(scan: TextBits, literal: Literal, bits: Uint32Array, first: number, last: number): boolean {
  let any = 0;
  for (let w = first; w <= last; w++) {
    let kept = bits[w] ?? 0;
    for (let rest = kept; rest !== 0; rest &= rest - 1) {
      const at = w * 32 + lowestBit(rest);
      const hash = sliceHash(scan.hashes, at, at + literal.text.length, literal.weight);
      if (hash !== literal.hash || !scan.text.startsWith(literal.text, at)) kept &= ~(rest & -rest);
    }
    bits[w] = kept;
    any |= kept;
  }
  return any !== 0;
}

function atMost(count: number, bits: Uint32Array, first: number, last: number): boolean {
  let seen = 0;
  for (let w = first; w <= last; w++) {
    for (let rest = bits[w] ?? 0; rest !== 0; rest &= rest - 1) if (++seen > count) return false;
  }
  return true;
}

/** Shifts `bits` by `length` into `to.bits`, for the words of `to` only. */
function shiftInto(to: Reach, bits: Uint32Array, first: number, last: number, length: number): void {
  const whole = length >> 5;
  const part = length & 31;
  for (let w = to.low >> 5; w <= to.high >> 5; w++) {
    const source = w - whole;
    const here = source >= first && source <= last ? (bits[source] ?? 0) << part : 0;
    const below = part > 0 && source > first && source - 1 <= last ? (bits[source - 1] ?? 0) >>> (32 - part) : 0;
    to.bits[w] = here | below;
  }
}

/** Moves every position one code unit forward, if that code unit is allowed. False when none is left. */
function moveOne(bits: Uint32Array, first: number, last: number, runs: Uint32Array): boolean {
  let any = 0;
  for (let w = last; w >= first; w--) {
    const below = w > first ? ((bits[w - 1] ?? 0) & (runs[w - 1] ?? 0)) >>> 31 : 0;
    const moved = (((bits[w] ?? 0) & (runs[w] ?? 0)) << 1) | below;
    bits[w] = moved;
    any |= moved;
  }
  return any !== 0;
}

/**
 * Adds the positions that are `step` (1 to 16) allowed code units further. Goes from the last word to the first,
 * because each word must be read before it is overwritten.
 */
function spread(bits: Uint32Array, first: number, last: number, runs: Uint32Array, step: number): void {
  for (let w = last; w >= first; w--) {
    const own = bits[w] ?? 0;
    const below = w > first ? ((bits[w - 1] ?? 0) & (runs[w - 1] ?? 0)) >>> (32 - step) : 0;
    bits[w] = own | ((own & (runs[w] ?? 0)) << step) | below;
  }
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
