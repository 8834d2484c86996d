import type { Pattern } from '../../shared/templates/pattern.ts';
import type { Slot } from '../../shared/templates/slot.ts';
import { type Fingerprints, fingerprint, piecesOf } from './fingerprint.ts';
import { hashOf, hashWeight } from './rolling-hash.ts';
import type { Literal } from './text-bits.ts';

/** A template as the matcher knows it. */
export interface IndexedTemplate {
  readonly dltId: string;
  readonly name: string;
  readonly senders: readonly string[];
  readonly entityId?: string;
  readonly pattern: Pattern;
}

/**
 * Templates prepared for `matchTemplate`. Templates that begin with the same parts are neighbours, so a walk does
 * their common beginning only once. Flat arrays in the same order hold numbers that exclude most templates without
 * reading them.
 */
export interface TemplateIndex {
  readonly templates: readonly IndexedTemplate[];
  readonly parts: readonly (readonly IndexedPart[])[];
  /** `partsMax`: parts of the longest template. `partsCount`: distinct parts in the whole index. */
  readonly partsMax: number;
  readonly partsCount: number;
  /** How many leading parts a template shares with the one before it. */
  readonly shared: Uint16Array;
  readonly minLength: Uint16Array;
  readonly maxLength: Uint16Array;
  /**
   * Length and hash of the leading and of the trailing literal. Both are 0 when the template begins or ends with a
   * slot.
   */
  readonly prefixLength: Uint16Array;
  readonly prefixHash: Int32Array;
  readonly suffixLength: Uint16Array;
  readonly suffixHash: Int32Array;
  readonly suffixWeight: Int32Array;
  /**
   * When several templates match, the lowest rank wins. Rank follows the number of fixed code units (most first),
   * then the id (lowest first).
   */
  readonly rank: Uint32Array;
  readonly fingerprints: Fingerprints;
}

export type IndexedPart =
  | { readonly kind: 'literal'; readonly number: number; readonly literal: Literal }
  | { readonly kind: 'slot'; readonly number: number; readonly slot: Slot };

/** Lengths are kept in 16 bits. No text is longer: 255 segments have 39,015 septets. */
const LENGTH_MAX = 0xffff;

/** Takes templates one by one as they come from the store, so that thousands of them do not hold the event loop. */
export class TemplateIndexBuilder {
  readonly #numbers = new PartNumbers();
  readonly #entries: Entry[] = [];

  add(template: IndexedTemplate): void {
    const parts = this.#numbers.of(template.pattern);
    const leading = literalOf(parts[0]);
    const trailing = literalOf(parts.at(-1));
    const order = String.fromCodePoint(...parts.map(({ number }) => number));
    this.#entries.push({ template, parts, order, leading, trailing, pieces: piecesOf(template.pattern) });
  }

  /** Yields where the caller may let other work run. Each step takes some 5 to 10 ms for 5,000 templates. */
  *build(): Generator<undefined, TemplateIndex> {
    const entries = this.#entries.toSorted((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0));
    yield;
    const templates = entries.map((entry) => entry.template);
    const rank = ranksOf(templates);
    yield;
    const fingerprints = fingerprint(entries.map((entry) => entry.pieces));
    yield;
    const parts = entries.map((entry) => entry.parts);
    return {
      templates,
      parts,
      partsMax: parts.reduce((max, of) => Math.max(max, of.length), 0),
      partsCount: this.#numbers.count,
      shared: Uint16Array.from(parts, (of, i) => sharedParts(parts[i - 1] ?? [], of)),
      minLength: Uint16Array.from(templates, ({ pattern }) => Math.min(pattern.minLength, LENGTH_MAX)),
      maxLength: Uint16Array.from(templates, ({ pattern }) => Math.min(pattern.maxLength, LENGTH_MAX)),
      prefixLength: Uint16Array.from(entries, ({ leading }) => leading?.text.length ?? 0),
      prefixHash: Int32Array.from(entries, ({ leading }) => leading?.hash ?? 0),
      suffixLength: Uint16Array.from(entries, ({ trailing }) => trailing?.text.length ?? 0),
      suffixHash: Int32Array.from(entries, ({ trailing }) => trailing?.hash ?? 0),
      suffixWeight: Int32Array.from(entries, ({ trailing }) => trailing?.weight ?? 1),
      rank,
      fingerprints,
    };
  }
}

interface Entry {
  readonly template: IndexedTemplate;
  readonly parts: readonly IndexedPart[];
  /** The numbers of the parts as a text: two are compared many times faster than two lists. */
  readonly order: string;
  readonly leading: Literal | undefined;
  readonly trailing: Literal | undefined;
  readonly pieces: Uint16Array;
}

/** Gives equal parts of an index the same number and the same object. */
class PartNumbers {
  readonly #literals = new Map<string, IndexedPart>();
  readonly #slots = new Map<string, IndexedPart>();
  #next = 0;

  get count(): number {
    return this.#next;
  }

  of(pattern: Pattern): IndexedPart[] {
    return pattern.parts.map((part) => (part.kind === 'literal' ? this.#literal(part.text) : this.#slot(part.slot)));
  }

  #literal(text: string): IndexedPart {
    const known = this.#literals.get(text);
    if (known !== undefined) return known;
    const literal = { number: this.#next++, text, hash: hashOf(text), weight: hashWeight(text.length) };
    const part: IndexedPart = { kind: 'literal', number: literal.number, literal };
    this.#literals.set(text, part);
    return part;
  }

  #slot(slot: Slot): IndexedPart {
    const key = `${slot.type} ${slot.max}`;
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const part: IndexedPart = { kind: 'slot', number: this.#next++, slot };
    this.#slots.set(key, part);
    return part;
  }
}

function literalOf(part: IndexedPart | undefined): Literal | undefined {
  return part?.kind === 'literal' ? part.literal : undefined;
}

function sharedParts(a: readonly IndexedPart[], b: readonly IndexedPart[]): number {
  let shared = 0;
  while (shared < a.length && a[shared] === b[shared]) shared++;
  return shared;
}

function ranksOf(templates: readonly IndexedTemplate[]): Uint32Array {
  const order = templates
    .map((template, i) => ({ i, literalLength: template.pattern.literalLength, dltId: template.dltId }))
    .sort((a, b) => b.literalLength - a.literalLength || (a.dltId < b.dltId ? -1 : 1));
  const ranks = new Uint32Array(templates.length);
  for (const [rank, { i }] of order.entries()) ranks[i] = rank;
  return ranks;
}
