import type { Pattern, PatternPart } from '../../../../shared/templates/sms/pattern.ts';
import { SLOT_VALUES, type Slot } from '../../../../shared/templates/sms/slot.ts';

/**
 * Finds the template that the text is an instance of. Spaces, line breaks and capitals must agree exactly, because
 * carriers compare the text as it arrives. Of several, `preferred` chooses.
 *
 * Nothing backtracks: each part turns the set of reachable positions into the next one. It must be a set, because a
 * literal can also occur inside a value, so a greedy choice can be wrong.
 */
export function matchTemplate(index: TemplateIndex, text: string): IndexedTemplate | undefined {
  const start = new Uint8Array(text.length + 1);
  start[0] = 1;
  return new Walk(text).from(index.root, start, undefined);
}

class Walk {
  readonly #text: string;
  /** Where URLs and numbers of the text end, by their start: each is read once for all templates. */
  readonly #ends = new Map<string, Ends>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The preferred template of `best` and all below `node` that end where the text ends. */
  from(node: TemplateNode, reached: Positions, best: IndexedTemplate | undefined): IndexedTemplate | undefined {
    const first = reached.indexOf(1);
    if (first === -1) return best;
    let found = best;
    if (node.template !== undefined && reached[this.#text.length] === 1) found = preferred(found, node.template);
    const last = reached.lastIndexOf(1);
    for (const { part, node: next } of node.branches.values()) {
      if (!mayFollow(part, this.#text, first, last)) continue;
      found = this.from(next, stepForward(part, reached, this.#text, this.#endsOf), found);
    }
    return found;
  }

  readonly #endsOf = ({ type, max }: Slot): Ends => {
    const key = `${type} ${max}`;
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    const ends: Ends = [];
    this.#ends.set(key, ends);
    return ends;
  };
}

/** Known ends of one slot's values, by the position where they start. */
type Ends = (readonly number[] | undefined)[];

/** False if the literal is not between `first` and `last`: this skips nearly all of thousands of branches. */
function mayFollow(part: PatternPart, text: string, first: number, last: number): boolean {
  if (part.kind === 'slot') return true;
  if (first === last) return text.startsWith(part.text, first);
  const at = text.indexOf(part.text, first);
  return at !== -1 && at <= last;
}

export interface IndexedTemplate {
  readonly dltId: string;
  readonly name: string;
  readonly senders: readonly string[];
  readonly entityId?: string;
  readonly pattern: Pattern;
}

/**
 * Templates prepared for `matchTemplate`: a tree of parts, so that common beginnings are compared once. Templates are
 * added one by one as they come from the store, so as not to hold the event loop.
 */
export class TemplateIndex {
  readonly templates: IndexedTemplate[] = [];
  /** The words of each template's fixed text, to find templates that resemble a text that matches none. */
  readonly words: (readonly string[])[] = [];
  readonly root: TemplateNode = { branches: new Map(), template: undefined };

  add(template: IndexedTemplate): void {
    const { parts } = template.pattern;
    this.templates.push(template);
    this.words.push(wordsOf(parts.map((part) => (part.kind === 'literal' ? part.text : ' ')).join('')));
    let node = this.root;
    for (const part of parts) {
      const key = part.kind === 'literal' ? `=${part.text}` : `${part.slot.type} ${part.slot.max}`;
      let branch = node.branches.get(key);
      if (branch === undefined) {
        branch = { part, node: { branches: new Map(), template: undefined } };
        node.branches.set(key, branch);
      }
      node = branch.node;
    }
    node.template = preferred(node.template, template);
  }
}

interface TemplateNode {
  readonly branches: Map<string, { readonly part: PatternPart; readonly node: TemplateNode }>;
  template: IndexedTemplate | undefined;
}

/** The one with most fixed text, then fewest `{#var#}` (so tags replace untagged ones), then the lowest id. */
function preferred(one: IndexedTemplate | undefined, other: IndexedTemplate): IndexedTemplate {
  if (one === undefined) return other;
  const more =
    one.pattern.literalLength - other.pattern.literalLength || anyTexts(other.pattern) - anyTexts(one.pattern);
  return more > 0 || (more === 0 && one.dltId < other.dltId) ? one : other;
}

function anyTexts({ slots }: Pattern): number {
  return slots.reduce((sum, { type }) => sum + (type === 'var' ? 1 : 0), 0);
}

/** A template has some 20; more would not tell more. */
const WORDS_MAX = 32;

function wordsOf(fixed: string): string[] {
  return [...new Set(fixed.match(WORD))].slice(0, WORDS_MAX);
}

/** Letters or digits: "Rs500" are two words, because templates have "Rs" and a slot. */
export const WORD = /[\p{L}\p{M}]+|\p{N}+/gu;

/**
 * Positions of a text (0 to its length) reachable between the parts of ONE pattern: 1 means reachable. Time: parts ×
 * text, and for shapes × their longest value.
 */
export type Positions = Uint8Array;

/** `[i]`: positions reachable from the beginning of the text by the first i parts. */
export function forwardReach(pattern: Pattern, text: string): Positions[] {
  const reach = [positionsOf(text, [0])];
  for (const part of pattern.parts) reach.push(stepForward(part, reach.at(-1) ?? new Uint8Array(0), text));
  return reach;
}

/** `[i]`: positions from which the parts from i on reach the end of the text. */
function backwardReach(pattern: Pattern, text: string): Positions[] {
  let later = positionsOf(text, [text.length]);
  const reach = [later];
  for (const part of pattern.parts.toReversed()) {
    later = stepBackward(part, later, text);
    reach.push(later);
  }
  return reach.toReversed();
}

/** The values of the slots, or undefined. Of several readings, the leftmost values are as short as possible. */
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

/** The positions after `part`, from those in `from`. `endsOf`: known ends of a slot's values, which is added to. */
function stepForward(
  part: PatternPart,
  from: Positions,
  text: string,
  endsOf: (slot: Slot) => Ends = () => [],
): Positions {
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
    const ends = endsOf(slot);
    for (let at = low; at <= high; at++) {
      if (from[at] !== 1) continue;
      const reached = ends[at] ?? slotEnds(slot, text, at);
      ends[at] = reached;
      for (const end of reached) to[end] = 1;
    }
    return to;
  }
  // The nearest beginning gives the shortest value. The slot must allow every code unit in between.
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
