import { spend } from '../bson/effort.ts';
import { malformed, notSupported } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { parsePath } from '../bson/path.ts';
import { documentBytes, TYPE, type Value } from '../bson/read.ts';
import { asString } from '../bson/value.ts';
import type { Filter } from '../query/filter.ts';
import type { SortField } from '../query/sort.ts';
import type { Collection } from '../storage/catalog.ts';
import type { KeyRange } from '../storage/database.ts';
import { type Index, type IndexField, isIdKey } from '../storage/index-definition.ts';
import { type Bounds, boundsOf, implies, isWide, keyRange } from './bounds.ts';

/** How to find candidates: each one is still checked against the whole filter. */
export type Plan =
  | { readonly kind: 'ids'; readonly keys: readonly Buffer[]; readonly sorted: boolean }
  | IndexPlan
  | { readonly kind: 'union'; readonly branches: readonly Plan[]; readonly sorted: false };

export interface IndexPlan {
  readonly kind: 'index';
  /** Undefined: the documents themselves, which lie in the order of `_id`. */
  readonly index: Index | undefined;
  readonly ranges: readonly KeyRange[];
  readonly reverse: boolean;
  readonly sorted: boolean;
  /** No bounds: every document of the collection is examined. */
  readonly everything: boolean;
  /** Every entry within the ranges matches: the bounds say all that the filter says. */
  readonly exact: boolean;
}

export interface Query {
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  readonly limited: boolean;
  readonly hint: Value;
}

/** Each value of a list in the middle of an index needs its own range. Beyond this, seeks cost more than they save. */
const MAX_RANGES = 20_000;

const ID_FIELDS: readonly IndexField[] = [{ path: parsePath('_id'), descending: false }];

export function planQuery(collection: Collection, query: Query): Plan {
  const bounds = boundsOf(query.filter);
  const ids = bounds.get('_id')?.points;
  if (query.hint.type !== TYPE.missing) return hintedPlan(collection, query, bounds);
  if (ids !== undefined) return idsPlan(collection, ids, query.sort);
  let best = candidate(collection, undefined, query, bounds);
  for (const index of collection.indexes) {
    if (!usable(index, bounds)) continue;
    const other = candidate(collection, index, query, bounds);
    if (other.score > best.score) best = other;
  }
  if (best.score === 0) return unionPlan(collection, query) ?? best.plan;
  return best.plan;
}

/** A hint to an index that lacks documents which the filter may match is refused: mongod would give a part of them. */
function hintedPlan(collection: Collection, query: Query, bounds: ReadonlyMap<string, Bounds>): Plan {
  const { hint } = query;
  const name = asString(hint);
  if (name === undefined && hint.type !== TYPE.object) throw malformed('Hint must be a string or an object');
  if (name === '_id_' || (hint.type === TYPE.object && isIdKey(documentBytes(hint)))) {
    return candidate(collection, undefined, query, bounds).plan;
  }
  const index = collection.indexes.find((one) => one.name === name || sameKey(one, hint));
  if (index === undefined) throw malformed('hint provided does not correspond to an existing index');
  if (!usable(index, bounds)) throw notSupported(`A hint to ${index.name} where it lacks documents that may match`);
  return candidate(collection, index, query, bounds).plan;
}

function sameKey(index: Index, hint: Value): boolean {
  return hint.type === TYPE.object && index.key.equals(documentBytes(hint));
}

const buffer = new KeyBuffer();

function idsPlan(collection: Collection, ids: readonly Value[], sort: readonly SortField[]): Plan {
  const keys = ids.map((id) => {
    buffer.start(collection.id).append(id.type, id.buf, id.pos);
    buffer.limit(4);
    return buffer.copy();
  });
  if (keys.length > 1) keys.sort(Buffer.compare);
  const first = sort[0];
  const ordered = first === undefined || keys.length === 1 || first.path.text === '_id';
  if (first?.path.text === '_id' && first.descending) keys.reverse();
  return { kind: 'ids', keys: keys.filter((key, i) => i === 0 || keys[i - 1]?.equals(key) !== true), sorted: ordered };
}

function usable(index: Index, bounds: ReadonlyMap<string, Bounds>): boolean {
  if (index.partial !== undefined && !implies(bounds, index.partial.filter)) return false;
  return !index.sparse || index.fields.some(({ path }) => bounds.get(path.text)?.present === true);
}

/** Effort (bson/effort.ts) of considering one index for one branch of a filter: it takes about a microsecond. */
const PLANNING_BYTES = 1_000;

interface Candidate {
  readonly plan: IndexPlan;
  /** Higher is better; 0: it would examine everything. */
  readonly score: number;
}

function candidate(
  collection: Collection,
  index: Index | undefined,
  query: Query,
  bounds: ReadonlyMap<string, Bounds>,
): Candidate {
  spend(PLANNING_BYTES);
  const fields = index?.fields ?? ID_FIELDS;
  let prefixes: (readonly Value[])[] = [[]];
  let used = 0;
  for (; used < fields.length; used++) {
    if (!ofSameElement(fields, index, used, bounds)) break;
    const points = bounds.get(fields[used]?.path.text ?? '')?.points;
    if (points === undefined || prefixes.length * points.length > MAX_RANGES) break;
    prefixes = prefixes.flatMap((prefix) => points.map((point) => [...prefix, point]));
  }
  const field = fields[used];
  const known = field === undefined ? undefined : bounds.get(field.path.text);
  const range = ofSameElement(fields, index, used, bounds) ? known : undefined;
  const ranged = range !== undefined && (range.low !== undefined || range.high !== undefined);
  const order = sortBy(fields, index, used, prefixes.length, query.sort, bounds);
  // One element of an array may satisfy the lower bound and another the upper one, unless a single one was asked for.
  const apart = range?.element !== undefined ? index?.nested[used] === true : index?.multikey[used] === true;
  const ranges = prefixes.map((prefix) =>
    keyRange(index?.id ?? collection.id, fields, prefix, ranged ? range : undefined, apart),
  );
  if (ranges.length > 1) ranges.sort((a, b) => Buffer.compare(a.start, b.start));
  const bounded = used > 0 || ranged;
  const helps = bounded || (order !== undefined && query.sort.length > 0);
  const sorted = order !== undefined;
  const score = helps
    ? used * 10 +
      (ranged ? 5 : 0) +
      (sorted && query.sort.length > 0 ? (query.limited ? 8 : 3) : 0) +
      (index?.partial ? 1 : 0)
    : 0;
  return {
    plan: {
      kind: 'index',
      index,
      ranges: ranges.filter((one, i) => i === 0 || ranges[i - 1]?.start.equals(one.start) !== true),
      reverse: order === 'reverse',
      sorted,
      everything: !bounded,
      exact: !ranges.some(isWide) && isExact(query.filter, fields, index, used + (ranged ? 1 : 0)),
    },
    score,
  };
}

const RANGE_OPS: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte']);

/**
 * Whether the bounds of the first `used` fields say all that the filter says, so that no document needs a look. True
 * only for a sure, common case: each of these fields ascends and equals one string; the last may be a range of them.
 */
function isExact(filter: Filter, fields: readonly IndexField[], index: Index | undefined, used: number): boolean {
  if (used === 0 || index?.multikey.some((flag) => flag) === true) return false;
  const tests = filter.kind === 'and' ? filter.filters : [filter];
  const equalled = new Set<string>();
  for (const test of tests) {
    if (test.kind !== 'field') return false;
    const { path, test: condition } = test;
    const at = fields.findIndex((field) => field.path.text === path.text);
    if (at < 0 || at >= used || fields[at]?.descending === true || !('value' in condition)) return false;
    if (condition.value.type !== TYPE.string) return false;
    if (condition.op === 'eq') {
      if (equalled.has(path.text)) return false;
      equalled.add(path.text);
    } else if (!RANGE_OPS.has(condition.op) || at !== used - 1) return false;
  }
  return fields.slice(0, used - 1).every(({ path }) => equalled.has(path.text));
}

/**
 * Whether the filter's conditions on this field and those before it may be combined in one entry, which belongs to one
 * element of an array. If different elements may satisfy the conditions, only the first field is bounded.
 */
function ofSameElement(
  fields: readonly IndexField[],
  index: Index | undefined,
  at: number,
  bounds: ReadonlyMap<string, Bounds>,
): boolean {
  if (index?.byElement !== true || index.multikey[at] !== true) return true;
  const element = bounds.get(fields[at]?.path.text ?? '')?.element;
  return fields.every(
    ({ path }, i) =>
      i >= at || index.multikey[i] !== true || (element !== undefined && bounds.get(path.text)?.element === element),
  );
}

/** Whether the index gives the order asked for, and in which direction; undefined when it does not. */
function sortBy(
  fields: readonly IndexField[],
  index: Index | undefined,
  used: number,
  prefixes: number,
  sort: readonly SortField[],
  bounds: ReadonlyMap<string, Bounds>,
): 'forward' | 'reverse' | undefined {
  if (sort.length === 0) return 'forward';
  // Several values of the first fields: one range after the other gives the order of the whole key, and no other.
  const several = prefixes > 1;
  let at = several ? 0 : used;
  let direction: 'forward' | 'reverse' | undefined;
  for (const { path, descending } of sort) {
    // A field that is pinned to one value sorts nothing.
    const pinned = fields.findIndex((one, i) => i < used && one.path.text === path.text && index?.multikey[i] !== true);
    if (!several && pinned >= 0 && bounds.get(path.text)?.points?.length === 1) continue;
    const field = fields[at];
    if (field === undefined || field.path.text !== path.text || index?.multikey[at] === true) return undefined;
    const wanted = field.descending === descending ? 'forward' : 'reverse';
    if (direction !== undefined && direction !== wanted) return undefined;
    direction = wanted;
    at++;
  }
  return direction ?? 'forward';
}

function unionPlan(collection: Collection, query: Query): Plan | undefined {
  const or = orOf(query.filter);
  if (or === undefined) return undefined;
  const branches = or.map((filter) => planQuery(collection, { ...query, filter, sort: [], limited: false }));
  const scanning = branches.some((plan) => plan.kind === 'index' && plan.everything);
  return scanning ? undefined : { kind: 'union', branches, sorted: false };
}

function orOf(filter: Filter): readonly Filter[] | undefined {
  if (filter.kind === 'or') return filter.filters;
  if (filter.kind !== 'and') return undefined;
  for (const part of filter.filters) {
    const found = orOf(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
