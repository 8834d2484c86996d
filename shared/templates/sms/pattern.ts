import { isOfType, SLOT_MEANING, SLOT_WORDS, type Slot, type SlotRule, type SlotType, slotOf } from './slot.ts';

/** `Hi {#var#}!` is a literal, a slot and a literal. */
export interface Pattern {
  /** In order. Literals are never empty and never adjacent; slots may be adjacent. */
  readonly parts: readonly PatternPart[];
  readonly slots: readonly Slot[];
  /** In code units. */
  readonly literalLength: number;
}

export type PatternPart =
  | { readonly kind: 'literal'; readonly text: string }
  /** `index` counts slots from 0. */
  | { readonly kind: 'slot'; readonly index: number; readonly slot: Slot };

interface ContentFault {
  /** Index of the code unit where the fault begins. */
  readonly at: number;
  readonly detail: string;
}

type ParsedContent =
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  | { readonly kind: 'malformed'; readonly faults: readonly ContentFault[] };

/** The longest that the operators' portals accept. */
export const CONTENT_MAX = 2_000;
const FAULTS_MAX = 20;

/**
 * A slot is `{#word#}` with a known word; its case must match. Text that only looks like a slot is a fault, because it
 * would never match anything. `rules` say what a `{#var#}` holds, by slot order.
 */
export function parseContent(content: string, rules: readonly SlotRule[] = []): ParsedContent {
  const faults: ContentFault[] = lengthFaults(content);
  const parts: PatternPart[] = [];
  const slots: Slot[] = [];
  let literalStart = 0;
  const endLiteral = (end: number): void => {
    if (end > literalStart) parts.push({ kind: 'literal', text: content.slice(literalStart, end) });
  };
  for (const { index: at, 0: token, groups } of content.matchAll(SLOT_LIKE)) {
    if (faults.length >= FAULTS_MAX) break;
    const word = groups?.word ?? '';
    const type = SLOT_WORDS.get(word);
    if (groups?.word === undefined || type === undefined) {
      const detail = faultOf(token, word);
      if (detail !== undefined) faults.push({ at, detail });
      continue;
    }
    endLiteral(at);
    literalStart = at + token.length;
    const slot = settle(type, rules[slots.length]);
    parts.push({ kind: 'slot', index: slots.length, slot });
    slots.push(slot);
  }
  endLiteral(content.length);
  if (rules.length > slots.length) {
    faults.push({ at: content.length, detail: `There are ${slots.length} slots, but rules for ${rules.length}.` });
  }
  const literalLength = parts.reduce((sum, part) => sum + (part.kind === 'literal' ? part.text.length : 0), 0);
  return faults.length > 0
    ? { kind: 'malformed', faults }
    : { kind: 'pattern', pattern: { parts, slots, literalLength } };
}

/** A slot (`word`), or perhaps meant as one. The word's length is limited, so reading stays linear. */
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
  if (!token.includes('{#') && !token.includes('#}')) return undefined; // `{name}` or `#sale#`: text like any other
  return `${token} begins or ends a slot that is not whole. Known are ${KNOWN}.`;
}
const KNOWN = [...SLOT_WORDS.keys()].map((word) => `{#${word}#}`).join(' ');

function lengthFaults(content: string): ContentFault[] {
  if (content === '') return [{ at: 0, detail: 'It is empty.' }];
  if (content.length > CONTENT_MAX) {
    return [{ at: CONTENT_MAX, detail: `It has ${content.length} characters; ${CONTENT_MAX} are allowed.` }];
  }
  const half = content.search(/\p{Surrogate}/u);
  return half === -1
    ? []
    : [{ at: half, detail: 'Half a character (a lone surrogate), probably of an emoji that was cut: type it again.' }];
}

function settle(type: SlotType, rule: SlotRule | undefined): Slot {
  // A typed slot in the text is the operator's own; the side table only applies to `{#var#}`.
  return type === 'var' && rule !== undefined ? slotOf(rule.type, rule.max) : slotOf(type);
}

type Rendered =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'invalid'; readonly problems: readonly ParamProblem[] };

interface ParamProblem {
  /** Index in the params; absent when the problem is about all of them. */
  readonly index?: number;
  readonly code: 'wrong_count' | 'too_long' | 'wrong_type';
  readonly detail: string;
}

/** Lists every problem of every param. A returned text matches the pattern. */
export function renderTemplate(pattern: Pattern, params: readonly string[]): Rendered {
  const problems: ParamProblem[] = [];
  if (params.length !== pattern.slots.length) {
    const detail = `Give one param for each slot of the template: ${pattern.slots.length}, not ${params.length}.`;
    problems.push({ code: 'wrong_count', detail });
  }
  for (const [index, slot] of pattern.slots.entries()) {
    const value = params[index];
    if (value !== undefined) problems.push(...problemsOf(index, slot, value));
  }
  if (problems.length > 0) return { kind: 'invalid', problems };
  const pieces = pattern.parts.map((part) => (part.kind === 'literal' ? part.text : (params[part.index] ?? '')));
  return { kind: 'text', text: pieces.join('') };
}

function problemsOf(index: number, slot: Slot, value: string): ParamProblem[] {
  const problems: ParamProblem[] = [];
  if (value.length > slot.max) {
    const detail = `It has ${value.length} characters; the slot takes ${slot.max}.`;
    problems.push({ index, code: 'too_long', detail });
  }
  if (!isOfType(slot.type, value)) {
    const detail = `The slot is {#${slot.type}#} and takes ${SLOT_MEANING[slot.type]}.`;
    problems.push({ index, code: 'wrong_type', detail });
  }
  return problems;
}
