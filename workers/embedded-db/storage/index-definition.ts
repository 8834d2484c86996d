import { type Path, parsePath } from '../bson/path.ts';
import { byteAt, documentBytes, Elements, fieldOf, TYPE } from '../bson/read.ts';
import { asFlag, asNumber, stringAt } from '../bson/value.ts';
import { type Filter, parseFilter } from '../query/filter.ts';
import { type Predicate, predicate } from '../query/predicate.ts';

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
   * Several of its fields begin with the same name, as `l.k` and `l.v`, and none has a number in it. If `l` is an array, each entry
   * then has the values of one element of it.
   */
  readonly byElement: boolean;
  /** Set when it is dropped: its entries are gone. */
  dropped: boolean;
  /** All dotted paths that its entries depend on: keys and partial filter. */
  readonly dependsOn: readonly string[];
}

export interface Partial {
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
    // A partial filter has no `$expr` (see index-spec.ts), so the time does not matter.
    partial: filter === undefined ? undefined : { filter, includes: predicate(filter, { nowMs: 0 }) },
    expireAfterSeconds: asNumber(fieldOf(spec, 0, FIELD.expire)),
    multikey: fields.map(() => false),
    nested: fields.map(() => false),
    byElement: isByElement(fields.map(({ path }) => path)),
    dropped: false,
    dependsOn: [...fields.map((field) => field.path.text), ...(filter === undefined ? [] : pathsOf(filter))],
  };
}

/**
 * Notes in which fields a document has an array (`arrays`, a bit for each field), and in which an array within an array (`nested`).
 * Returns whether no document had one there before.
 */
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
