import { notSupported, StoreError } from '../bson/errors.ts';
import { type Arithmetic, arithmetic } from '../bson/number.ts';
import { compareAt, rankOf } from '../bson/order.ts';
import { Elements, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asNumber, date, double, int64, isNullish, isNumber, NULL, object, typeName } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';

/** What expressions compute from values that are there already. */

/** Missing sorts below null here, unlike in filters: `{$lt: ['$until', '$$NOW']}` holds for a lease without `until`. */
export function compareExpressions(a: Value, b: Value): number {
  const rankA = a.type === TYPE.missing ? MISSING_RANK : rankOf(a.type);
  const rankB = b.type === TYPE.missing ? MISSING_RANK : rankOf(b.type);
  if (rankA !== rankB) return rankA - rankB;
  return compareAt(a.type, a.buf, a.pos, b.type, b.buf, b.pos);
}

const MISSING_RANK = 2;

export function arrayValue(values: readonly Value[]): Value {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  for (const [i, value] of values.entries()) {
    writer.value(String(i), value.type === TYPE.missing ? NULL : value);
  }
  return { type: TYPE.array, buf: writer.finish(handle), pos: 0 };
}

function numeric(name: string, value: Value): void {
  if (value.type === TYPE.decimal) throw notSupported(`${name} of Decimal128`);
  if (!isNumber(value.type)) {
    throw new StoreError(14, `${name} only supports numeric types, not ${typeName(value.type)}`);
  }
}

/** `$add`: numbers, and at most one date. */
export function add(values: readonly Value[]): Value {
  let total: Value | undefined;
  let from: Value | undefined;
  for (const value of values) {
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
}

function checked(name: string, value: Value): Value {
  numeric(name, value);
  return value;
}

/** An int64 that overflows becomes a double, as in mongod's expressions (its `$inc` refuses instead). */
function combine(operation: Arithmetic, a: Value, b: Value): Value {
  const exact = arithmetic(operation, a, b);
  if (exact !== undefined) return exact;
  const x = asNumber(a) ?? 0;
  const y = asNumber(b) ?? 0;
  return double(operation === 'add' ? x + y : x - y);
}

function milliseconds(value: Value): number {
  return Number(value.buf.readBigInt64LE(value.pos));
}

export function subtract(a: Value, b: Value): Value {
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

/** `$max` (1) and `$min` (-1), of the values or of the elements of one array. */
export function extreme(values: readonly Value[], direction: 1 | -1): Value {
  const only = values[0];
  const candidates = values.length === 1 && only?.type === TYPE.array ? valuesOf(only) : values;
  let best: Value = NULL;
  for (const value of candidates) {
    if (isNullish(value.type)) continue;
    if (best === NULL || compareExpressions(value, best) * direction > 0) best = value;
  }
  return best;
}

export function mergeObjects(values: readonly Value[]): Value {
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
  return object(writer.finish(handle));
}
