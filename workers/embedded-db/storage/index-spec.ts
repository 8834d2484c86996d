import { notSupported, StoreError } from '../bson/errors.ts';
import { byteAt, Elements, isEmptyContainer, TYPE, type Value } from '../bson/read.ts';
import { asFlag, asNumber, asString, show, typeName } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { type Filter, parseFilter } from '../query/filter.ts';

/** mongod's limit; the flags of the fields are bits of one number. */
const FIELDS_MAX = 32;
const MAX_EXPIRE_SECONDS = 2_147_483_647;

interface Parts {
  key?: Value;
  name?: string;
  unique?: boolean;
  sparse?: boolean;
  partial?: Value;
  expire?: number;
}

/**
 * Checks one specification of createIndexes and gives it in the form that is stored and listed. Errors: 67 for what is no
 * index, 238 for options and kinds of indexes that are left to MongoDB.
 */
export function normaliseSpec(spec: Value): Buffer {
  const parts = readSpec(spec);
  if (parts.key === undefined) {
    throw new StoreError(9, "The 'key' field is a required property of an index specification");
  }
  if (parts.name === undefined || parts.name === '') {
    throw new StoreError(9, "The 'name' field is a required property of an index specification");
  }
  if (parts.name.includes('\0')) throw new StoreError(67, "The index name cannot contain '\\0'.");
  checkKey(parts.key);
  checkCombination(parts, parts.key);
  const writer = new BsonWriter(512);
  const handle = writer.begin();
  writer.int32('v', 2);
  writer.value('key', parts.key);
  writer.string('name', parts.name);
  if (parts.unique === true) writer.bool('unique', true);
  if (parts.sparse === true) writer.bool('sparse', true);
  if (parts.expire !== undefined) writer.int32('expireAfterSeconds', parts.expire);
  if (parts.partial !== undefined) writer.value('partialFilterExpression', parts.partial);
  return writer.finish(handle);
}

function readSpec(spec: Value): Parts {
  if (spec.type !== TYPE.object) throw new StoreError(14, 'an index specification must be an object');
  const parts: Parts = {};
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    const name = elements.name();
    const value = elements.value();
    if (name === 'key') parts.key = must(value, TYPE.object, name);
    else if (name === 'name') parts.name = asString(must(value, TYPE.string, name)) ?? '';
    else if (name === 'unique') parts.unique = flag(name, value);
    else if (name === 'sparse') parts.sparse = flag(name, value);
    else if (name === 'partialFilterExpression') parts.partial = must(value, TYPE.object, name);
    else if (name === 'expireAfterSeconds') parts.expire = expireSeconds(value);
    else if (name === 'background')
      flag(name, value); // without meaning since MongoDB 4.2
    else if (name === 'v') checkVersion(value);
    else throw notSupported(`The index option ${name}`);
  }
  return parts;
}

function flag(name: string, value: Value): boolean {
  const set = asFlag(value);
  if (set !== undefined) return set;
  throw new StoreError(14, `The field '${name}' has value ${name}: ${show(value)}, which is not convertible to bool`);
}

function checkVersion(value: Value): void {
  if (asNumber(value) !== 2) throw notSupported(`An index of version ${show(value)}`);
}

function must(value: Value, type: number, name: string): Value {
  if (value.type === type) return value;
  throw new StoreError(14, `The field '${name}' must be a ${typeName(type)}, but got ${typeName(value.type)}`);
}

function expireSeconds(value: Value): number {
  const seconds = asNumber(value);
  if (seconds === undefined) {
    throw new StoreError(
      14,
      `TTL index 'expireAfterSeconds' option must be numeric, but received a type of '${typeName(value.type)}'`,
    );
  }
  if (!(seconds >= 0 && seconds <= MAX_EXPIRE_SECONDS)) {
    throw new StoreError(
      67,
      `TTL index 'expireAfterSeconds' option must be within an acceptable range, try a different number than ${seconds}`,
    );
  }
  return Math.trunc(seconds);
}

function checkKey(key: Value): void {
  if (isEmptyContainer(key.buf, key.pos)) throw new StoreError(67, 'Index keys cannot be an empty object.');
  const elements = new Elements(key.buf, key.pos);
  let fields = 0;
  while (elements.next()) {
    if (++fields > FIELDS_MAX) throw new StoreError(67, `Index key pattern too large, more than ${FIELDS_MAX} fields`);
    const name = elements.name();
    const value = elements.value();
    const kind = asString(value);
    if (kind !== undefined) throw notSupported(`A ${kind} index`);
    if (name.includes('$**')) throw notSupported('A wildcard index');
    const direction = asNumber(value);
    if (direction === undefined || direction === 0 || Number.isNaN(direction)) {
      throw new StoreError(
        67,
        `Values in v:2 index key pattern must be non-zero numbers or strings, not ${show(value)}.`,
      );
    }
    if (name === '_id' && fields === 1 && direction === -1 && byteAt(key.buf, elements.end) === 0) {
      throw new StoreError(2, "The field 'key' for an _id index must be {_id: 1}, but got {_id: -1}");
    }
    if (direction !== 1 && direction !== -1) throw notSupported(`The direction ${show(value)} of an index`);
    if (name.split('.').some((part) => part === ''))
      throw new StoreError(67, 'Index keys cannot contain an empty field.');
    if (name.split('.').some((part) => part.startsWith('$'))) {
      throw new StoreError(67, "Index key contains an illegal field name: field name starts with '$'.");
    }
  }
}

function checkCombination(parts: Parts, key: Value): void {
  const fields: string[] = [];
  const elements = new Elements(key.buf, key.pos);
  while (elements.next()) fields.push(elements.name());
  if (parts.sparse === true && parts.partial !== undefined) {
    throw new StoreError(67, 'cannot mix "partialFilterExpression" and "sparse" options');
  }
  if (parts.expire !== undefined && fields.length > 1) {
    throw new StoreError(67, 'TTL indexes are single-field indexes, compound indexes do not support TTL.');
  }
  if (
    fields.length === 1 &&
    fields[0] === '_id' &&
    (parts.expire !== undefined || parts.partial !== undefined || parts.sparse === true || parts.unique === true)
  ) {
    throw new StoreError(197, 'The _id index takes no options.');
  }
  const dotted = fields.filter((field) => field.includes('.')).map((field) => field.split('.')[0]);
  if (parts.unique === true && new Set(dotted).size < dotted.length) {
    // Its entries are all combinations of an array's values, of which mongod makes only those of one element.
    throw notSupported('A unique index on several fields inside one array');
  }
  if (parts.partial !== undefined) checkPartial(parseFilter(parts.partial.buf, parts.partial.pos), parts.partial);
}

const PARTIAL_OPS = new Set(['eq', 'gt', 'gte', 'lt', 'lte', 'exists']);

function checkPartial(filter: Filter, spec: Value): void {
  if (filter.kind === 'and') {
    for (const part of filter.filters) checkPartial(part, spec);
  } else if (filter.kind === 'or') {
    throw notSupported('$or in a partial index');
  } else if (filter.kind === 'field' && filter.test.op === 'in') {
    throw notSupported('$in in a partial index');
  } else if (filter.kind !== 'field' || !PARTIAL_OPS.has(filter.test.op)) {
    throw new StoreError(67, `Expression not supported in partial index: ${show(spec)}`);
  }
}
