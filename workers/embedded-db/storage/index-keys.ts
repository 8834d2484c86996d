import { StoreError } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { type IndexedValues, indexedValues, newIndexedValues, type Path } from '../bson/path.ts';
import { byteAt, findElement, TYPE } from '../bson/read.ts';
import type { Index } from './index-definition.ts';

/** Stands where other entries have the rank of their `_id`: something below FF follows every component (see key.ts). */
const UNIQUE_END = 1;
/** Above this number of keys, a set finds duplicates. */
const FEW = 16;

/**
 * The entries that documents have in indexes, as bytes one after the other in one buffer that is used again and again:
 * an update makes the keys of two documents, and garbage would cost more than the keys.
 */
export class EntryKeys {
  private readonly buffer = new KeyBuffer();
  private readonly whole: boolean;
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  count = 0;
  /** Bits of the fields of the index added last in which an array was met. */
  arrays = 0;
  /** Bits of those in which an array was met inside another. */
  nested = 0;

  /** `whole`: keys are not cut at the length that the tables take. Such keys are compared and never stored. */
  constructor(whole = false) {
    this.whole = whole;
  }

  clear(): void {
    this.buffer.length = 0;
    this.count = 0;
  }

  get bytes(): Buffer {
    return this.buffer.bytes;
  }

  start(key: number): number {
    return this.starts[key] ?? 0;
  }

  end(key: number): number {
    return this.ends[key] ?? 0;
  }

  view(key: number): Buffer {
    return this.buffer.bytes.subarray(this.start(key), this.end(key));
  }

  has(from: number, to: number, other: EntryKeys, key: number): boolean {
    for (let i = from; i < to; i++) if (this.same(i, other, key)) return true;
    return false;
  }

  private same(mine: number, other: EntryKeys, theirs: number): boolean {
    const start = this.start(mine);
    const otherStart = other.start(theirs);
    const length = this.end(mine) - start;
    if (length !== other.end(theirs) - otherStart) return false;
    const a = this.buffer.bytes;
    const b = other.buffer.bytes;
    // From the end: keys of one index begin alike.
    for (let i = length - 1; i >= 0; i--) if (a[start + i] !== b[otherStart + i]) return false;
    return true;
  }

  /** Adds no key if a partial or sparse index leaves the document out, several if an array is on a path. */
  add(index: Index, doc: Buffer, idKey: Buffer): void {
    this.arrays = 0;
    this.nested = 0;
    if (index.partial !== undefined && !index.partial.includes(TYPE.object, doc, 0)) return;
    const start = this.buffer.length;
    if (this.addOne(index, doc, idKey)) return;
    this.buffer.length = start;
    this.addMany(index, doc, idKey);
  }

  /** The common case: no array on any path. False when there is one. */
  private addOne(index: Index, doc: Buffer, idKey: Buffer): boolean {
    const { fields } = index;
    let missing = 0;
    const start = this.buffer.begin(index.id);
    for (let f = 0; f < fields.length; f++) {
      const field = fields[f];
      if (field === undefined || !locate(field.path, doc)) return false;
      if (foundType === TYPE.missing) missing++;
      this.buffer.append(foundType === TYPE.missing ? TYPE.null : foundType, doc, foundPos, field.descending);
    }
    if (index.sparse && missing === fields.length) this.buffer.length = start;
    else this.finish(index, start, idKey);
    return true;
  }

  private finish(index: Index, start: number, idKey: Buffer): void {
    if (!this.whole) this.buffer.limit(start + 4);
    if (index.unique) this.buffer.appendByte(UNIQUE_END);
    else this.buffer.appendBytes(idKey, 0, idKey.length);
    this.starts[this.count] = start;
    this.ends[this.count] = this.buffer.length;
    this.count++;
  }

  private addMany(index: Index, doc: Buffer, idKey: Buffer): void {
    const { fields } = index;
    let missing = 0;
    for (let f = 0; f < fields.length; f++) {
      const values = valuesFor(f);
      const field = fields[f];
      if (field === undefined) break;
      indexedValues(field.path, doc, 0, values);
      if (values.missing) missing++;
      if (values.multikey) this.arrays |= 1 << f;
      if (values.nested) this.nested |= 1 << f;
      chosen[f] = 0;
    }
    if (index.sparse && missing === fields.length) return;
    rejectParallelArrays(index, this.arrays);
    rejectTooMany(index);
    const first = this.count;
    let known: Set<string> | undefined;
    do {
      if (index.byElement && !ofOneElement(fields.length)) continue;
      const start = this.buffer.begin(index.id);
      for (let f = 0; f < fields.length; f++) {
        const values = valuesFor(f);
        const at = chosen[f] ?? 0;
        this.buffer.append(values.types[at] ?? TYPE.null, doc, values.positions[at] ?? 0, fields[f]?.descending);
      }
      this.finish(index, start, idKey);
      const key = this.count - 1;
      if (key - first >= FEW) known = this.remember(known, first, key);
      if (known === undefined ? this.has(first, key, this, key) : known.has(this.text(key))) {
        this.count--;
        this.buffer.length = start;
      } else {
        if (key - first >= KEYS_MAX) throw tooMany(index);
        known?.add(this.text(key));
      }
    } while (nextCombination(fields.length));
  }

  private remember(known: Set<string> | undefined, from: number, to: number): Set<string> {
    if (known !== undefined) return known;
    const made = new Set<string>();
    for (let i = from; i < to; i++) made.add(this.text(i));
    return made;
  }

  private text(key: number): string {
    return this.view(key).toString('latin1');
  }
}

let foundType = 0;
let foundPos = 0;

/** Follows a path to one value or to nothing; false when there is an array on it. */
function locate(path: Path, doc: Buffer): boolean {
  const { parts } = path;
  let type: number = TYPE.object;
  let pos = 0;
  for (let p = 0; p < parts.length; p++) {
    const part = parts[p];
    if (part === undefined) return false;
    const at = type === TYPE.object ? findElement(doc, pos, part) : -1;
    if (at < 0) {
      foundType = TYPE.missing;
      return true;
    }
    type = byteAt(doc, at);
    if (type === TYPE.array) return false;
    pos = at + part.length + 2;
  }
  foundType = type;
  foundPos = pos;
  return true;
}

/** Scratch of `addMany`: the values of each field, and which of them is in the key being made. */
const scratch: IndexedValues[] = [];
const chosen: number[] = [];

function valuesFor(field: number): IndexedValues {
  let values = scratch[field];
  if (values === undefined) {
    values = newIndexedValues();
    scratch[field] = values;
  }
  return values;
}

/**
 * Whether the chosen values that lie in one array lie in one element of it: `{ 'l.k': 1, 'l.v': 1 }` has a key for each
 * element of `l`, as in mongod, not one for each `k` with each `v`.
 */
function ofOneElement(fields: number): boolean {
  for (let f = 1; f < fields; f++) {
    const { array, elements } = valuesFor(f);
    if (array < 0) continue;
    for (let g = 0; g < f; g++) {
      const other = valuesFor(g);
      if (other.array === array && other.elements[chosen[g] ?? 0] !== elements[chosen[f] ?? 0]) return false;
    }
  }
  return true;
}

function nextCombination(fields: number): boolean {
  for (let f = fields - 1; f >= 0; f--) {
    const next = (chosen[f] ?? 0) + 1;
    if (next < valuesFor(f).types.length) {
      chosen[f] = next;
      return true;
    }
    chosen[f] = 0;
  }
  return false;
}

/** As in mongod (171): of two paths with an array each, one must go on inside the array of the other. */
function rejectParallelArrays(index: Index, arrays: number): void {
  if ((arrays & (arrays - 1)) === 0) return; // at most one
  for (let f = 0; f < index.fields.length; f++) {
    for (let g = 0; g < f; g++) {
      const [one, other] = [index.fields[f]?.path, index.fields[g]?.path];
      if (one === undefined || other === undefined) continue;
      const shared = sharedLevels(one, other);
      const [alone, otherAlone] = [valuesFor(f).arrayLevels & ~shared, valuesFor(g).arrayLevels & ~shared];
      if (alone === 0 || otherAlone === 0) continue;
      throw new StoreError(171, `cannot index parallel arrays [${one.text}] [${other.text}]`);
    }
  }
}

/** Bits of the levels at which the two paths are at one and the same array, if at any. */
function sharedLevels(a: Path, b: Path): number {
  let level = 0;
  for (; level < a.parts.length && level < b.parts.length; level++) {
    if (a.parts[level]?.equals(b.parts[level] ?? Buffer.alloc(0)) !== true) break;
  }
  return 2 ** (Math.min(level, 31) + 1) - 1;
}

/** mongod's `indexMaxNumGeneratedKeysPerDocument`. */
const KEYS_MAX = 100_000;
/** The limit of combinations, some 0.2 s of work, for an index `byElement`: most of them make no key. */
const LOOKS_MAX = 10_000_000;

function rejectTooMany(index: Index): void {
  let combinations = 1;
  for (let f = 0; f < index.fields.length; f++) combinations *= valuesFor(f).types.length;
  if (combinations > (index.byElement ? LOOKS_MAX : KEYS_MAX)) throw tooMany(index);
}

function tooMany(index: Index): StoreError {
  return new StoreError(201, `Index key generation of ${index.name} exceeded ${KEYS_MAX} keys of one document`);
}

/** Where the key of `_id` begins in an entry's key, as the entry's value: slices of one table, made once. */
const OFFSETS = Buffer.allocUnsafeSlow(2 * 2048);
for (let i = 0; i < 2048; i++) OFFSETS.writeUInt16BE(i, i * 2);

/** The value of an entry with a key of this many bytes; see `Database.entries`. */
export function entryValue(index: Index | undefined, keyBytes: number, idKey: Buffer): Buffer {
  if (index?.unique === true) return idKey;
  const offset = keyBytes - idKey.length;
  return OFFSETS.subarray(offset * 2, offset * 2 + 2);
}
