import type { SlotType } from '../../shared/templates/slot.ts';
import { SLOT_VALUES } from '../../shared/templates/slot-value.ts';
import { occurrencesOf } from './occurrences.ts';
import { prefixHashes } from './rolling-hash.ts';

/** A literal of an index, with the values that exclude it cheaply. */
export interface Literal {
  /** Number of this part in the index: small, and the same for equal literals. */
  readonly number: number;
  readonly text: string;
  readonly hash: number;
  /** `hashWeight` of its length. */
  readonly weight: number;
}

/**
 * The text that is being matched. Holds sets of its positions, 0 to its length, as bits, 32 to a word. Each set is
 * made when it is first needed and kept, so that thousands of templates share it. Position p is in a set if `bits[p
 * >> 5] & (1 << (p & 31))` is not 0.
 */
export class TextBits {
  readonly text: string;
  readonly words: number;
  readonly hashes: Int32Array;
  #byCodeUnit: Map<number, Uint32Array> | undefined;
  readonly #occurrences = new Map<number, Uint32Array>();
  readonly #asked: Uint16Array;
  readonly #runs = new Map<SlotType, Uint16Array>();
  readonly #runBits = new Map<SlotType, (Uint32Array | undefined)[]>();
  readonly #ends = new Map<string, (readonly number[] | undefined)[]>();

  /** `partsCount` must be above the number of every literal that will be asked for. */
  constructor(text: string, partsCount: number) {
    this.text = text;
    this.#asked = new Uint16Array(partsCount);
    this.words = (text.length >> 5) + 1;
    this.hashes = prefixHashes(text);
  }

  /** An empty set. It has one word more than needed, because shifts read the next word too. */
  emptySet(): Uint32Array {
    return new Uint32Array(this.words + 1);
  }

  /** Where this code unit occurs. Undefined when it does not. */
  positionsOf(codeUnit: number): Uint32Array | undefined {
    if (this.#byCodeUnit === undefined) {
      this.#byCodeUnit = new Map();
      for (let i = 0; i < this.text.length; i++) {
        const code = this.text.charCodeAt(i);
        let bits = this.#byCodeUnit.get(code);
        if (bits === undefined) {
          bits = this.emptySet();
          this.#byCodeUnit.set(code, bits);
        }
        setBit(bits, i);
      }
    }
    return this.#byCodeUnit.get(codeUnit);
  }

  /** Where this literal begins. Searches the whole text once and keeps the result. `asked` shows when that is worth its cost. */
  occurrences(literal: Literal): Uint32Array {
    let bits = this.#occurrences.get(literal.number);
    if (bits === undefined) {
      bits = this.emptySet();
      for (const at of occurrencesOf(this.text, literal.text)) setBit(bits, at);
      this.#occurrences.set(literal.number, bits);
    }
    return bits;
  }

  /** Counts the requests for this literal, this one included. */
  asked(literal: Literal): number {
    const times = (this.#asked[literal.number] ?? 0) + 1;
    this.#asked[literal.number] = times;
    return times;
  }

  /**
   * Positions that are followed by at least `length` code units which slots of this type (a class of characters)
   * allow.
   */
  runsOf(type: SlotType, length: number): Uint32Array {
    let byLength = this.#runBits.get(type);
    if (byLength === undefined) {
      byLength = [];
      this.#runBits.set(type, byLength);
    }
    const known = byLength[length];
    if (known !== undefined) return known;
    const bits = this.emptySet();
    const runs = this.#runLengths(type);
    for (let i = 0; i < this.text.length; i++) if ((runs[i] ?? 0) >= length) setBit(bits, i);
    byLength[length] = bits;
    return bits;
  }

  /** Where values of this type (a shape) that begin at `start` can end. */
  endsOf(type: SlotType, max: number, start: number): readonly number[] {
    const key = `${type}${max}`;
    let byStart = this.#ends.get(key);
    if (byStart === undefined) {
      byStart = [];
      this.#ends.set(key, byStart);
    }
    const known = byStart[start];
    if (known !== undefined) return known;
    const values = SLOT_VALUES[type];
    const limit = Math.min(this.text.length, start + max);
    const ends = values.kind === 'shape' ? values.ends(this.text, start, limit) : [];
    byStart[start] = ends;
    return ends;
  }

  #runLengths(type: SlotType): Uint16Array {
    let runs = this.#runs.get(type);
    if (runs === undefined) {
      const values = SLOT_VALUES[type];
      runs = new Uint16Array(this.text.length + 1);
      for (let i = this.text.length - 1; i >= 0; i--) {
        const allowed = values.kind === 'class' && values.allows(this.text.charCodeAt(i));
        runs[i] = allowed ? Math.min((runs[i + 1] ?? 0) + 1, 0xffff) : 0;
      }
      this.#runs.set(type, runs);
    }
    return runs;
  }
}

export function setBit(bits: Uint32Array, position: number): void {
  bits[position >> 5] = (bits[position >> 5] ?? 0) | (1 << (position & 31));
}

export function hasBit(bits: Uint32Array, position: number): boolean {
  return (((bits[position >> 5] ?? 0) >>> (position & 31)) & 1) === 1;
}
