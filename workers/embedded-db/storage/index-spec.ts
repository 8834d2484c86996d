import { notSupported, StoreError } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asNumber, isTruthy, show, stringAt } from '../bson/value.ts';
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
 * Checks one specification of createIndexes and gives it in the form that is stored and listed. Refuses with 67, as mongod, what is
 * no index.
 */
export function normaliseSpec(spec: Value): Buffer {
  const parts = readSpec(spec);
  const { key, name, partial } = parts;
  if (key === undefined || name === undefined || name === '' || name.includes('\0'))
    throw noIndex('it needs key and name');
  const fields = fieldsOf(key);
  if (parts.sparse === true && partial !== undefined) throw noIndex('sparse and partial');
  if (parts.expire !== undefined && fields.length > 1) throw noIndex('a TTL index has one field');
  if (fields.length === 1 && fields[0] === '_id') throw noIndex('_id has its own');
  const dotted = fields.filter((field) => field.includes('.')).map((field) => field.split('.')[0]);
  if (parts.unique === true && new Set(dotted).size < dotted.length) {
    // Its entries are all combinations of an array's values, of which mongod makes only those of one element.
    throw notSupported('A unique index on several fields inside one array');
  }
  if (partial !== undefined) checkPartial(parseFilter(partial.buf, partial.pos), partial);
  const writer = new BsonWriter(512);
  const handle = writer.begin();
  writer.int32('v', 2);
  writer.value('key', key);
  writer.string('name', name);
  if (parts.unique === true) writer.bool('unique', true);
  if (parts.sparse === true) writer.bool('sparse', true);
  if (parts.expire !== undefined) writer.int32('expireAfterSeconds', parts.expire);
  if (partial !== undefined) writer.value('partialFilterExpression', partial);
  return writer.finish(handle);
}

function noIndex(why: string): StoreError {
  return new StoreError(67, `this index cannot be made: ${why}`);
}

function readSpec(spec: Value): Parts {
  if (spec.type !== TYPE.object) throw noIndex('its specification is no document');
  const parts: Parts = {};
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    const name = elements.name();
    const value = elements.value();
    const { type } = value;
    if (name === 'key' && type === TYPE.object) parts.key = value;
    else if (name === 'name' && type === TYPE.string) parts.name = stringAt(value.buf, value.pos);
    else if (name === 'unique' && type === TYPE.bool) parts.unique = isTruthy(value);
    else if (name === 'sparse' && type === TYPE.bool) parts.sparse = isTruthy(value);
    else if (name === 'partialFilterExpression' && type === TYPE.object) parts.partial = value;
    else if (name === 'expireAfterSeconds') parts.expire = expireSeconds(value);
    else if (name !== 'background') throw notSupported(`The index option ${name}: ${show(value)}`); // without meaning since MongoDB 4.2
  }
  return parts;
}

function expireSeconds(value: Value): number {
  const seconds = asNumber(value) ?? -1;
  if (seconds >= 0 && seconds <= MAX_EXPIRE_SECONDS) return Math.trunc(seconds);
  throw noIndex(`expireAfterSeconds ${show(value)}`);
}

function fieldsOf(key: Value): string[] {
  const fields: string[] = [];
  const elements = new Elements(key.buf, key.pos);
  while (elements.next()) {
    const name = elements.name();
    const direction = asNumber(elements.value());
    if (direction !== 1 && direction !== -1) throw notSupported(`The kind of index ${show(key)}`);
    if (name.split('.').some((part) => part === '' || part.startsWith('$')))
      throw notSupported(`The field '${name}' of an index`);
    fields.push(name);
  }
  if (fields.length === 0 || fields.length > FIELDS_MAX) throw noIndex(`it has ${fields.length} fields`);
  return fields;
}

const PARTIAL_OPS = new Set(['eq', 'gt', 'gte', 'lt', 'lte', 'exists']);

function checkPartial(filter: Filter, spec: Value): void {
  if (filter.kind === 'and') for (const part of filter.filters) checkPartial(part, spec);
  else if (filter.kind !== 'field' || !PARTIAL_OPS.has(filter.test.op))
    throw notSupported(`The partial index ${show(spec)}`);
}
