import type { Pattern, PatternPart } from '../../shared/templates/pattern.ts';
import type { Slot } from '../../shared/templates/slot.ts';
import { SLOT_VALUES } from '../../shared/templates/slot-value.ts';
import { backwardReach, captureSlots, forwardReach, type Positions, slotEnds } from './reach.ts';

/** Why a text is not an instance of one template. Positions are indices of code units in the text. */
export type Difference =
  | SlotDifference
  | {
      readonly kind: 'text_differs';
      /** The first place where no reading of the template goes on. */
      readonly at: number;
      /** What the template has there (empty: nothing more) and what the text has. */
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

/** A literal this long that stands further on than a slot reaches says that the slot is too long, and not that the text differs. */
const TELLING_LENGTH = 4;
/** Code units by which a web address or the like may be over its limit and still be seen as one value. */
const SHAPE_OVER_MAX = 400;

/**
 * The difference that explains most with least: one value that is too long, one of the wrong type, several too long, and
 * else the first place that differs. Of a text that does match it says nothing sensible. For its time see `differenceWork`.
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
 * What `differenceOf` costs at most: parts × code units, of some 20 ns. A shape (a web address, an email address, a phone number)
 * is read at each code unit to its end, thrice, and once beyond its limit.
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

/** The slot that makes it match when it alone may be longer; of several such, the one that is least over. */
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

/** The typed slot that makes it match when it alone may hold any text, the empty one too. */
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
  // Part i is the first that nothing passes; behind the last part only the end of the text would do.
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
  const at = start + length;
  return { kind: 'text_differs', at, expected: excerpt(literal, length), found: excerpt(text, at) };
}

/**
 * The position of `starts` where the literal fits best, and how much of its beginning stands there. A slot may end anywhere
 * before, so the beginning alone says little: code units that agree further on count too.
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
/** Code units of a literal that are compared at each place. */
const LOOKED_AT = 48;

/** The shortest value of the slot from a position of `starts` to one of `ends`. */
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
  return { kind, at: start, index, slot, value: text.slice(start, end) };
}

const EXCERPT_MAX = 20;

/** Up to 20 code units, whole characters. */
export function excerpt(text: string, from: number): string {
  const end = from + EXCERPT_MAX;
  const cutsCharacter = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length;
  return text.slice(from, cutsCharacter ? end - 1 : end);
}
