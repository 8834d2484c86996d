import { spend } from '../bson/effort.ts';
import { KeyBuffer } from '../bson/key.ts';
import { compareAt, rankOf } from '../bson/order.ts';
import { type Visit, visitPath } from '../bson/path.ts';
import { Elements, int32At, isContainer, TYPE, type Value } from '../bson/read.ts';
import { isNullish, stringAt } from '../bson/value.ts';
import { type ExpressionContext, isTrue } from './expression.ts';
import type { Filter, Test } from './filter.ts';

/** Says of a document (or of an array's element) in its bytes whether it matches. */
export type Predicate = (type: number, buf: Buffer, pos: number) => boolean;

export function predicate(filter: Filter, context: ExpressionContext): Predicate {
  switch (filter.kind) {
    case 'and':
      return every(filter.filters.map((part) => predicate(part, context)));
    case 'or': {
      const parts = filter.filters.map((part) => predicate(part, context));
      return (type, buf, pos) => parts.some((part) => part(type, buf, pos));
    }
    case 'nor': {
      const parts = filter.filters.map((part) => predicate(part, context));
      return (type, buf, pos) => !parts.some((part) => part(type, buf, pos));
    }
    case 'not': {
      const part = predicate(filter.filter, context);
      return (type, buf, pos) => !part(type, buf, pos);
    }
    case 'expr':
      return (_type, buf, pos) => isTrue(filter.expression, { buf, pos, context });
    case 'field': {
      const { path, test } = filter;
      const leaf = leafOf(test, context);
      // `$exists` and `$elemMatch` look at an array as a whole; the others at its elements too.
      const expand = test.op !== 'exists' && test.op !== 'elemMatch';
      return (type, buf, pos) => {
        spend(isContainer(type) ? int32At(buf, pos) : SCALAR_BYTES);
        return visitPath(path, type, buf, pos, expand, leaf);
      };
    }
  }
}

/** Effort (bson/effort.ts) of a look at a value without elements. */
const SCALAR_BYTES = 16;

function every(parts: Predicate[]): Predicate {
  const [first, second] = parts;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  if (parts.length === 2) return (type, buf, pos) => first(type, buf, pos) && second(type, buf, pos);
  return (type, buf, pos) => {
    for (const part of parts) if (!part(type, buf, pos)) return false;
    return true;
  };
}

function leafOf(test: Test, context: ExpressionContext): Visit {
  switch (test.op) {
    case 'eq':
      return equalTo(test.value);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return ordered(test.op, test.value);
    case 'in':
      return oneOf(test.values);
    case 'regex':
      return (type, buf, pos) => type === TYPE.string && test.matches(stringAt(buf, pos));
    case 'exists':
      return (type) => type !== TYPE.missing;
    case 'elemMatch': {
      const inner = predicate(test.filter, context);
      return (type, buf, pos) => {
        if (type !== TYPE.array) return false;
        const elements = new Elements(buf, pos);
        while (elements.next()) {
          // An array among the elements is an object whose fields are numbers; nothing is looked for in its elements.
          if (isContainer(elements.type) && inner(TYPE.object, buf, elements.pos)) return true;
        }
        return false;
      };
    }
  }
}

function equalTo(value: Value): Visit {
  const { type: wanted, buf: operand, pos: at } = value;
  if (isNullish(wanted)) return (type) => isNullish(type);
  if (wanted === TYPE.string) {
    const end = at + 4 + int32At(operand, at);
    return (type, buf, pos) => {
      if (type !== TYPE.string) return false;
      for (let i = at, p = pos; i < end; i++, p++) if (operand[i] !== buf[p]) return false;
      return true;
    };
  }
  return (type, buf, pos) => type !== TYPE.missing && compareAt(type, buf, pos, wanted, operand, at) === 0;
}

type Ordering = 'gt' | 'gte' | 'lt' | 'lte';

/** Only values of the operand's own rank compare; null answers to `$gte` and `$lte`, NaN to nothing but itself. */
function ordered(op: Ordering, value: Value): Visit {
  const { type: wanted, buf: operand, pos: at } = value;
  const inclusive = op === 'gte' || op === 'lte';
  if (isNullish(wanted)) return (type) => inclusive && isNullish(type);
  const above = op === 'gt' || op === 'gte';
  const holds = (order: number): boolean => (order === 0 ? inclusive : order > 0 === above);
  const rank = rankOf(wanted);
  if (isNaNValue(wanted, operand, at)) return (type, buf, pos) => inclusive && isNaNValue(type, buf, pos);
  return (type, buf, pos) => {
    if (type === TYPE.missing || rankOf(type) !== rank || isNaNValue(type, buf, pos)) return false;
    return holds(compareAt(type, buf, pos, wanted, operand, at));
  };
}

function isNaNValue(type: number, buf: Buffer, pos: number): boolean {
  return type === TYPE.double && Number.isNaN(buf.readDoubleLE(pos));
}

/** Above this a list is looked up by key bytes instead of compared one by one. */
const LINEAR_LIMIT = 8;
const scratch = new KeyBuffer();

function oneOf(values: readonly Value[]): Visit {
  if (values.length <= LINEAR_LIMIT) {
    const equal = values.map(equalTo);
    return (type, buf, pos) => equal.some((leaf) => leaf(type, buf, pos));
  }
  const known = new Set(values.map((value) => lookupKey(value.type, value.buf, value.pos)));
  return (type, buf, pos) => known.has(lookupKey(type, buf, pos));
}

function lookupKey(type: number, buf: Buffer, pos: number): string {
  scratch.start(0).append(isNullish(type) ? TYPE.null : type, buf, pos);
  return scratch.view().toString('latin1');
}
