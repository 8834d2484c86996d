import type { Pattern, PatternPart } from '../../../../shared/templates/sms/pattern.ts';
import type { Slot } from '../../../../shared/templates/sms/slot.ts';
import { SLOT_VALUES } from '../../../../shared/templates/sms/slot-value.ts';
import { backwardReach, captureSlots, forwardReach, type Positions, slotEnds } from './reach.ts';

/** Why a text is not an instance of one template. Positions are indices of code units in the text. */
export type Difference =
  | SlotDifference
  | {
      readonly kind: 'text_differs';
      /** The first place where the text fits no reading of the template. */
      readonly at: number;
      /** `expected` is what the template has there (empty: the template has ended); `found` is what the text has. */
      readonly expected: string;
      readonly found: string;
    };

export interface SlotDifference {
  readonly kind: 'slot_too_long' | 'slot_wrong_type';
  readonly at: number;
  /** Counts slots from 0. */
  readonly index: number;
  readonly slot: Slot;
  readonly value: string;
}

/**
 * If a literal of at least this length follows after a slot's maximum, the slot's value is too long. Otherwise the text just
 * differs.
 */
const TELLING_LENGTH = 4;
/**
 * A web address, email address or phone number may exceed its limit by this many code units and still be read as one
 * value.
 */
const SHAPE_OVER_MAX = 400;

/**
 * The simplest explanation of why the text does not match. Tried in this order: one value is too long, one value has
 * the wrong type, several values are too long, and else the first place that differs. Meaningless for a text that
 * matches. Its cost: `differenceWork`.
 */
export function differenceOf(pattern: Pattern, text: string): Difference {
  const before = forwardReach(pattern, text);
  const after = backwardReach(pattern, text);
  return (
    oneTooLong(pattern, text, before, after) ??
    oneOfWrongType(pattern, text, before, after) ??
    severalTooLong(pattern, text) ??
    firstDifference(pattern, text, before)
  );
}

/**
 * An upper bound of what `differenceOf` costs, in steps of some 20 ns: parts × code units. A shape (a web address, an
 * email address, a phone number) is read from each code unit to its end three times, and once beyond its limit.
 */
export function differenceWork({ parts }: Pattern, text: string): number {
  const perCodeUnit = parts.reduce((sum, part) => sum + 1 + (isShape(part) ? shapeSteps(part.slot) : 0), 0);
  return perCodeUnit * (text.length + 1);
}
const SHAPE_STEPS_A_PART = 40;

function shapeSteps({ max }: Slot): number {
  return (3 * max + SHAPE_OVER_MAX) / SHAPE_STEPS_A_PART;
}

function isShape(part: PatternPart): part is PatternPart & { kind: 'slot' } {
  return part.kind === 'slot' && SLOT_VALUES[part.slot.type].kind === 'shape';
}

/**
 * Finds the slot whose value is too long: the text would match if that slot alone had no limit. Of several such
 * slots, takes the one that exceeds its limit least.
 */
function oneTooLong(
  pattern: Pattern,
  text: string,
  before: readonly Positions[],
  after: readonly Positions[],
): SlotDifference | undefined {
  const spans = slotsOf(pattern).flatMap(({ index, slot, i }) => {
    const span = shortestSpan(withoutLimit(slot, text), text, before[i], after[i + 1]);
    return span === undefined ? [] : [{ index, slot, ...span }];
  });
  const over = (span: { slot: Slot; start: number; end: number }) => span.end - span.start - span.slot.max;
  const [least] = spans.filter((span) => over(span) > 0).sort((a, b) => over(a) - over(b));
  return least && slotDifference('slot_too_long', least, text);
}

/**
 * Finds the typed slot whose value has the wrong type: the text would match if that slot alone accepted any text,
 * even an empty one.
 */
function oneOfWrongType(
  pattern: Pattern,
  text: string,
  before: readonly Positions[],
  after: readonly Positions[],
): SlotDifference | undefined {
  for (const { index, slot, i } of slotsOf(pattern)) {
    if (slot.type === 'var') continue;
    const span = shortestSpan({ type: 'var', min: 0, max: text.length }, text, before[i], after[i + 1]);
    if (span !== undefined) return slotDifference('slot_wrong_type', { index, slot, ...span }, text);
  }
  return undefined;
}

function severalTooLong(pattern: Pattern, text: string): SlotDifference | undefined {
  const parts = pattern.parts.map(
    (part): PatternPart => (part.kind === 'slot' ? { ...part, slot: withoutLimit(part.slot, text) } : part),
  );
  const values = captureSlots({ ...pattern, parts }, text);
  if (values === undefined) return undefined;
  let start = 0;
  for (const part of pattern.parts) {
    const length = part.kind === 'literal' ? part.text.length : (values[part.index] ?? '').length;
    if (part.kind === 'slot' && length > part.slot.max) {
      return slotDifference('slot_too_long', { ...part, start, end: start + length }, text);
    }
    start += length;
  }
  return undefined;
}

function firstDifference(pattern: Pattern, text: string, before: readonly Positions[]): Difference {
  // Part i is the first one that the text cannot pass. If it can pass all parts, the text goes on after the template's end.
  const reachable = before.findLastIndex((positions) => positions.includes(1));
  const starts = before[reachable] ?? new Uint8Array(1);
  const part = pattern.parts[reachable];
  if (part?.kind === 'slot') {
    const start = starts.lastIndexOf(1);
    const end = Math.min(text.length, start + EXCERPT_MAX);
    return slotDifference('slot_wrong_type', { ...part, start, end }, text);
  }
  const literal = part?.text ?? '';
  const previous = pattern.parts[reachable - 1];
  if (previous?.kind === 'slot' && literal.length >= TELLING_LENGTH) {
    const start = before[reachable - 1]?.indexOf(1) ?? -1;
    const end = start === -1 ? -1 : text.indexOf(literal, start + previous.slot.max + 1);
    const isOneValue = end !== -1 && slotEnds(withoutLimit(previous.slot, text), text, start).includes(end);
    if (isOneValue) return slotDifference('slot_too_long', { ...previous, start, end }, text);
  }
  const { start, length } = bestPlace(literal, text, starts);
  const differs = start + length;
  const at = characterStart(text, differs);
  const expected = excerpt(literal, Math.max(0, length - (differs - at)));
  return { kind: 'text_differs', at, expected, found: excerpt(text, at) };
}

/**
 * The position of `starts` where the literal fits best, and how many code units of its beginning are there. A slot
 * may end at any of the positions, so the beginning alone says little: code units that agree later count too.
 */
function bestPlace(literal: string, text: string, starts: Positions): { start: number; length: number } {
  let best = { start: starts.lastIndexOf(1), length: 0 };
  let bestScore = 0;
  for (const [start, isIn] of starts.entries()) {
    if (!isIn) continue;
    const looked = Math.min(literal.length, text.length - start, LOOKED_AT);
    let length = 0;
    let score = 0;
    for (let i = 0; i < looked; i++) {
      if (text.charCodeAt(start + i) !== literal.charCodeAt(i)) continue;
      score += length === i ? 2 : 1;
      if (length === i) length++;
    }
    if (score > bestScore) {
      best = { start, length };
      bestScore = score;
    }
  }
  const { start } = best;
  let { length } = best;
  while (length < literal.length && start + length < text.length && text[start + length] === literal[length]) length++;
  return { start, length };
}
/** Most code units of a literal that are compared at each place. */
const LOOKED_AT = 48;

/** The shortest value of the slot that begins at a position of `starts` and ends at one of `ends`. */
function shortestSpan(
  slot: Slot,
  text: string,
  starts: Positions = new Uint8Array(0),
  ends: Positions = new Uint8Array(0),
): { readonly start: number; readonly end: number } | undefined {
  if (!starts.includes(1) || !ends.includes(1)) return undefined;
  const values = SLOT_VALUES[slot.type];
  let best: { start: number; end: number } | undefined;
  const offer = (start: number, end: number): void => {
    if (end - start < slot.min || (best !== undefined && end - start >= best.end - best.start)) return;
    best = { start, end };
  };
  if (values.kind === 'shape') {
    for (const [start, isIn] of starts.entries()) {
      const end = isIn ? slotEnds(slot, text, start).find((one) => ends[one] === 1) : undefined;
      if (end !== undefined) offer(start, end);
    }
    return best;
  }
  let nearest = -1;
  for (let end = 0; end <= text.length; end++) {
    if (end > 0 && !values.allows(text.charCodeAt(end - 1))) nearest = -1;
    if (starts[end] === 1 && slot.min === 0) nearest = end;
    if (nearest !== -1 && ends[end] === 1) offer(nearest, end);
    if (starts[end] === 1) nearest = end;
  }
  return best;
}

function slotsOf(pattern: Pattern): { readonly index: number; readonly slot: Slot; readonly i: number }[] {
  return pattern.parts.flatMap((part, i) => (part.kind === 'slot' ? [{ index: part.index, slot: part.slot, i }] : []));
}

function withoutLimit(slot: Slot, text: string): Slot {
  const isShape = SLOT_VALUES[slot.type].kind === 'shape';
  return { ...slot, max: isShape ? slot.max + SHAPE_OVER_MAX : text.length };
}

function slotDifference(
  kind: SlotDifference['kind'],
  { index, slot, start, end }: { index: number; slot: Slot; start: number; end: number },
  text: string,
): SlotDifference {
  const at = characterStart(text, start);
  const isInside = characterStart(text, end) < end;
  return { kind, at, index, slot, value: text.slice(at, isInside ? end + 1 : end) };
}

/** `at`, or the index before it where it is inside a surrogate pair: emoji often differ in their second half only. */
function characterStart(text: string, at: number): number {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

const EXCERPT_MAX = 20;

/** Up to 20 code units, never half of a character. */
export function excerpt(text: string, from: number): string {
  return text.slice(from, characterStart(text, from + EXCERPT_MAX));
}
