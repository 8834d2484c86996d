import { compare, equals, rankOf } from '../bson/order.ts';
import { TYPE, type Value } from '../bson/read.ts';
import { isNullish } from '../bson/value.ts';
import type { Filter, Test } from '../query/filter.ts';

/** The conditions of a filter on one path, as far as an index can use them. */
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

/** Bounds by path. What is below `$or`, `$nor` and `$not` bounds nothing. */
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

/**
 * `{ history: { $elemMatch: { at: … } } }` bounds `history.at`. These bounds replace others of the path, except points and those of
 * another `$elemMatch`.
 */
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
