import { KEPT_BYTES, KeyBuffer } from '../bson/key.ts';
import { compare, equals, rankOf } from '../bson/order.ts';
import { fieldOf, TYPE, type Value } from '../bson/read.ts';
import { isNullish } from '../bson/value.ts';
import type { Filter, Test } from '../query/filter.ts';
import type { Entry, KeyRange } from '../storage/database.ts';
import type { Index, IndexField } from '../storage/index-definition.ts';
import { EntryKeys } from '../storage/index-keys.ts';

export interface Bounds {
  /** The path has one of these values (`$eq`, `$in`). */
  points: readonly Value[] | undefined;
  low: Bound | undefined;
  high: Bound | undefined;
  /** A value must be there: null and missing are excluded. */
  present: boolean;
  /** The `$elemMatch` behind these bounds: one element of an array must satisfy all of them together. */
  element: Test | undefined;
}

export interface Bound {
  readonly value: Value;
  readonly inclusive: boolean;
}

/** By path. Conditions below `$or`, `$nor` and `$not` bound nothing. */
export function boundsOf(filter: Filter, into = new Map<string, Bounds>()): Map<string, Bounds> {
  if (filter.kind === 'and') for (const part of filter.filters) boundsOf(part, into);
  if (filter.kind === 'field') {
    const { path, test } = filter;
    if (test.op === 'elemMatch') {
      elementBounds(path.text, test, into);
      return into;
    }
    let bounds = into.get(path.text);
    if (bounds === undefined) {
      bounds = { points: undefined, low: undefined, high: undefined, present: false, element: undefined };
      into.set(path.text, bounds);
    }
    // Another condition on the path may be satisfied by another element: it does not narrow these bounds.
    if (bounds.element === undefined) narrow(bounds, test);
  }
  return into;
}

const NUMBERED = /(^|\.)\d+(\.|$)/;

/** `{ history: { $elemMatch: { at: … } } }` bounds `history.at`; points and another `$elemMatch` stay. */
function elementBounds(
  path: string,
  test: Extract<Test, { readonly op: 'elemMatch' }>,
  into: Map<string, Bounds>,
): void {
  for (const [inner, bounds] of boundsOf(test.filter)) {
    const known = into.get(`${path}.${inner}`);
    // A number in the path may name an element of an inner array. An index has no entries for those.
    if (known?.points !== undefined || known?.element !== undefined || NUMBERED.test(inner)) continue;
    // An element that is an array has no key, and matches null.
    if (!bounds.present) continue;
    into.set(`${path}.${inner}`, { ...bounds, element: test });
  }
}

function narrow(bounds: Bounds, test: Test): void {
  switch (test.op) {
    case 'eq':
      // An array also matches as an element, and its own key is not in the index: no bound.
      if (test.value.type === TYPE.array) return;
      bounds.points = [test.value];
      if (!isNullish(test.value.type)) bounds.present = true;
      return;
    case 'in': {
      if (test.values.some((value) => value.type === TYPE.array)) return;
      if (bounds.points === undefined || bounds.points.length > test.values.length) bounds.points = test.values;
      if (!test.values.some((value) => isNullish(value.type))) bounds.present = true;
      return;
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      narrowRange(bounds, test.op, test.value);
      return;
    case 'exists':
      bounds.present = true;
      return;
    default:
  }
}

function narrowRange(bounds: Bounds, op: 'gt' | 'gte' | 'lt' | 'lte', value: Value): void {
  const rank = rankOf(value.type);
  if (value.type === TYPE.array || isNullish(value.type)) return;
  bounds.present = true;
  const bound = { value, inclusive: op === 'gte' || op === 'lte' };
  const other = op === 'gt' || op === 'gte' ? bounds.high : bounds.low;
  if (other !== undefined && rankOf(other.value.type) !== rank) return;
  if (op === 'gt' || op === 'gte') {
    const order = bounds.low === undefined ? 1 : compare(value, bounds.low.value);
    if (order > 0 || (order === 0 && !bound.inclusive)) bounds.low = bound;
  } else {
    const order = bounds.high === undefined ? -1 : compare(value, bounds.high.value);
    if (order < 0 || (order === 0 && !bound.inclusive)) bounds.high = bound;
  }
}

/** Whether every document within these bounds satisfies a partial filter, so that the partial index has them all. */
export function implies(bounds: ReadonlyMap<string, Bounds>, partial: Filter): boolean {
  if (partial.kind === 'and') return partial.filters.every((part) => implies(bounds, part));
  if (partial.kind !== 'field') return false;
  const known = bounds.get(partial.path.text);
  if (known === undefined) return false;
  const { test } = partial;
  switch (test.op) {
    case 'exists':
      return known.present;
    case 'eq':
      return known.points?.every((point) => equals(point, test.value)) ?? false;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return insideRange(known, test.op, test.value);
    default:
      return false;
  }
}

function insideRange(known: Bounds, op: 'gt' | 'gte' | 'lt' | 'lte', limit: Value): boolean {
  const inside = (value: Value, open: boolean): boolean => {
    if (rankOf(value.type) !== rankOf(limit.type)) return false;
    const order = compare(value, limit);
    if (order === 0) return open || op === 'gte' || op === 'lte';
    return order > 0 === (op === 'gt' || op === 'gte');
  };
  if (known.points !== undefined) return known.points.every((point) => inside(point, false));
  const bound = op === 'gt' || op === 'gte' ? known.low : known.high;
  return bound !== undefined && inside(bound.value, !bound.inclusive);
}

const buffer = new KeyBuffer();

/**
 * The keys of an index (or of a collection's documents) whose first fields have the values of `prefix` and whose next
 * one lies within `bounds`. `apart`: the bounds may hold for two elements of an array, so only one narrows the range.
 */
export function keyRange(...args: Parameters<typeof wholeRange>): KeyRange {
  return widened(wholeRange(...args));
}

function wholeRange(
  id: number,
  fields: readonly IndexField[],
  prefix: readonly Value[],
  bounds: Bounds | undefined,
  apart: boolean,
): KeyRange {
  buffer.start(id);
  for (const [i, value] of prefix.entries()) {
    buffer.append(value.type, value.buf, value.pos, fields[i]?.descending ?? false);
  }
  const common = buffer.copy();
  if (bounds === undefined) {
    if (prefix.length > 0) return { start: common, end: plus(common, 0xff) };
    const end = Buffer.allocUnsafe(4);
    end.writeUInt32BE(id + 1, 0);
    return { start: common, end };
  }
  const low = bounds.low;
  const high = apart && low !== undefined ? undefined : bounds.high;
  const descending = fields[prefix.length]?.descending ?? false;
  const rank = rankOf((low ?? high)?.value.type ?? TYPE.null);
  const [first, last] = descending ? [high, low] : [low, high];
  const encode = (value: Value): Buffer => {
    buffer.start(id).appendBytes(common, 4, common.length);
    buffer.append(value.type, value.buf, value.pos, descending);
    return buffer.copy();
  };
  const bracket = descending ? rank ^ 0xff : rank;
  const start =
    first === undefined
      ? plus(common, bracket)
      : first.inclusive
        ? encode(first.value)
        : plus(encode(first.value), 0xff);
  const end =
    last === undefined
      ? plus(common, bracket + 1)
      : last.inclusive
        ? plus(encode(last.value), 0xff)
        : descending
          ? plus(encode(last.value), 0x01) // a string that goes on after a NUL is greater, and lies before that
          : encode(last.value);
  return { start, end };
}

function plus(bytes: Buffer, byte: number): Buffer {
  const out = Buffer.allocUnsafe(bytes.length + 1);
  bytes.copy(out);
  out[bytes.length] = byte;
  return out;
}

/**
 * Keys too long for LMDB keep their first bytes, then a hash (`bson/key.ts`). They lie between the right neighbours,
 * but in no order among those that begin alike. So a range with bounds of that length takes all that begin alike, and
 * the filter is checked anyway; for a sort, entries that begin alike are ordered by their documents.
 */
const PREFIX_BYTES = 4;
const KEPT_END = PREFIX_BYTES + KEPT_BYTES;
/** Longer than any hash: greater than every key that begins alike. */
const AFTER_ALL = Buffer.alloc(40, 0xff);

/** The range with bounds no longer than what long keys keep. */
function widened({ start, end }: KeyRange): KeyRange {
  return {
    start: start.length > KEPT_END ? start.subarray(0, KEPT_END) : start,
    end: end.length > KEPT_END ? Buffer.concat([end.subarray(0, KEPT_END), AFTER_ALL]) : end,
  };
}

/** Whether the range may hold keys that lie outside its bounds. */
export function isWide({ start, end }: KeyRange): boolean {
  return start.length >= KEPT_END || end.length >= KEPT_END;
}

/** The bytes that an entry of this length shares with those it has no order with; undefined for others. */
export function startOfLong({ key, value }: Entry, index: Index | undefined): Buffer | undefined {
  if (key.length < KEPT_END) return undefined;
  const end = index === undefined ? key.length : index.unique ? key.length - 1 : value.readUInt16BE(0);
  return end < KEPT_END ? undefined : key.subarray(0, KEPT_END);
}

const whole = new EntryKeys(true);
const kept = new EntryKeys();
const idBuffer = new KeyBuffer();
const ID = Buffer.from('_id');

/** The key of this entry of the document as it would be without a limit of length, for comparing. */
export function wholeKey(index: Index | undefined, { key }: Entry, idKey: Buffer, doc: Buffer): Buffer {
  if (index === undefined) {
    const id = fieldOf(doc, 0, ID);
    idBuffer.start(0).append(id.type, id.buf, id.pos);
    return idBuffer.copy();
  }
  whole.clear();
  kept.clear();
  whole.add(index, doc, idKey);
  kept.add(index, doc, idKey);
  for (let k = 0; k < kept.count; k++) if (kept.view(k).equals(key)) return Buffer.from(whole.view(k));
  return key; // the document has changed since the entry was read
}
