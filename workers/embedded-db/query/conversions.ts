import { notSupported, StoreError } from '../bson/errors.ts';
import { TYPE, type Value } from '../bson/read.ts';
import { asNumber, date, int64, isNullish, NULL, typeName } from '../bson/value.ts';

/** `$toLong` of a date (its milliseconds) or a whole number. MongoDB's manual: reference/operator/aggregation/toLong/. */
export function toLong(value: Value): Value {
  if (isNullish(value.type)) return NULL;
  if (value.type === TYPE.int64) return value;
  if (value.type === TYPE.date) return int64(value.buf.readBigInt64LE(value.pos));
  return int64(whole('$toLong', value));
}

/** `$toDate` of milliseconds; MongoDB converts no int32. Its manual: reference/operator/aggregation/toDate/. */
export function toDate(value: Value): Value {
  if (isNullish(value.type)) return NULL;
  if (value.type === TYPE.date) return value;
  if (value.type === TYPE.int64) return date(value.buf.readBigInt64LE(value.pos));
  if (value.type === TYPE.int32) throw new StoreError(241, 'Unsupported conversion from int to date in $convert');
  return date(whole('$toDate', value));
}

function whole(name: string, value: Value): bigint {
  const number = value.type === TYPE.decimal ? undefined : asNumber(value);
  if (number === undefined || !Number.isSafeInteger(number)) throw notSupported(`${name} of ${typeName(value.type)}`);
  return BigInt(number);
}
