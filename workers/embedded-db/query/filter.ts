import { spend } from '../bson/effort.ts';
import { malformed, notSupported } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { compareAt, rankOf } from '../bson/order.ts';
import { type Path, parsePath, type Visit, visitPath } from '../bson/path.ts';
import { Elements, int32At, isContainer, isEmptyContainer, MISSING, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asString, isNullish, isTruthy, stringAt } from '../bson/value.ts';
import { type Expression, type ExpressionContext, isTrue, parseExpression } from './expression.ts';

/** A parsed filter: what `predicate` runs and `plan.ts` finds index bounds in. Values point into the filter's bytes. */
export type Filter =
  | { readonly kind: 'and' | 'or' | 'nor'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'field'; readonly path: Path; readonly test: Test }
  | { readonly kind: 'expr'; readonly expression: Expression };

export type Test =
  | { readonly op: 'eq' | 'gt' | 'gte' | 'lt' | 'lte'; readonly value: Value }
  | { readonly op: 'in'; readonly values: readonly Value[] }
  | { readonly op: 'regex'; readonly matches: (text: string) => boolean }
  | { readonly op: 'exists' }
  /** Matches if one element that is an object satisfies the whole filter. */
  | { readonly op: 'elemMatch'; readonly filter: Filter };

export const EVERYTHING: Filter = { kind: 'and', filters: [] };

export function parseFilter(buf: Buffer, doc: number, of: 'document' | 'element' = 'document'): Filter {
  const filters: Filter[] = [];
  const elements = new Elements(buf, doc);
  while (elements.next()) {
    const name = elements.name();
    const value = elements.value();
    if (name.startsWith('$')) {
      filters.push(parseTopLevel(name, value, of));
    } else if (isOperators(value)) {
      parseOperators(parsePath(name), value, filters);
    } else {
      filters.push(equalTo(parsePath(name), value));
    }
  }
  return all(filters);
}

function all(filters: Filter[]): Filter {
  const only = filters[0];
  return filters.length === 1 && only !== undefined ? only : { kind: 'and', filters };
}

/** `{ $gt: 1 }`, but not `{ $ref: …, $id: … }`, which is a value. */
export function isOperators({ type, buf, pos }: Value): boolean {
  if (type !== TYPE.object || isEmptyContainer(buf, pos) || buf[pos + 5] !== 0x24) return false;
  const first = new Elements(buf, pos);
  first.next();
  const name = first.name();
  return name !== '$ref' && name !== '$id' && name !== '$db';
}

function parseTopLevel(name: string, value: Value, of: 'document' | 'element'): Filter {
  switch (name) {
    case '$and':
    case '$or':
    case '$nor': {
      if (value.type !== TYPE.array) throw malformed(`${name} must be an array`);
      const parts = valuesOf(value);
      if (parts.length === 0 || parts.some(({ type }) => type !== TYPE.object))
        throw malformed(`${name} needs documents`);
      const filters = parts.map(({ buf, pos }) => parseFilter(buf, pos, of));
      return { kind: name === '$and' ? 'and' : name === '$or' ? 'or' : 'nor', filters };
    }
    case '$expr':
      if (of === 'element') throw malformed('$expr can only be applied to the top-level document');
      return { kind: 'expr', expression: parseExpression(value) };
    default:
      throw notSupported(name);
  }
}

function equalTo(path: Path, value: Value): Filter {
  return { kind: 'field', path, test: { op: 'eq', value } };
}

function not(filter: Filter): Filter {
  return { kind: 'not', filter };
}

function parseOperators(path: Path, operators: Value, out: Filter[]): void {
  const elements = new Elements(operators.buf, operators.pos);
  while (elements.next()) {
    const parsed = parseOperator(path, elements.name(), elements.value(), operators);
    if (parsed !== undefined) out.push(parsed);
  }
}

function parseOperator(path: Path, op: string, value: Value, siblings: Value): Filter | undefined {
  const field = (test: Test): Filter => ({ kind: 'field', path, test });
  switch (op) {
    case '$eq':
      return equalTo(path, value);
    case '$ne':
      return not(equalTo(path, value));
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return field({ op: COMPARISONS[op], value });
    case '$in':
      return field(parseIn(op, value));
    case '$nin':
      return not(field(parseIn(op, value)));
    case '$exists':
      return isTruthy(value) ? field({ op: 'exists' }) : not(field({ op: 'exists' }));
    case '$regex':
      return field(regexOperator(value, siblings));
    case '$options':
      if (findIn(siblings, '$regex').type === TYPE.missing) throw malformed('$options needs a $regex');
      return undefined;
    case '$not':
      return not(parseNot(path, value));
    case '$elemMatch':
      return field(parseElemMatch(value));
    default:
      throw notSupported(op);
  }
}

const COMPARISONS = { $gt: 'gt', $gte: 'gte', $lt: 'lt', $lte: 'lte' } as const;

function findIn(object: Value, name: string): Value {
  const elements = new Elements(object.buf, object.pos);
  while (elements.next()) if (elements.name() === name) return elements.value();
  return MISSING;
}

function parseIn(op: string, value: Value): Test {
  if (value.type !== TYPE.array) throw malformed(`${op} needs an array`);
  const values = valuesOf(value);
  if (values.some(isOperators)) throw malformed(`cannot nest $ under ${op}`);
  return { op: 'in', values };
}

function parseNot(path: Path, value: Value): Filter {
  if (!isOperators(value)) throw malformed('$not needs operators');
  const filters: Filter[] = [];
  parseOperators(path, value, filters);
  return all(filters);
}

function firstName(object: Value): string {
  const elements = new Elements(object.buf, object.pos);
  return elements.next() ? elements.name() : '';
}

function parseElemMatch(value: Value): Test {
  if (value.type !== TYPE.object) throw malformed('$elemMatch needs an Object');
  const first = firstName(value);
  if (isOperators(value) && first !== '$and' && first !== '$or' && first !== '$nor' && first !== '$expr') {
    throw notSupported('$elemMatch of elements that are no documents');
  }
  return { op: 'elemMatch', filter: parseFilter(value.buf, value.pos, 'element') };
}

function regexOperator(value: Value, siblings: Value): Test {
  const options = findIn(siblings, '$options');
  const flags = options.type === TYPE.missing ? '' : asString(options);
  const source = asString(value);
  if (source === undefined || flags === undefined) throw malformed('$regex and $options are strings');
  return { op: 'regex', matches: compileRegex(source, flags) };
}

/** mongod's limit since 7.0. */
const PATTERN_MAX = 16_384;

/** Only characters, classes and anchors: a pattern that repeats or chooses may take practically for ever. */
function compileRegex(source: string, flags: string): (text: string) => boolean {
  if (/[^imsu]/.test(flags)) throw notSupported(`The regular expression flags ${flags}`);
  if (source.length > PATTERN_MAX) throw malformed('Regular expression is too long');
  if (source.includes('\0')) throw malformed('Regular expression cannot contain an embedded null byte');
  if (/[*+?{|(]/.test(source.replace(/\\./gs, ''))) throw notSupported('A regular expression that repeats or chooses');
  try {
    const regex = new RegExp(source, [...new Set(`${flags}u`)].join(''));
    return (text) => {
      spend(text.length * (1 + source.length / 64)); // the work is at most the length of the text times that of the pattern
      return regex.test(text);
    };
  } catch (error) {
    throw malformed(`Regular expression is invalid: ${error instanceof Error ? error.message : ''}`);
  }
}

/** The value of a filter's plain `_id: <value>`: the commonest filter needs no plan. */
export function idOf(filter: Filter): Value | undefined {
  if (filter.kind === 'field') {
    return filter.path.text === '_id' && filter.test.op === 'eq' ? filter.test.value : undefined;
  }
  if (filter.kind !== 'and') return undefined;
  for (const part of filter.filters) {
    const id = idOf(part);
    if (id !== undefined) return id;
  }
  return undefined;
}

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
      return sameAs(test.value);
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

function sameAs(value: Value): Visit {
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

/** A longer list is looked up by key bytes instead of compared one by one. */
const LINEAR_LIMIT = 8;
const scratch = new KeyBuffer();

function oneOf(values: readonly Value[]): Visit {
  if (values.length <= LINEAR_LIMIT) {
    const equal = values.map(sameAs);
    return (type, buf, pos) => equal.some((leaf) => leaf(type, buf, pos));
  }
  const known = new Set(values.map((value) => lookupKey(value.type, value.buf, value.pos)));
  return (type, buf, pos) => known.has(lookupKey(type, buf, pos));
}

function lookupKey(type: number, buf: Buffer, pos: number): string {
  scratch.start(0).append(isNullish(type) ? TYPE.null : type, buf, pos);
  return scratch.view().toString('latin1');
}
