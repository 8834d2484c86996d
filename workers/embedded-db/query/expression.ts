import { spend } from '../bson/effort.ts';
import { malformed, notSupported } from '../bson/errors.ts';
import { arithmetic, Sum } from '../bson/number.ts';
import { compareAt, rankOf } from '../bson/order.ts';
import { parsePath } from '../bson/path.ts';
import { Elements, fieldOf, int32At, MISSING, TYPE, type Value, valuesOf } from '../bson/read.ts';
import {
  asNumber,
  asString,
  date,
  double,
  FALSE,
  int64,
  isNullish,
  isNumber,
  isTruthy,
  NULL,
  object,
  TRUE,
  typeName,
} from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';

/** Aggregation expressions: the small set that leases, debits and roll-ups need; all others are refused. */
export type Expression = (scope: Scope) => Value;

export interface ExpressionContext {
  /** `$$NOW`: the store's time when the command began. */
  readonly nowMs: number;
}

export interface Scope {
  readonly buf: Buffer;
  readonly pos: number;
  readonly context: ExpressionContext;
}

export function isTrue(expression: Expression, scope: Scope): boolean {
  return isTruthy(expression(scope));
}

export function parseExpression(value: Value): Expression {
  const text = asString(value);
  if (text?.startsWith('$$')) return parseVariable(text);
  if (text?.startsWith('$')) return fieldPath(text.slice(1));
  if (value.type === TYPE.array) return ofAll(valuesOf(value).map(parseExpression), arrayValue);
  if (value.type !== TYPE.object) return () => value;
  const elements = new Elements(value.buf, value.pos);
  if (!elements.next()) return () => value;
  const name = elements.name();
  if (!name.startsWith('$')) return parseObject(value);
  const operand = elements.value();
  if (elements.next()) throw malformed('an object representing an expression must have exactly one field');
  return parseOperator(name, operand);
}

function parseVariable(text: string): Expression {
  const name = text.slice(2);
  switch (name) {
    case 'NOW':
      return ({ context }) => date(context.nowMs);
    case 'REMOVE':
      return () => MISSING;
    default:
      throw notSupported(text);
  }
}

function fieldPath(text: string): Expression {
  if (text.split('.').some((name) => name === '' || name.startsWith('$'))) throw malformed(`no field path: $${text}`);
  const { parts } = parsePath(text);
  return ({ buf, pos }) => {
    spend(int32At(buf, pos));
    let value: Value = { type: TYPE.object, buf, pos };
    for (const part of parts) {
      if (value.type === TYPE.array) throw notSupported('A field of the elements of an array in an expression');
      if (value.type !== TYPE.object) return MISSING;
      value = fieldOf(value.buf, value.pos, part);
    }
    return value;
  };
}

function ofAll(parts: readonly Expression[], operation: (values: readonly Value[]) => Value): Expression {
  return (scope) => operation(parts.map((part) => part(scope)));
}

function parseObject(value: Value): Expression {
  const fields: { name: string; expression: Expression }[] = [];
  const elements = new Elements(value.buf, value.pos);
  while (elements.next()) {
    const name = elements.name();
    if (name.startsWith('$') || name.includes('.')) throw malformed(`no name of a field: ${name}`);
    fields.push({ name, expression: parseExpression(elements.value()) });
  }
  return (scope) => {
    const writer = new BsonWriter(256);
    const handle = writer.begin();
    for (const { name, expression } of fields) {
      const part = expression(scope);
      if (part.type !== TYPE.missing) writer.value(name, part);
    }
    return object(made(writer.finish(handle)));
  };
}

function operands(operand: Value): Expression[] {
  return operand.type === TYPE.array ? valuesOf(operand).map(parseExpression) : [parseExpression(operand)];
}

/** An operator with as many operands as `take` has parameters; an operand that is no array is one. */
function exactly<Take extends (...parts: Expression[]) => Expression>(
  name: string,
  operand: Value,
  take: Take,
): Expression {
  const parts = operands(operand);
  if (parts.length !== take.length) throw malformed(`Expression ${name} takes exactly ${take.length} arguments`);
  return take(...parts);
}

function parseOperator(name: string, operand: Value): Expression {
  switch (name) {
    case '$literal':
      return () => operand;
    case '$add':
      return ofAll(operands(operand), add);
    case '$subtract':
      return exactly(name, operand, (a, b) => (scope) => subtract(a(scope), b(scope)));
    case '$cond':
      return exactly(name, operand, (test, yes, no) => (scope) => (isTrue(test, scope) ? yes(scope) : no(scope)));
    case '$ifNull':
      return firstPresent(operand);
    case '$eq':
      return comparison(name, operand, (order) => order === 0);
    case '$lt':
      return comparison(name, operand, (order) => order < 0);
    case '$lte':
      return comparison(name, operand, (order) => order <= 0);
    case '$gte':
      return comparison(name, operand, (order) => order >= 0);
    case '$and': {
      const parts = operands(operand);
      return (scope) => (parts.every((part) => isTrue(part, scope)) ? TRUE : FALSE);
    }
    case '$or': {
      const parts = operands(operand);
      return (scope) => (parts.some((part) => isTrue(part, scope)) ? TRUE : FALSE);
    }
    case '$not':
      return exactly(name, operand, (part) => (scope) => (isTrue(part, scope) ? FALSE : TRUE));
    case '$max':
    case '$min':
      return ofAll(operands(operand), (values) => extreme(values, name === '$max' ? 1 : -1));
    case '$mergeObjects':
      return ofAll(operands(operand), mergeObjects);
    case '$toDate':
      return exactly(name, operand, (part) => (scope) => toDate(part(scope)));
    case '$toLong':
      return exactly(name, operand, (part) => (scope) => toLong(part(scope)));
    default:
      throw notSupported(`The expression ${name}`);
  }
}

function comparison(name: string, operand: Value, holds: (order: number) => boolean): Expression {
  return exactly(name, operand, (a, b) => (scope) => (holds(compareExpressions(a(scope), b(scope))) ? TRUE : FALSE));
}

function firstPresent(operand: Value): Expression {
  const parts = operands(operand);
  const last = parts.pop();
  if (last === undefined || parts.length === 0) throw malformed('$ifNull needs at least two arguments');
  return (scope) => {
    for (const part of parts) {
      const value = part(scope);
      if (!isNullish(value.type)) return value;
    }
    return last(scope);
  };
}

/** `$toLong` of a date (its milliseconds) or a whole number (MongoDB: reference/operator/aggregation/toLong). */
function toLong(value: Value): Value {
  if (isNullish(value.type)) return NULL;
  if (value.type === TYPE.int64) return value;
  if (value.type === TYPE.date) return int64(value.buf.readBigInt64LE(value.pos));
  return int64(whole('$toLong', value));
}

/** `$toDate` of milliseconds; MongoDB converts no int32. Its manual: reference/operator/aggregation/toDate/. */
function toDate(value: Value): Value {
  if (isNullish(value.type)) return NULL;
  if (value.type === TYPE.date) return value;
  if (value.type === TYPE.int64) return date(value.buf.readBigInt64LE(value.pos));
  if (value.type === TYPE.int32) throw malformed('Unsupported conversion from int to date in $convert');
  return date(whole('$toDate', value));
}

function whole(name: string, value: Value): bigint {
  const number = asNumber(value);
  if (number === undefined || !Number.isSafeInteger(number)) throw notSupported(`${name} of ${typeName(value.type)}`);
  return BigInt(number);
}

/** Bytes that an expression makes cost more effort than bytes that it looks at: all may be in memory together. */
const MADE_FACTOR = 4;

function made(bytes: Buffer): Buffer {
  spend(bytes.length * MADE_FACTOR);
  return bytes;
}

/** Missing sorts below null here, unlike in filters: `{$lt: ['$until', '$$NOW']}` holds for a lease without `until`. */
function compareExpressions(a: Value, b: Value): number {
  const rankA = a.type === TYPE.missing ? MISSING_RANK : rankOf(a.type);
  const rankB = b.type === TYPE.missing ? MISSING_RANK : rankOf(b.type);
  if (rankA !== rankB) return rankA - rankB;
  if (rankA === MISSING_RANK) return 0;
  return compareAt(a.type, a.buf, a.pos, b.type, b.buf, b.pos);
}

/** The rank of the deprecated type undefined, which equals a missing value. */
const MISSING_RANK = rankOf(TYPE.undefined);

function arrayValue(values: readonly Value[]): Value {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  for (const [i, value] of values.entries()) {
    writer.value(String(i), value.type === TYPE.missing ? NULL : value);
  }
  return { type: TYPE.array, buf: made(writer.finish(handle)), pos: 0 };
}

/** The store's time is moved as a number, by `$toLong` and `$toDate`. */
function add(values: readonly Value[]): Value {
  const sum = new Sum();
  for (const value of values) {
    if (isNullish(value.type)) return NULL;
    sum.add(numberFor('$add', value));
  }
  return sum.value();
}

function subtract(a: Value, b: Value): Value {
  if (isNullish(a.type) || isNullish(b.type)) return NULL;
  const [x, y] = [numberFor('$subtract', a), numberFor('$subtract', b)];
  // An int64 that overflows becomes a double, as in mongod's expressions (its `$inc` refuses instead).
  return arithmetic('subtract', x, y) ?? double((asNumber(x) ?? 0) - (asNumber(y) ?? 0));
}

function numberFor(name: string, value: Value): Value {
  if (isNumber(value.type)) return value;
  throw value.type === TYPE.date
    ? notSupported(`${name} of a date`)
    : malformed(`${name} only supports numbers, not ${typeName(value.type)}`);
}

/** `$max` (1) and `$min` (-1). */
function extreme(values: readonly Value[], direction: 1 | -1): Value {
  if (values.length === 1 && values[0]?.type === TYPE.array)
    throw notSupported('$max or $min of the elements of an array');
  let best: Value = NULL;
  for (const value of values) {
    if (isNullish(value.type)) continue;
    if (best === NULL || compareExpressions(value, best) * direction > 0) best = value;
  }
  return best;
}

function mergeObjects(values: readonly Value[]): Value {
  const fields = new Map<string, Value>();
  for (const value of values) {
    if (isNullish(value.type)) continue;
    if (value.type !== TYPE.object) throw malformed(`$mergeObjects takes objects, not ${typeName(value.type)}`);
    const elements = new Elements(value.buf, value.pos);
    while (elements.next()) fields.set(elements.name(), elements.value());
  }
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  for (const [name, value] of fields) writer.value(name, value);
  return object(made(writer.finish(handle)));
}
