import { arithmetic } from '../bson/number.ts';
import { compareAt, rankOf } from '../bson/order.ts';
import { Elements, fieldOf, MISSING, TYPE, type Value, valuesOf } from '../bson/read.ts';
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
  string,
  TRUE,
  typeName,
} from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { notSupported, StoreError } from '../errors.ts';

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
  if (value.type === TYPE.array) return arrayOf(valuesOf(value).map(parseExpression));
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
  const [name = '', ...path] = text.slice(2).split('.');
  switch (name) {
    case 'NOW':
      return ({ context }) => date(context.nowMs);
    case 'REMOVE':
      return () => MISSING;
    case 'ROOT':
    case 'CURRENT':
      if (path.length > 0) return fieldPath(path.join('.'));
      return ({ buf, pos }) => ({ type: TYPE.object, buf, pos });
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
  const parts = names.map((name) => Buffer.from(name));
  return ({ buf, pos }) => follow({ type: TYPE.object, buf, pos }, parts, 0);
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

export function arrayValue(values: readonly Value[]): Value {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  for (const [i, value] of values.entries()) {
    writer.value(String(i), value.type === TYPE.missing ? NULL : value);
  }
  return { type: TYPE.array, buf: writer.finish(handle), pos: 0 };
}

function arrayOf(parts: readonly Expression[]): Expression {
  return (scope) => arrayValue(parts.map((part) => part(scope)));
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
    return object(writer.finish(handle));
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
      return sum(operands(operand));
    case '$multiply':
      return product(operands(operand));
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
    case '$ne':
      return comparison(name, operand, (order) => order !== 0);
    case '$lt':
      return comparison(name, operand, (order) => order < 0);
    case '$lte':
      return comparison(name, operand, (order) => order <= 0);
    case '$gt':
      return comparison(name, operand, (order) => order > 0);
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
    case '$in': {
      const [needle, list] = pair(name, operand);
      return (scope) => {
        const values = list(scope);
        if (values.type !== TYPE.array) {
          throw new StoreError(40081, `$in requires an array as a second argument, found: ${typeName(values.type)}`);
        }
        const wanted = needle(scope);
        return valuesOf(values).some((value) => compareExpressions(value, wanted) === 0) ? TRUE : FALSE;
      };
    }
    case '$max':
    case '$min':
      return extreme(operand, name === '$max' ? 1 : -1);
    case '$concat':
      return concatenation(operands(operand));
    case '$mergeObjects':
      return merged(operands(operand));
    case '$getField':
      return getField(operand);
    default:
      throw notSupported(`The expression ${name}`);
  }
}

/** Missing sorts below null here, unlike in filters: `{$lt: ['$until', '$$NOW']}` holds for a lease without `until`. */
export function compareExpressions(a: Value, b: Value): number {
  const rankA = a.type === TYPE.missing ? MISSING_RANK : rankOf(a.type);
  const rankB = b.type === TYPE.missing ? MISSING_RANK : rankOf(b.type);
  if (rankA !== rankB) return rankA - rankB;
  return compareAt(a.type, a.buf, a.pos, b.type, b.buf, b.pos);
}

const MISSING_RANK = 2;

function comparison(name: string, operand: Value, holds: (order: number) => boolean): Expression {
  const [a, b] = pair(name, operand);
  return (scope) => (holds(compareExpressions(a(scope), b(scope))) ? TRUE : FALSE);
}

function numeric(name: string, value: Value): void {
  if (value.type === TYPE.decimal) throw notSupported(`${name} of Decimal128`);
  if (!isNumber(value.type)) {
    throw new StoreError(14, `${name} only supports numeric types, not ${typeName(value.type)}`);
  }
}

function sum(parts: readonly Expression[]): Expression {
  return (scope) => {
    let total: Value | undefined;
    let from: Value | undefined;
    for (const part of parts) {
      const value = part(scope);
      if (isNullish(value.type)) return NULL;
      if (value.type === TYPE.date) {
        if (from !== undefined) throw new StoreError(16612, 'only one date allowed in an $add expression');
        from = value;
        continue;
      }
      if (!isNumber(value.type)) {
        throw new StoreError(14, `$add only supports numeric or date types, not ${typeName(value.type)}`);
      }
      total = total === undefined ? checked('$add', value) : combine('add', total, checked('$add', value));
    }
    if (from === undefined) return total ?? { type: TYPE.int32, buf: Buffer.alloc(4), pos: 0 };
    return date(milliseconds(from) + (total === undefined ? 0 : Math.round(asNumber(total) ?? 0)));
  };
}

function checked(name: string, value: Value): Value {
  numeric(name, value);
  return value;
}

/** An int64 that overflows becomes a double, as in mongod's expressions (its `$inc` refuses instead). */
function combine(operation: 'add' | 'subtract' | 'multiply', a: Value, b: Value): Value {
  const exact = arithmetic(operation, a, b);
  if (exact !== undefined) return exact;
  const x = asNumber(a) ?? 0;
  const y = asNumber(b) ?? 0;
  return double(operation === 'add' ? x + y : operation === 'subtract' ? x - y : x * y);
}

function milliseconds(value: Value): number {
  return Number(value.buf.readBigInt64LE(value.pos));
}

function product(parts: readonly Expression[]): Expression {
  return (scope) => {
    let total: Value | undefined;
    for (const part of parts) {
      const value = part(scope);
      if (isNullish(value.type)) return NULL;
      total =
        total === undefined ? checked('$multiply', value) : combine('multiply', total, checked('$multiply', value));
    }
    return total ?? { type: TYPE.int32, buf: Buffer.from([1, 0, 0, 0]), pos: 0 };
  };
}

function subtract(a: Value, b: Value): Value {
  if (isNullish(a.type) || isNullish(b.type)) return NULL;
  if (a.type === TYPE.date) {
    if (b.type === TYPE.date) return int64(BigInt(milliseconds(a) - milliseconds(b)));
    if (isNumber(b.type)) return date(milliseconds(a) - Math.round(asNumber(checked('$subtract', b)) ?? 0));
  }
  if (!isNumber(a.type) || !isNumber(b.type)) {
    throw new StoreError(14, `can't $subtract ${typeName(b.type)} from ${typeName(a.type)}`);
  }
  return combine('subtract', checked('$subtract', a), checked('$subtract', b));
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

function extreme(operand: Value, direction: 1 | -1): Expression {
  const parts = operands(operand);
  return (scope) => {
    let values = parts.map((part) => part(scope));
    const only = values[0];
    if (values.length === 1 && only?.type === TYPE.array) values = valuesOf(only);
    let best: Value = NULL;
    for (const value of values) {
      if (isNullish(value.type)) continue;
      if (best === NULL || compareExpressions(value, best) * direction > 0) best = value;
    }
    return best;
  };
}

function concatenation(parts: readonly Expression[]): Expression {
  return (scope) => {
    let text = '';
    for (const part of parts) {
      const value = part(scope);
      if (isNullish(value.type)) return NULL;
      const piece = asString(value);
      if (piece === undefined)
        throw new StoreError(16702, `$concat only supports strings, not ${typeName(value.type)}`);
      text += piece;
    }
    return string(text);
  };
}

function merged(parts: readonly Expression[]): Expression {
  return (scope) => {
    const fields = new Map<string, Value>();
    for (const part of parts) {
      const value = part(scope);
      if (isNullish(value.type)) continue;
      if (value.type !== TYPE.object) {
        throw new StoreError(
          40400,
          `$mergeObjects requires object inputs, but input is of type ${typeName(value.type)}`,
        );
      }
      const elements = new Elements(value.buf, value.pos);
      while (elements.next()) fields.set(elements.name(), elements.value());
    }
    const writer = new BsonWriter(256);
    const handle = writer.begin();
    for (const [name, value] of fields) writer.value(name, value);
    return object(writer.finish(handle));
  };
}

function getField(operand: Value): Expression {
  let field = operand;
  let input: Expression = ({ buf, pos }) => ({ type: TYPE.object, buf, pos });
  if (operand.type === TYPE.object) {
    field = fieldOf(operand.buf, operand.pos, Buffer.from('field'));
    input = parseExpression(fieldOf(operand.buf, operand.pos, Buffer.from('input')));
  }
  const name = asString(field);
  if (name === undefined) throw notSupported('$getField with a computed field name');
  const part = Buffer.from(name);
  return (scope) => {
    const from = input(scope);
    return from.type === TYPE.object ? fieldOf(from.buf, from.pos, part) : MISSING;
  };
}
