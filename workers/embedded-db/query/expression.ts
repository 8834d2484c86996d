import { spend } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';
import { arithmetic, fitsInt64, Sum } from '../bson/number.ts';
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

/** What is the same for every document of one command. */
export interface ExpressionContext {
  /** `$$NOW`: the store's time when the command began. */
  readonly nowMs: number;
}

/** The document at `pos`, on which an expression is evaluated. */
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
  if (elements.next()) {
    throw new StoreError(15983, 'an object representing an expression must have exactly one field');
  }
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
      throw /^[A-Z]/.test(name)
        ? notSupported(`$$${name}`)
        : new StoreError(17276, `Use of undefined variable: ${name}`);
  }
}

function fieldPath(text: string): Expression {
  const names = text.split('.');
  if (names.some((name) => name === '')) {
    throw new StoreError(40353, "FieldPath must not end with a '.' and must not hold an empty field name.");
  }
  if (names.some((name) => name.startsWith('$'))) {
    throw new StoreError(16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.");
  }
  const { parts } = parsePath(text);
  return ({ buf, pos }) => {
    spend(int32At(buf, pos));
    return follow({ type: TYPE.object, buf, pos }, parts, 0);
  };
}

function follow(value: Value, parts: readonly Buffer[], level: number): Value {
  const part = parts[level];
  if (part === undefined) return value;
  if (value.type === TYPE.object) return follow(fieldOf(value.buf, value.pos, part), parts, level + 1);
  if (value.type !== TYPE.array) return MISSING;
  const found: Value[] = [];
  const elements = new Elements(value.buf, value.pos);
  while (elements.next()) {
    // Arrays directly inside arrays are not entered, as in mongod.
    const inner = elements.type === TYPE.object ? follow(elements.value(), parts, level) : MISSING;
    if (inner.type !== TYPE.missing) found.push(inner);
  }
  return arrayValue(found);
}

function ofAll(parts: readonly Expression[], operation: (values: readonly Value[]) => Value): Expression {
  return (scope) => operation(parts.map((part) => part(scope)));
}

function parseObject(value: Value): Expression {
  const fields: { name: string; expression: Expression }[] = [];
  const elements = new Elements(value.buf, value.pos);
  while (elements.next()) {
    const name = elements.name();
    if (name.startsWith('$')) throw new StoreError(16410, `FieldPath field names may not start with '$': ${name}`);
    if (name.includes('.')) throw new StoreError(16412, `FieldPath field names may not contain '.': ${name}`);
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

function exactly(name: string, count: number, operand: Value): Expression[] {
  const parsed = operands(operand);
  if (parsed.length !== count) {
    throw new StoreError(
      16020,
      `Expression ${name} takes exactly ${count} arguments. ${parsed.length} were passed in.`,
    );
  }
  return parsed;
}

function pair(name: string, operand: Value): [Expression, Expression] {
  const [a, b] = exactly(name, 2, operand);
  if (a === undefined || b === undefined) throw new Error('exactly two'); // `exactly` has counted them.
  return [a, b];
}

function parseOperator(name: string, operand: Value): Expression {
  switch (name) {
    case '$literal':
      return () => operand;
    case '$add':
      return ofAll(operands(operand), add);
    case '$subtract': {
      const [a, b] = pair(name, operand);
      return (scope) => subtract(a(scope), b(scope));
    }
    case '$cond':
      return condition(operand);
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
    case '$not': {
      const [part = () => NULL] = exactly(name, 1, operand);
      return (scope) => (isTrue(part, scope) ? FALSE : TRUE);
    }
    case '$max':
    case '$min':
      return ofAll(operands(operand), (values) => extreme(values, name === '$max' ? 1 : -1));
    case '$mergeObjects':
      return ofAll(operands(operand), mergeObjects);
    case '$toDate':
    case '$toLong':
      return conversion(name, operand, name === '$toDate' ? toDate : toLong);
    default:
      throw notSupported(`The expression ${name}`);
  }
}

function conversion(name: string, operand: Value, convert: (value: Value) => Value): Expression {
  const [input, ...more] = operands(operand);
  if (input === undefined || more.length > 0) throw new StoreError(50723, `${name} requires a single argument`);
  return (scope) => convert(input(scope));
}

function comparison(name: string, operand: Value, holds: (order: number) => boolean): Expression {
  const [a, b] = pair(name, operand);
  return (scope) => (holds(compareExpressions(a(scope), b(scope))) ? TRUE : FALSE);
}

function condition(operand: Value): Expression {
  let [test, then, otherwise]: (Expression | undefined)[] = [];
  if (operand.type === TYPE.object) {
    const elements = new Elements(operand.buf, operand.pos);
    while (elements.next()) {
      const name = elements.name();
      if (name === 'if') test = parseExpression(elements.value());
      else if (name === 'then') then = parseExpression(elements.value());
      else if (name === 'else') otherwise = parseExpression(elements.value());
      else throw new StoreError(17083, `Unrecognized parameter to $cond: ${name}`);
    }
    if (test === undefined) throw new StoreError(17080, "Missing 'if' parameter to $cond");
    if (then === undefined) throw new StoreError(17081, "Missing 'then' parameter to $cond");
    if (otherwise === undefined) throw new StoreError(17082, "Missing 'else' parameter to $cond");
  } else {
    [test, then, otherwise] = exactly('$cond', 3, operand);
  }
  const [when = () => NULL, yes = () => NULL, no = () => NULL] = [test, then, otherwise];
  return (scope) => (isTrue(when, scope) ? yes(scope) : no(scope));
}

function firstPresent(operand: Value): Expression {
  const parts = operands(operand);
  const last = parts.pop();
  if (last === undefined || parts.length === 0) {
    throw new StoreError(1257300, `$ifNull needs at least two arguments, had: ${parts.length + (last ? 1 : 0)}`);
  }
  return (scope) => {
    for (const part of parts) {
      const value = part(scope);
      if (!isNullish(value.type)) return value;
    }
    return last(scope);
  };
}

/** `$toLong` of a date (its milliseconds) or a whole number. MongoDB's manual: reference/operator/aggregation/toLong/. */
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
  if (value.type === TYPE.int32) throw new StoreError(241, 'Unsupported conversion from int to date in $convert');
  return date(whole('$toDate', value));
}

function whole(name: string, value: Value): bigint {
  const number = asNumber(value);
  if (number === undefined || !Number.isSafeInteger(number)) throw notSupported(`${name} of ${typeName(value.type)}`);
  return BigInt(number);
}

/** What expressions compute from values that are there already. */

/** Bytes that an expression makes count for more than bytes that it looks at: they may all be in memory together. */
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

/** `$add`: numbers, and at most one date. */
function add(values: readonly Value[]): Value {
  const sum = new Sum();
  let from: Value | undefined;
  for (const value of values) {
    if (isNullish(value.type)) return NULL;
    if (value.type === TYPE.date) {
      if (from !== undefined) throw new StoreError(16612, 'only one date allowed in an $add expression');
      from = value;
    } else if (isNumber(value.type)) {
      sum.add(value);
    } else {
      throw new StoreError(14, `$add only supports numeric or date types, not ${typeName(value.type)}`);
    }
  }
  return from === undefined ? sum.value() : dateAt('$add', milliseconds(from) + wholeNumber('$add', sum.value()));
}

function subtract(a: Value, b: Value): Value {
  if (isNullish(a.type) || isNullish(b.type)) return NULL;
  if (a.type === TYPE.date && b.type === TYPE.date) return int64Of('$subtract', milliseconds(a) - milliseconds(b));
  if (a.type === TYPE.date && isNumber(b.type)) {
    return dateAt('$subtract', milliseconds(a) - wholeNumber('$subtract', b));
  }
  if (!isNumber(a.type) || !isNumber(b.type)) {
    throw new StoreError(14, `can't $subtract ${typeName(b.type)} from ${typeName(a.type)}`);
  }
  // An int64 that overflows becomes a double, as in mongod's expressions (its `$inc` refuses instead).
  return arithmetic('subtract', a, b) ?? double((asNumber(a) ?? 0) - (asNumber(b) ?? 0));
}

function milliseconds(date: Value): bigint {
  return date.buf.readBigInt64LE(date.pos);
}

/** How far a date is moved. Versions of mongod round differently, so a fraction is refused. */
function wholeNumber(name: string, value: Value): bigint {
  if (value.type === TYPE.int64) return value.buf.readBigInt64LE(value.pos);
  const number = asNumber(value);
  if (number === undefined || !Number.isInteger(number)) {
    throw notSupported(`${name} of a date and anything but whole milliseconds`);
  }
  return BigInt(number);
}

function dateAt(name: string, ms: bigint): Value {
  if (!fitsInt64(ms)) throw new StoreError(15, `date overflow in ${name}`);
  return date(ms);
}

function int64Of(name: string, number: bigint): Value {
  if (!fitsInt64(number)) throw new StoreError(15, `overflow in ${name}`);
  return int64(number);
}

/** `$max` (1) and `$min` (-1), of the values or of the elements of one array. */
function extreme(values: readonly Value[], direction: 1 | -1): Value {
  const only = values[0];
  const candidates = values.length === 1 && only?.type === TYPE.array ? valuesOf(only) : values;
  let best: Value = NULL;
  for (const value of candidates) {
    if (isNullish(value.type)) continue;
    if (best === NULL || compareExpressions(value, best) * direction > 0) best = value;
  }
  return best;
}

function mergeObjects(values: readonly Value[]): Value {
  const fields = new Map<string, Value>();
  for (const value of values) {
    if (isNullish(value.type)) continue;
    if (value.type !== TYPE.object) {
      throw new StoreError(40400, `$mergeObjects requires object inputs, but input is of type ${typeName(value.type)}`);
    }
    const elements = new Elements(value.buf, value.pos);
    while (elements.next()) fields.set(elements.name(), elements.value());
  }
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  for (const [name, value] of fields) writer.value(name, value);
  return object(made(writer.finish(handle)));
}
