import { randomBytes } from 'node:crypto';
import { BsonWriter } from '../bson/write.ts';
import type { AffectedIndexes } from './affected-indexes.ts';
import type { Build } from './catalog-record.ts';
import { type CollectionRecord, decodeCollection, encodeCollection } from './catalog-record.ts';
import type { Database } from './database.ts';
import type { Index } from './index-definition.ts';
import { checkNamespace } from './namespace.ts';

export interface Collection extends CollectionRecord {
  readonly db: string;
  readonly name: string;
  /** `db.name` */
  readonly ns: string;
  count: number;
  /** Set when it is dropped: a cursor must not go on in a new one of that name. */
  dropped: boolean;
  /** Indexes by the paths of an update; emptied when the indexes change. */
  readonly affected: AffectedIndexes;
}

const NEXT_ID = Buffer.from('next');

/**
 * The collections and their indexes, kept in memory and in the table `meta`: `c<db>.<name>` → `catalog-record.ts`,
 * `n<id u32>` → the number of documents (double), `next` → the next id (u32).
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
    this.reload();
  }

  /** Replaces what is in memory by what is stored. */
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

  /** The collection; created when missing. Throws 73 for invalid names. */
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

  /** From now on its indexes are used. */
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

  /** Stores the changes; the last step of every write transaction. */
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
