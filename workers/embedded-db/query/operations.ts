import { spend } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';
import { arithmetic, fitsInt64 } from '../bson/number.ts';
import { compareAt, rankOf } from '../bson/order.ts';
import { Elements, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asNumber, date, double, int64, isNullish, isNumber, NULL, object, typeName } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { Sum } from './sum.ts';

/** What expressions compute from values that are there already. */

/** Bytes that an expression makes count for more than bytes that it looks at: they may all be in memory together. */
const MADE_FACTOR = 4;

export function made(bytes: Buffer): Buffer {
  spend(bytes.length * MADE_FACTOR);
  return bytes;
}

/** Missing sorts below null here, unlike in filters: `{$lt: ['$until', '$$NOW']}` holds for a lease without `until`. */
export function compareExpressions(a: Value, b: Value): number {
  const rankA = a.type === TYPE.missing ? MISSING_RANK : rankOf(a.type);
  const rankB = b.type === TYPE.missing ? MISSING_RANK : rankOf(b.type);
  if (rankA !== rankB) return rankA - rankB;
  if (rankA === MISSING_RANK) return 0;
  return compareAt(a.type, a.buf, a.pos, b.type, b.buf, b.pos);
}

/** The rank of the deprecated type undefined, which equals a missing value. */
const MISSING_RANK = rankOf(TYPE.undefined);

export function arrayValue(values: readonly Value[]): Value {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  for (const [i, value] of values.entries()) {
    writer.value(String(i), value.type === TYPE.missing ? NULL : value);
  }
  return { type: TYPE.array, buf: made(writer.finish(handle)), pos: 0 };
}

/** `$add`: numbers, and at most one date. */
export function add(values: readonly Value[]): Value {
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

export function subtract(a: Value, b: Value): Value {
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
  return object(made(writer.finish(handle)));
}
