import type { Pattern, PatternPart } from '../../../../shared/templates/sms/pattern.ts';
import type { Slot } from '../../../../shared/templates/sms/slot.ts';
import { SLOT_VALUES } from '../../../../shared/templates/sms/slot-value.ts';

/**
 * Which positions of a text can be reached between the parts of ONE pattern, as plain sets: 1 means reachable, by
 * position from 0 to the text's length. Time: parts × text, and for shapes × their longest value.
 */
export type Positions = Uint8Array;

/** `[i]` has the positions that can be reached from the beginning of the text by the first i parts. */
export function forwardReach(pattern: Pattern, text: string): Positions[] {
  const reach = [positionsOf(text, [0])];
  for (const part of pattern.parts) reach.push(stepForward(part, reach.at(-1) ?? new Uint8Array(0), text));
  return reach;
}

/** `[i]` has the positions from which the parts from i on can reach the end of the text. */
export function backwardReach(pattern: Pattern, text: string): Positions[] {
  let later = positionsOf(text, [text.length]);
  const reach = [later];
  for (const part of pattern.parts.toReversed()) {
    later = stepBackward(part, later, text);
    reach.push(later);
  }
  return reach.toReversed();
}

/**
 * The value of each slot, by slot order. Undefined when the text does not match. If the text can be read in several
 * ways, the leftmost values are as short as possible.
 */
export function captureSlots(pattern: Pattern, text: string): readonly string[] | undefined {
  const rest = backwardReach(pattern, text);
  if (rest[0]?.[0] !== 1) return undefined;
  const values: string[] = [];
  let at = 0;
  for (const [i, part] of pattern.parts.entries()) {
    if (part.kind === 'literal') {
      at += part.text.length;
      continue;
    }
    const end = slotEnds(part.slot, text, at).find((candidate) => rest[i + 1]?.[candidate] === 1) ?? at;
    values.push(text.slice(at, end));
    at = end;
  }
  return values;
}

/** Where a value of the slot that begins at `start` can end, ascending. */
export function slotEnds(slot: Slot, text: string, start: number): number[] {
  const limit = Math.min(text.length, start + slot.max);
  const values = SLOT_VALUES[slot.type];
  if (values.kind === 'shape') return values.ends(text, start, limit);
  const ends: number[] = slot.min === 0 ? [start] : [];
  for (let at = start; at < limit && values.allows(text.charCodeAt(at)); at++) ends.push(at + 1);
  return ends;
}

/** The positions after `part`, for the positions of `from` where it can begin. `endsOf` may be a `slotEnds` that remembers. */
export function stepForward(part: PatternPart, from: Positions, text: string, endsOf = slotEnds): Positions {
  const low = from.indexOf(1);
  if (low === -1) return from;
  const high = from.lastIndexOf(1);
  const to = new Uint8Array(text.length + 1);
  if (part.kind === 'literal') {
    const { length } = part.text;
    for (let at = low; at <= high; at++) if (from[at] === 1 && text.startsWith(part.text, at)) to[at + length] = 1;
    return to;
  }
  const { slot } = part;
  const values = SLOT_VALUES[slot.type];
  if (values.kind === 'shape') {
    for (let at = low; at <= high; at++) if (from[at] === 1) for (const end of endsOf(slot, text, at)) to[end] = 1;
    return to;
  }
  // The nearest beginning gives the shortest value. Every code unit between them must be allowed in the slot.
  let nearest = -1;
  const last = Math.min(text.length, high + slot.max);
  for (let end = low; end <= last; end++) {
    if (end > low && !values.allows(text.charCodeAt(end - 1))) nearest = -1;
    else if (end > low && slot.min === 1 && from[end - 1] === 1) nearest = end - 1;
    if (slot.min === 0 && from[end] === 1) nearest = end;
    if (nearest !== -1 && end - nearest <= slot.max) to[end] = 1;
  }
  return to;
}

function stepBackward(part: PatternPart, later: Positions, text: string): Positions {
  const low = later.indexOf(1);
  if (low === -1) return later;
  const high = later.lastIndexOf(1);
  const from = new Uint8Array(text.length + 1);
  if (part.kind === 'literal') {
    const { length } = part.text;
    for (let at = Math.max(0, low - length); at <= high - length; at++)
      if (later[at + length] === 1 && text.startsWith(part.text, at)) from[at] = 1;
    return from;
  }
  const { slot } = part;
  const values = SLOT_VALUES[slot.type];
  const first = Math.max(0, low - slot.max);
  if (values.kind === 'shape') {
    for (let at = first; at < high; at++) if (slotEnds(slot, text, at).some((end) => later[end] === 1)) from[at] = 1;
    return from;
  }
  let nearest = -1;
  for (let at = high; at >= first; at--) {
    if (at < high && !values.allows(text.charCodeAt(at))) nearest = -1;
    else if (at < high && slot.min === 1 && later[at + 1] === 1) nearest = at + 1;
    if (slot.min === 0 && later[at] === 1) nearest = at;
    if (nearest !== -1 && nearest - at <= slot.max) from[at] = 1;
  }
  return from;
}

function positionsOf(text: string, positions: readonly number[]): Positions {
  const set = new Uint8Array(text.length + 1);
  for (const position of positions) set[position] = 1;
  return set;
}
