import { passLiteral, passSlot, type Reach } from './advance.ts';
import { sliceHash } from './rolling-hash.ts';
import type { IndexedPart, IndexedTemplate, TemplateIndex } from './template-index.ts';
import { hasBit, TextBits } from './text-bits.ts';

/**
 * Which template the text is an instance of, exactly as it stands: no spaces, line breaks or capitals are evened out, for the
 * operators compare what arrives. When several match, the one with the most fixed text.
 *
 * No step backtracks. A template's parts are passed one after another, each turning the set of positions where the text may
 * stand into the next set; what slots may hold makes it a set and not a position (greedy choice is wrong: a literal may stand
 * in a value too). A set is as wide as the slots before it allow, 31 positions for each `{#var#}`, which is one word of bits.
 * Worst case: templates × parts × words, + (length of the text) × (literals that are almost everywhere in it).
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

/** The sets after 0, 1, 2… parts of the template that was walked last; the next one goes on from what it has in common. */
class Walk {
  readonly #scan: TextBits;
  readonly #reaches: Reach[];
  readonly #scratch: Uint32Array;
  /** Parts of the current template that are passed already. */
  #passed = 0;
  /** The part (counted from 1) that could not be passed, if it is among the passed ones. */
  #deadAfter = 0;

  constructor(scan: TextBits, partsMax: number) {
    this.#scan = scan;
    this.#reaches = Array.from({ length: partsMax + 1 }, () => ({ bits: scan.emptySet(), low: 0, high: 0 }));
    this.#scratch = scan.emptySet();
    const start = this.#reaches[0];
    if (start !== undefined) start.bits[0] = 1;
  }

  /** The next template has `shared` leading parts in common with the one before it, walked or not. */
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
