import { SLOT_WORDS, type Slot, type SlotLimits, type SlotRule, type SlotType, settleSlot } from './slot.ts';

/** A template's content, taken apart: `Hi {#var#}!` is a literal, a slot and a literal. */
export interface Pattern {
  /** In order; literals are never empty and never follow one another, slots may. */
  readonly parts: readonly PatternPart[];
  readonly slots: readonly Slot[];
  /** Code units that are fixed. */
  readonly literalLength: number;
  /** Shortest and longest text that can match, in code units. */
  readonly minLength: number;
  readonly maxLength: number;
}

export type PatternPart =
  | { readonly kind: 'literal'; readonly text: string }
  /** `index` counts slots from 0. */
  | { readonly kind: 'slot'; readonly index: number; readonly slot: Slot };

export interface ContentFault {
  /** Index of the code unit where the fault begins. */
  readonly at: number;
  readonly detail: string;
}

export type ParsedContent =
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  | { readonly kind: 'malformed'; readonly faults: readonly ContentFault[] };

/** What the operators' portals take. */
export const CONTENT_MAX = 2_000;

/**
 * Takes a content apart. A slot is `{#word#}` with a known word, capitals as written here; whatever looks like a slot and is
 * none is a fault, because a typo there would never match anything. `rules` say what a `{#var#}` holds, by slot order.
 */
export function parseContent(content: string, limits: SlotLimits, rules: readonly SlotRule[] = []): ParsedContent {
  const faults: ContentFault[] = lengthFaults(content);
  const parts: PatternPart[] = [];
  const slots: Slot[] = [];
  let literalStart = 0;
  const endLiteral = (end: number): void => {
    if (end > literalStart) parts.push({ kind: 'literal', text: content.slice(literalStart, end) });
  };
  for (const { index: at, 0: token, groups } of content.matchAll(SLOT_LIKE)) {
    const word = groups?.word ?? '';
    const type = SLOT_WORDS.get(word);
    if (groups?.word === undefined || type === undefined) {
      const detail = faultOf(token, word);
      if (detail !== undefined) faults.push({ at, detail });
      continue;
    }
    endLiteral(at);
    literalStart = at + token.length;
    const slot = settle(type, limits, rules[slots.length]);
    parts.push({ kind: 'slot', index: slots.length, slot });
    slots.push(slot);
  }
  endLiteral(content.length);
  if (rules.length > slots.length) {
    faults.push({ at: content.length, detail: `There are ${slots.length} slots, but rules for ${rules.length}.` });
  }
  return faults.length > 0 ? { kind: 'malformed', faults } : { kind: 'pattern', pattern: measure(parts, slots) };
}

/**
 * A slot (`word`), or what was perhaps meant as one: without its braces or signs, or its half. The word's length is bounded,
 * so that reading stays linear whatever is given.
 */
const SLOT_LIKE =
  /\{#(?<word>[A-Za-z0-9_]{1,20})#\}|\{\s{0,3}#?\s{0,3}([A-Za-z]{3,12})\s{0,3}#?\s{0,3}\}|#([A-Za-z]{3,12})#|\{#|#\}/gu;

function faultOf(token: string, word: string): string | undefined {
  if (word !== '') {
    const lower = word.toLowerCase();
    return SLOT_WORDS.has(lower)
      ? `${token} must be written {#${lower}#}: capitals count.`
      : `${token} is no slot. Known are ${KNOWN}.`;
  }
  const bare = token.replace(/[^A-Za-z]/g, '').toLowerCase();
  if (SLOT_WORDS.has(bare)) return `${token} looks like a slot; a slot is written {#${bare}#}.`;
  if (!token.includes('{#') && !token.includes('#}')) return undefined; // `{name}` or `#sale#`: text like any other.
  return `${token} begins or ends a slot that is not whole. Known are ${KNOWN}.`;
}
const KNOWN = [...SLOT_WORDS.keys()].map((word) => `{#${word}#}`).join(' ');

function lengthFaults(content: string): ContentFault[] {
  if (content === '') return [{ at: 0, detail: 'It is empty.' }];
  if (content.length > CONTENT_MAX) {
    return [{ at: CONTENT_MAX, detail: `It has ${content.length} characters; ${CONTENT_MAX} are allowed.` }];
  }
  const half = content.search(/\p{Surrogate}/u);
  return half === -1 ? [] : [{ at: half, detail: 'Half a character (a lone surrogate).' }];
}

function settle(type: SlotType, limits: SlotLimits, rule: SlotRule | undefined): Slot {
  // The text's own word is the operator's; a side table is only for the slots that say nothing.
  return type === 'var' && rule !== undefined
    ? settleSlot(rule.type, limits, rule.max)
    : settleSlot(type, limits, undefined);
}

function measure(parts: readonly PatternPart[], slots: readonly Slot[]): Pattern {
  const literalLength = parts.reduce((sum, part) => sum + (part.kind === 'literal' ? part.text.length : 0), 0);
  return {
    parts,
    slots,
    literalLength,
    minLength: slots.reduce((sum, slot) => sum + slot.min, literalLength),
    maxLength: slots.reduce((sum, slot) => sum + slot.max, literalLength),
  };
}
