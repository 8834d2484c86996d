import { randomBytes } from 'node:crypto';
import { StoreError } from '../bson/errors.ts';
import { documentBytes, fieldOf, type Value, valuesOf } from '../bson/read.ts';
import { asFlag, asNumber, asString } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import type { Database } from './database.ts';
import { type Index, indexFromSpec } from './index-definition.ts';

export interface Collection extends CollectionRecord {
  readonly db: string;
  readonly name: string;
  /** `db.name` */
  readonly ns: string;
  count: number;
  /** A cursor must not go on in a new collection of that name. */
  dropped: boolean;
  /** Indexes by the paths of an update; emptied when the indexes change. */
  readonly affected: AffectedIndexes;
}

const NEXT_ID = Buffer.from('next');

/**
 * The collections and their indexes, kept in memory and in the table `meta`: `c<db>.<name>` → `encodeCollection`, `n<id
 * u32>` → the number of documents (double), `next` → the next id (u32). All changes happen inside a write transaction
 * and are stored by `flush` at its end.
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
    this.reload();
  }

  reload(): void {
    const { database } = this;
    this.collections.clear();
    this.changed.clear();
    this.counted.clear();
    this.nextId = 1;
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

  /** Created when missing. Throws 73 for invalid names. */
  ensure(db: string, name: string): Collection {
    const ns = `${db}.${name}`;
    const known = this.collections.get(ns);
    if (known !== undefined) return known;
    checkNamespace(db, name);
    const record = { id: this.takeId(), uuid: randomBytes(16), indexes: [], builds: [] };
    const collection = newCollection(db, name, record);
    this.collections.set(ns, collection);
    this.changed.add(collection);
    return collection;
  }

  takeId(): number {
    const id = this.nextId++;
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(this.nextId, 0);
    this.database.put(this.database.meta, NEXT_ID, bytes);
    return id;
  }

  drop(collection: Collection): void {
    collection.dropped = true;
    this.collections.delete(collection.ns);
    this.changed.delete(collection);
    this.counted.delete(collection);
    this.database.remove(this.database.meta, collectionKey(collection.ns));
    this.database.remove(this.database.meta, countKey(collection.id));
  }

  beginBuild(collection: Collection, build: Build): void {
    collection.builds.push(build);
    this.buildMoved(collection);
  }

  /** Call it when a build has gone on, so that `flush` stores how far. */
  buildMoved(collection: Collection): void {
    this.changed.add(collection);
  }

  removeBuild(collection: Collection, build: Build): void {
    collection.builds.splice(collection.builds.indexOf(build), 1);
    this.buildMoved(collection);
  }

  finishBuild(collection: Collection, build: Build): void {
    this.removeBuild(collection, build);
    collection.indexes.push(...build.indexes);
    this.indexesChanged(collection);
  }

  removeIndex(collection: Collection, index: Index): void {
    index.dropped = true;
    collection.indexes.splice(collection.indexes.indexOf(index), 1);
    this.indexesChanged(collection);
  }

  /** Call it when the indexes of a collection have changed, or a flag of one (`multikey`, `nested`). */
  indexesChanged(collection: Collection): void {
    collection.affected.byShape.clear();
    collection.affected.last = undefined;
    this.changed.add(collection);
  }

  addCount(collection: Collection, difference: number): void {
    collection.count += difference;
    this.counted.add(collection);
  }

  /** The last step of every write transaction. */
  flush(): void {
    for (const collection of this.changed) {
      this.database.put(this.database.meta, collectionKey(collection.ns), encodeCollection(this.writer, collection));
    }
    for (const collection of this.counted) {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeDoubleBE(collection.count, 0);
      this.database.put(this.database.meta, countKey(collection.id), bytes);
    }
    this.changed.clear();
    this.counted.clear();
  }

  private load(ns: string, doc: Buffer): void {
    const dot = ns.indexOf('.');
    const collection = newCollection(ns.slice(0, dot), ns.slice(dot + 1), decodeCollection(doc));
    collection.count = this.database.get(this.database.meta, countKey(collection.id))?.readDoubleBE(0) ?? 0;
    this.collections.set(ns, collection);
  }
}

function newCollection(db: string, name: string, record: CollectionRecord): Collection {
  return {
    ...record,
    db,
    name,
    ns: `${db}.${name}`,
    count: 0,
    dropped: false,
    affected: { byShape: new Map(), last: undefined },
  };
}

function collectionKey(ns: string): Buffer {
  return Buffer.from(`c${ns}`);
}

function countKey(id: number): Buffer {
  const key = Buffer.from('n0000');
  key.writeUInt32BE(id, 1);
  return key;
}

/** mongod's limits; a key of LMDB has room for more. */
const NAMESPACE_BYTES_MAX = 255;
const DATABASE_BYTES_MAX = 63;

function checkNamespace(db: string, name: string): void {
  checkDatabase(db);
  const bad = name === '' || name.startsWith('.') || name.startsWith('system.') || /[$\0]/.test(name);
  if (bad) throw new StoreError(73, `Invalid namespace specified '${shown(`${db}.${name}`)}'`);
  if (Buffer.byteLength(`${db}.${name}`) > NAMESPACE_BYTES_MAX) {
    throw new StoreError(
      73,
      `Fully qualified namespace is too long. Namespace: ${shown(`${db}.${name}`)} Max: ${NAMESPACE_BYTES_MAX}`,
    );
  }
}

export function checkDatabase(db: string): void {
  if (db !== '' && !/[/\\. "$\0]/.test(db) && Buffer.byteLength(db) <= DATABASE_BYTES_MAX) return;
  throw new StoreError(73, `Invalid database name: '${shown(db)}'`);
}

function shown(name: string): string {
  return name.length > NAMESPACE_BYTES_MAX ? `${name.slice(0, NAMESPACE_BYTES_MAX)}…` : name;
}

interface AffectedIndexes {
  readonly byShape: Map<string, readonly Index[]>;
  last: { readonly paths: readonly string[]; readonly indexes: readonly Index[] } | undefined;
}

interface Indexed {
  readonly indexes: readonly Index[];
  readonly affected: AffectedIndexes;
}

/** The indexes whose entries may change when these paths do; all of them when the paths are not known. */
export function affectedIndexes(collection: Indexed, paths: readonly string[] | undefined): readonly Index[] {
  if (paths === undefined || collection.indexes.length === 0) return collection.indexes;
  const { affected: cache } = collection;
  const same = cache.last;
  if (same !== undefined && equalPaths(same.paths, paths)) return same.indexes;
  const shape = paths.join('\0'); // no name of a field has it
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

function overlapping(collection: Indexed, paths: readonly string[]): readonly Index[] {
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

interface CollectionRecord {
  readonly id: number;
  readonly uuid: Buffer;
  readonly indexes: Index[];
  readonly builds: Build[];
}

/** Indexes that one command makes and that nobody uses yet, because not every document has its entries. */
export interface Build {
  readonly id: number;
  readonly indexes: readonly Index[];
  /** The key of the last document that was read. Each document up to it has its entries, or is doubtful. */
  to: Buffer;
  /** The group of the log in which the last slice ran; only in memory. */
  lastGroup: number | undefined;
}

const FIELD = {
  id: Buffer.from('id'),
  uuid: Buffer.from('uuid'),
  indexes: Buffer.from('indexes'),
  builds: Buffer.from('builds'),
  to: Buffer.from('to'),
  spec: Buffer.from('spec'),
  multikey: Buffer.from('multikey'),
  nested: Buffer.from('nested'),
} as const;

/** `{ id, uuid, indexes: [{ id, spec, multikey, nested }], builds: [{ id, to, indexes }] }`; `uuid`, `to`: hex. */
function encodeCollection(writer: BsonWriter, { id, uuid, indexes, builds }: CollectionRecord): Buffer {
  const doc = writer.begin();
  writer.int32('id', id);
  writer.string('uuid', uuid.toString('hex'));
  putIndexes(writer, indexes);
  if (builds.length > 0) {
    const array = writer.array('builds');
    for (const [i, build] of builds.entries()) {
      const one = writer.object(String(i));
      writer.int32('id', build.id);
      writer.string('to', build.to.toString('hex'));
      putIndexes(writer, build.indexes);
      writer.close(one);
    }
    writer.close(array);
  }
  return writer.finish(doc);
}

function putIndexes(writer: BsonWriter, indexes: readonly Index[]): void {
  const array = writer.array('indexes');
  for (const [i, index] of indexes.entries()) {
    const one = writer.object(String(i));
    writer.int32('id', index.id);
    writer.document('spec', index.spec);
    putFlags(writer, 'multikey', index.multikey);
    putFlags(writer, 'nested', index.nested);
    writer.close(one);
  }
  writer.close(array);
}

function putFlags(writer: BsonWriter, name: string, flags: readonly boolean[]): void {
  const array = writer.array(name);
  for (const [field, flag] of flags.entries()) writer.bool(String(field), flag);
  writer.close(array);
}

function decodeCollection(doc: Buffer): CollectionRecord {
  return {
    id: idOf(doc, 0),
    uuid: hexOf(fieldOf(doc, 0, FIELD.uuid)),
    indexes: indexesOf(doc, 0),
    builds: valuesOf(fieldOf(doc, 0, FIELD.builds)).map(({ buf, pos }) => ({
      id: idOf(buf, pos),
      to: hexOf(fieldOf(buf, pos, FIELD.to)),
      indexes: indexesOf(buf, pos),
      lastGroup: undefined,
    })),
  };
}

function idOf(buf: Buffer, pos: number): number {
  return asNumber(fieldOf(buf, pos, FIELD.id)) ?? 0;
}

function hexOf(value: Value): Buffer {
  return Buffer.from(asString(value) ?? '', 'hex');
}

function indexesOf(record: Buffer, at: number): Index[] {
  return valuesOf(fieldOf(record, at, FIELD.indexes)).map(({ buf, pos }) => {
    const index = indexFromSpec(idOf(buf, pos), Buffer.from(documentBytes(fieldOf(buf, pos, FIELD.spec))));
    for (const [i, flag] of valuesOf(fieldOf(buf, pos, FIELD.multikey)).entries()) {
      index.multikey[i] = asFlag(flag) ?? false;
    }
    for (const [i, flag] of valuesOf(fieldOf(buf, pos, FIELD.nested)).entries())
      index.nested[i] = asFlag(flag) ?? false;
    return index;
  });
}
