import { passLiteral, passSlot, type Reach } from './advance.ts';
import { sliceHash } from './rolling-hash.ts';
import type { IndexedPart, IndexedTemplate, TemplateIndex } from './template-index.ts';
import { hasBit, TextBits } from './text-bits.ts';

/**
 * Finds the template that the text is an instance of. Spaces, line breaks and capitals must agree exactly, because
 * carriers compare the text as it arrives. When several templates match, the one with the most fixed text wins.
 *
 * Nothing backtracks. The matcher passes a template's parts one after another. Each part turns the set of positions
 * that can be reached into the next set. A set is needed because the text of a literal can also occur inside a value,
 * so a greedy choice can be wrong. Slots are short: each `{#var#}` adds at most 31 positions to a set, which is one
 * word of bits.
 *
 * Worst case: templates × parts × words, plus (length of the text) × (number of literals that occur almost everywhere
 * in it).
 */
export function matchTemplate(index: TemplateIndex, text: string): IndexedTemplate | undefined {
  const scan = new TextBits(text, index.partsCount);
  const { length } = text;
  const walk = new Walk(scan, index.partsMax);
  let best = -1;
  for (let t = 0; t < index.templates.length; t++) {
    walk.turn(index.shared[t] ?? 0);
    if (length < (index.minLength[t] ?? 0) || length > (index.maxLength[t] ?? 0)) continue;
    if (scan.hashes[index.prefixLength[t] ?? 0] !== index.prefixHash[t]) continue;
    const suffixStart = length - (index.suffixLength[t] ?? 0);
    if (sliceHash(scan.hashes, suffixStart, length, index.suffixWeight[t] ?? 1) !== index.suffixHash[t]) continue;
    if (best !== -1 && (index.rank[t] ?? 0) > (index.rank[best] ?? 0)) continue;
    if (walk.reachesEnd(index.parts[t] ?? [])) best = t;
  }
  return index.templates[best];
}

/**
 * Keeps the sets after 0, 1, 2… parts of the template that was walked last. The next template reuses those of their
 * common parts.
 */
class Walk {
  readonly #scan: TextBits;
  readonly #reaches: Reach[];
  readonly #scratch: Uint32Array;
  /** How many parts of the current template are done, the failed one included. */
  #passed = 0;
  /** The part (counted from 1) that the text could not pass; 0 when there is none. */
  #deadAfter = 0;

  constructor(scan: TextBits, partsMax: number) {
    this.#scan = scan;
    this.#reaches = Array.from({ length: partsMax + 1 }, () => ({ bits: scan.emptySet(), low: 0, high: 0 }));
    this.#scratch = scan.emptySet();
    const start = this.#reaches[0];
    if (start !== undefined) start.bits[0] = 1;
  }

  /**
   * Goes on to the next template, which has `shared` leading parts in common with the one before it in the index,
   * even if that one was skipped.
   */
  turn(shared: number): void {
    if (shared >= this.#passed) return;
    this.#passed = shared;
    if (this.#deadAfter > shared) this.#deadAfter = 0;
  }

  reachesEnd(parts: readonly IndexedPart[]): boolean {
    if (this.#deadAfter > 0) return false;
    for (; this.#passed < parts.length; this.#passed++) {
      if (this.#pass(parts[this.#passed])) continue;
      this.#passed++;
      this.#deadAfter = this.#passed;
      return false;
    }
    const end = this.#reaches[parts.length];
    const { length } = this.#scan.text;
    return end !== undefined && end.low <= length && length <= end.high && hasBit(end.bits, length);
  }

  #pass(part: IndexedPart | undefined): boolean {
    const from = this.#reaches[this.#passed];
    const to = this.#reaches[this.#passed + 1];
    if (part === undefined || from === undefined || to === undefined) return false;
    return part.kind === 'literal'
      ? passLiteral(this.#scan, part.literal, from, to, this.#scratch)
      : passSlot(this.#scan, part.slot, from, to);
  }
}
