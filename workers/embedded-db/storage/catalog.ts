import { randomBytes } from 'node:crypto';
import { type Path, parsePath } from '../bson/path.ts';
import { byteAt, documentBytes, Elements, fieldOf, TYPE, valuesOf } from '../bson/read.ts';
import { asFlag, asNumber, asString, stringAt } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { StoreError } from '../errors.ts';
import { type Filter, parseFilter } from '../query/filter.ts';
import { type Predicate, predicate } from '../query/predicate.ts';
import type { Database } from './database.ts';

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
  /** Some key was too long to be kept whole: the index finds duplicates, but is not used for queries. */
  truncated: boolean;
  /** All dotted paths that its entries depend on: keys and partial filter. */
  readonly dependsOn: readonly string[];
}

export interface Partial {
  readonly filter: Filter;
  readonly includes: Predicate;
}

export interface Collection {
  readonly id: number;
  readonly db: string;
  readonly name: string;
  /** `db.name` */
  readonly ns: string;
  readonly uuid: Buffer;
  readonly indexes: Index[];
  count: number;
  /** Indexes by the paths of an update; emptied when the indexes change. */
  readonly affected: AffectedIndexes;
}

export interface AffectedIndexes {
  readonly byShape: Map<string, readonly Index[]>;
  last: { readonly paths: readonly string[]; readonly indexes: readonly Index[] } | undefined;
}

/** Field names of catalogue documents and index specifications. */
const FIELD = {
  id: Buffer.from('id'),
  uuid: Buffer.from('uuid'),
  indexes: Buffer.from('indexes'),
  spec: Buffer.from('spec'),
  multikey: Buffer.from('multikey'),
  truncated: Buffer.from('truncated'),
  key: Buffer.from('key'),
  name: Buffer.from('name'),
  unique: Buffer.from('unique'),
  sparse: Buffer.from('sparse'),
  partial: Buffer.from('partialFilterExpression'),
  expire: Buffer.from('expireAfterSeconds'),
} as const;

const NEXT_ID = Buffer.from('next');

/**
 * The collections and their indexes, kept in memory and in the table `meta`: `c<db>.<name>` → `{ id, uuid, indexes: [{ id,
 * spec, multikey, truncated }] }`, `n<id u32>` → the number of documents (double), `next` → the next id (u32).
 * All changes happen inside a write transaction and are stored by `flush` at its end.
 */
export class Catalog {
  private readonly database: Database;
  private readonly collections = new Map<string, Collection>();
  private readonly changed = new Set<Collection>();
  private readonly counted = new Set<Collection>();
  private readonly writer = new BsonWriter();
  private nextId = 1;

  constructor(database: Database) {
    this.database = database;
    const next = database.get(database.meta, NEXT_ID);
    if (next !== undefined) this.nextId = next.readUInt32BE(0);
    const range = { start: Buffer.from('c'), end: Buffer.from('d') };
    for (const { key, value } of database.range(database.meta, range, false, Number.MAX_SAFE_INTEGER)) {
      this.load(key.toString('utf8', 1), value);
    }
  }

  get(ns: string): Collection | undefined {
    return this.collections.get(ns);
  }

  all(): Iterable<Collection> {
    return this.collections.values();
  }

  /** The collection, made when it is not there yet. Throws 73 for names that are none. */
  ensure(db: string, name: string): Collection {
    const ns = `${db}.${name}`;
    const known = this.collections.get(ns);
    if (known !== undefined) return known;
    checkNamespace(db, name);
    const collection = newCollection(this.takeId(), db, name, randomBytes(16));
    this.collections.set(ns, collection);
    this.changed.add(collection);
    return collection;
  }

  rename(collection: Collection, db: string, name: string): void {
    const renamed: Collection = { ...collection, db, name, ns: `${db}.${name}` };
    this.collections.delete(collection.ns);
    this.changed.delete(collection);
    this.counted.delete(collection);
    this.database.meta.removeSync(collectionKey(collection.ns));
    this.collections.set(renamed.ns, renamed);
    this.changed.add(renamed);
    this.counted.add(renamed);
  }

  setExpiry(collection: Collection, index: Index, seconds: number): void {
    const changed = indexFromSpec(index.id, withExpiry(index.spec, seconds));
    changed.multikey.splice(0, changed.multikey.length, ...index.multikey);
    changed.truncated = index.truncated;
    collection.indexes.splice(collection.indexes.indexOf(index), 1, changed);
    this.indexesChanged(collection);
  }

  takeId(): number {
    const id = this.nextId++;
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(this.nextId, 0);
    this.database.meta.putSync(NEXT_ID, bytes);
    return id;
  }

  drop(collection: Collection): void {
    this.collections.delete(collection.ns);
    this.changed.delete(collection);
    this.counted.delete(collection);
    this.database.meta.removeSync(collectionKey(collection.ns));
    this.database.meta.removeSync(countKey(collection.id));
  }

  addIndex(collection: Collection, index: Index): void {
    collection.indexes.push(index);
    this.indexesChanged(collection);
  }

  removeIndex(collection: Collection, index: Index): void {
    collection.indexes.splice(collection.indexes.indexOf(index), 1);
    this.indexesChanged(collection);
  }

  /** Also for a flag of an index that went up: `multikey`, `truncated`. */
  indexesChanged(collection: Collection): void {
    collection.affected.byShape.clear();
    collection.affected.last = undefined;
    this.changed.add(collection);
  }

  addCount(collection: Collection, difference: number): void {
    collection.count += difference;
    this.counted.add(collection);
  }

  /** Stores what changed; the last act of every write transaction. */
  flush(): void {
    for (const collection of this.changed) {
      this.database.meta.putSync(collectionKey(collection.ns), this.encode(collection));
    }
    for (const collection of this.counted) {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeDoubleBE(collection.count, 0);
      this.database.meta.putSync(countKey(collection.id), bytes);
    }
    this.changed.clear();
    this.counted.clear();
  }

  private encode(collection: Collection): Buffer {
    const { writer } = this;
    const doc = writer.begin();
    writer.int32('id', collection.id);
    writer.string('uuid', collection.uuid.toString('hex'));
    const indexes = writer.array('indexes');
    for (const [i, index] of collection.indexes.entries()) {
      const one = writer.object(String(i));
      writer.int32('id', index.id);
      writer.document('spec', index.spec);
      const multikey = writer.array('multikey');
      for (const [field, flag] of index.multikey.entries()) writer.bool(String(field), flag);
      writer.close(multikey);
      writer.bool('truncated', index.truncated);
      writer.close(one);
    }
    writer.close(indexes);
    return writer.finish(doc);
  }

  private load(ns: string, doc: Buffer): void {
    const dot = ns.indexOf('.');
    const id = asNumber(fieldOf(doc, 0, FIELD.id)) ?? 0;
    const uuid = Buffer.from(asString(fieldOf(doc, 0, FIELD.uuid)) ?? '', 'hex');
    const collection = newCollection(id, ns.slice(0, dot), ns.slice(dot + 1), uuid);
    for (const { buf, pos } of valuesOf(fieldOf(doc, 0, FIELD.indexes))) {
      const index = indexFromSpec(
        asNumber(fieldOf(buf, pos, FIELD.id)) ?? 0,
        Buffer.from(documentBytes(fieldOf(buf, pos, FIELD.spec))),
      );
      for (const [i, flag] of valuesOf(fieldOf(buf, pos, FIELD.multikey)).entries()) {
        index.multikey[i] = asFlag(flag) ?? false;
      }
      index.truncated = asFlag(fieldOf(buf, pos, FIELD.truncated)) ?? false;
      collection.indexes.push(index);
    }
    collection.count = this.database.get(this.database.meta, countKey(id))?.readDoubleBE(0) ?? 0;
    this.collections.set(ns, collection);
  }
}

/** Throws 73 for names that are none. */
export function checkNamespace(db: string, name: string): void {
  const bad = name === '' || name.startsWith('.') || name.startsWith('system.') || /[$\0]/.test(name);
  if (bad || db === '' || /[/\\. "$\0]/.test(db))
    throw new StoreError(73, `Invalid namespace specified '${db}.${name}'`);
}

function newCollection(id: number, db: string, name: string, uuid: Buffer): Collection {
  return {
    id,
    db,
    name,
    ns: `${db}.${name}`,
    uuid,
    indexes: [],
    count: 0,
    affected: { byShape: new Map(), last: undefined },
  };
}

function withExpiry(spec: Buffer, seconds: number): Buffer {
  const writer = new BsonWriter(512);
  const handle = writer.begin();
  const elements = new Elements(spec, 0);
  while (elements.next()) if (elements.name() !== 'expireAfterSeconds') writer.value(elements.name(), elements.value());
  writer.int32('expireAfterSeconds', seconds);
  return writer.finish(handle);
}

function collectionKey(ns: string): Buffer {
  return Buffer.from(`c${ns}`);
}

function countKey(id: number): Buffer {
  const key = Buffer.from('n0000');
  key.writeUInt32BE(id, 1);
  return key;
}

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
    truncated: false,
    dependsOn: [...fields.map((field) => field.path.text), ...(filter === undefined ? [] : pathsOf(filter))],
  };
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

/** The indexes whose entries may change when these paths do; all of them when the paths are not known. */
export function affectedIndexes(collection: Collection, paths: readonly string[] | undefined): readonly Index[] {
  if (paths === undefined || collection.indexes.length === 0) return collection.indexes;
  const { affected: cache } = collection;
  const same = cache.last;
  if (same !== undefined && equalPaths(same.paths, paths)) return same.indexes;
  const shape = paths.join(' ');
  let indexes = cache.byShape.get(shape);
  if (indexes === undefined) {
    indexes = overlapping(collection, paths);
    if (cache.byShape.size >= MAX_SHAPES) cache.byShape.clear();
    cache.byShape.set(shape, indexes);
  }
  cache.last = { paths, indexes };
  return indexes;
}

/** The statements of one command are mostly of one shape, and their paths the very same strings. */
function equalPaths(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function overlapping(collection: Collection, paths: readonly string[]): readonly Index[] {
  const plain = paths.map(withoutNumbers);
  return collection.indexes.filter((index) =>
    index.dependsOn.some((depends) => plain.some((path) => overlaps(withoutNumbers(depends), path))),
  );
}

/** Ids inside paths (`pending.g_…`) make ever new shapes; the cache starts again then. */
const MAX_SHAPES = 500;

/** `parts.0.key` changes what an index on `parts.key` sees. */
function withoutNumbers(path: string): string {
  return path.includes('.') ? path.replace(/\.\d+(?=\.|$)/g, '') : path;
}

function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}

/** `{ _id: 1 }`, the index that every collection has: its table is the documents themselves. */
export function isIdKey(key: Buffer): boolean {
  const elements = new Elements(key, 0);
  return elements.next() && elements.name() === '_id' && byteAt(key, elements.end) === 0;
}
