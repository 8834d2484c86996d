import { notSupported, StoreError } from '../bson/errors.ts';
import { type Path, parsePath } from '../bson/path.ts';
import { byteAt, documentBytes, Elements, fieldOf, TYPE, type Value } from '../bson/read.ts';
import { asFlag, asNumber, isTruthy, show, stringAt } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { type Filter, type Predicate, parseFilter, predicate } from '../query/filter.ts';

export interface IndexField {
  readonly path: Path;
  readonly descending: boolean;
}

export interface Index {
  /** Prefix of its entries' keys. */
  readonly id: number;
  readonly name: string;
  /** As listIndexes shows it: `{ v: 2, key: { account: 1 }, name: "account_1", unique: true }`. */
  readonly spec: Buffer;
  readonly key: Buffer;
  readonly fields: readonly IndexField[];
  readonly unique: boolean;
  readonly sparse: boolean;
  readonly partial: Partial | undefined;
  readonly expireAfterSeconds: number | undefined;
  /** Per field: some document had an array there. Never becomes false again. */
  readonly multikey: boolean[];
  /** Per field: some document had an array within an array there. Never becomes false again. */
  readonly nested: boolean[];
  /**
   * Several of its fields begin with the same name, as `l.k` and `l.v`, and none has a number in it. If `l` is an
   * array, each entry then has the values of one element of it.
   */
  readonly byElement: boolean;
  /** Set when it is dropped: its entries are gone. */
  dropped: boolean;
  /** All dotted paths that its entries depend on: keys and partial filter. */
  readonly dependsOn: readonly string[];
}

interface Partial {
  readonly filter: Filter;
  readonly includes: Predicate;
}

const FIELD = {
  key: Buffer.from('key'),
  name: Buffer.from('name'),
  unique: Buffer.from('unique'),
  sparse: Buffer.from('sparse'),
  partial: Buffer.from('partialFilterExpression'),
  expire: Buffer.from('expireAfterSeconds'),
} as const;

/** Reads a checked specification; `spec` must stay as it is, values of the partial filter point into it. */
export function indexFromSpec(id: number, spec: Buffer): Index {
  const key = Buffer.from(documentBytes(fieldOf(spec, 0, FIELD.key)));
  const fields: IndexField[] = [];
  const elements = new Elements(key, 0);
  while (elements.next()) {
    fields.push({ path: parsePath(elements.name()), descending: (asNumber(elements.value()) ?? 1) < 0 });
  }
  const name = fieldOf(spec, 0, FIELD.name);
  const partial = fieldOf(spec, 0, FIELD.partial);
  const filter = partial.type === TYPE.object ? parseFilter(partial.buf, partial.pos) : undefined;
  return {
    id,
    name: stringAt(name.buf, name.pos),
    spec,
    key,
    fields,
    unique: asFlag(fieldOf(spec, 0, FIELD.unique)) ?? false,
    sparse: asFlag(fieldOf(spec, 0, FIELD.sparse)) ?? false,
    // A partial filter has no `$expr` (`checkPartial`), so the time does not matter.
    partial: filter === undefined ? undefined : { filter, includes: predicate(filter, { nowMs: 0 }) },
    expireAfterSeconds: asNumber(fieldOf(spec, 0, FIELD.expire)),
    multikey: fields.map(() => false),
    nested: fields.map(() => false),
    byElement: isByElement(fields.map(({ path }) => path)),
    dropped: false,
    dependsOn: [...fields.map((field) => field.path.text), ...(filter === undefined ? [] : pathsOf(filter))],
  };
}

/** `arrays`, `nested`: a bit for each field. Returns whether no document had an array (in one) there before. */
export function raiseFlags(index: Index, arrays: number, nested: number): boolean {
  if (arrays === 0) return false;
  let changed = false;
  for (let f = 0; f < index.fields.length; f++) {
    if (raise(index.multikey, f, arrays)) changed = true;
    if (raise(index.nested, f, nested)) changed = true;
  }
  return changed;
}

/** Returns whether the field's flag was not set before. */
function raise(flags: boolean[], field: number, bits: number): boolean {
  if ((bits & (1 << field)) === 0 || flags[field] === true) return false;
  flags[field] = true;
  return true;
}

function isByElement(paths: readonly Path[]): boolean {
  const tops = paths.filter(({ parts }) => parts.length > 1).map(({ text }) => text.split('.')[0]);
  return new Set(tops).size < tops.length && paths.every(({ indexes }) => indexes.every((index) => index < 0));
}

function pathsOf(filter: Filter): string[] {
  switch (filter.kind) {
    case 'field':
      return [filter.path.text];
    case 'and':
    case 'or':
    case 'nor':
      return filter.filters.flatMap(pathsOf);
    case 'not':
      return pathsOf(filter.filter);
    default:
      return [];
  }
}

/** `{ _id: 1 }`, the index that every collection has: its table is the documents themselves. */
export function isIdKey(key: Buffer): boolean {
  const elements = new Elements(key, 0);
  if (!elements.next() || elements.name() !== '_id' || byteAt(key, elements.end) !== 0) return false;
  return asNumber(elements.value()) === 1;
}

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

/** Checks one specification of createIndexes; returns it as it is stored and listed. Refuses it with 67, as mongod. */
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
    // We would enter all combinations of an array's values; mongod enters only those within one element.
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
