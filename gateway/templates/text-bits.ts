import type { SlotType } from '../../shared/templates/slot.ts';
import { SLOT_VALUES } from '../../shared/templates/slot-value.ts';
import { occurrencesOf } from './occurrences.ts';
import { prefixHashes } from './rolling-hash.ts';

/** A literal of an index, with what excludes it cheaply. */
export interface Literal {
  /** Counts the parts of the index; small, and equal for equal literals. */
  readonly number: number;
  readonly text: string;
  readonly hash: number;
  /** `hashWeight` of its length. */
  readonly weight: number;
}

/**
 * One text under the matcher: sets of its positions 0…length as bits, 32 to a word, made when first asked for and kept, so
 * that thousands of templates share them. `bits[p >> 5] & (1 << (p & 31))` says whether p is in.
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

  /** `partsCount` is above every number of a literal that will be asked for. */
  constructor(text: string, partsCount: number) {
    this.text = text;
    this.#asked = new Uint16Array(partsCount);
    this.words = (text.length >> 5) + 1;
    this.hashes = prefixHashes(text);
  }

  /** An empty set, one word longer than needed: a reader may shift into it. */
  emptySet(): Uint32Array {
    return new Uint32Array(this.words + 1);
  }

  /** Where this code unit stands; undefined when nowhere. */
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

  /** Where this literal begins. A search through the whole text, kept: `asked` tells when it pays. */
  occurrences(literal: Literal): Uint32Array {
    let bits = this.#occurrences.get(literal.number);
    if (bits === undefined) {
      bits = this.emptySet();
      for (const at of occurrencesOf(this.text, literal.text)) setBit(bits, at);
      this.#occurrences.set(literal.number, bits);
    }
    return bits;
  }

  /** How often this has been asked for the literal, this time included. */
  asked(literal: Literal): number {
    const times = (this.#asked[literal.number] ?? 0) + 1;
    this.#asked[literal.number] = times;
    return times;
  }

  /** Where `length` or more code units allowed in slots of this type (a class) follow. */
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

  /** Where values of this type (a shape) that begin at `start` may end. */
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
