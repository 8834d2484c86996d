import { DuplicateKeyError, StoreError } from '../bson/errors.ts';
import { fieldOf, TYPE, type Value } from '../bson/read.ts';
import { show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import type { Build, Catalog, Collection } from './catalog.ts';
import { type Database, prefixRange } from './database.ts';
import { type Index, raiseFlags } from './index-definition.ts';
import { EntryKeys, entryValue } from './index-keys.ts';

/** In `meta`: `d<index u32><key of _id>`, a document that could not have its entries. */
const DOUBTFUL = Buffer.from('d');
/** With so many doubtful documents a build judges at once: no list grows without bound. */
const DOUBTFUL_MAX = 1_000;
const NONE = Buffer.alloc(0);

/**
 * The entries of indexes that are being built. No write is refused because of them: a document that has the same key of a unique
 * index as another one, or that cannot be indexed, is noted as doubtful, and judged when the build ends, as in mongod (manual, "Index
 * Builds on Populated Collections"). So for each key of a document that was read: either the entry names the document, or the
 * document is doubtful. Only inside `Database.write`.
 */
export class UnfinishedIndexes {
  private readonly database: Database;
  private readonly catalog: Catalog;
  private readonly before = new EntryKeys();
  private readonly after = new EntryKeys();

  constructor(database: Database, catalog: Catalog) {
    this.database = database;
    this.catalog = catalog;
  }

  /** Call it for each document that is written: it was `old` and is `next`. Undefined: there was none, or is none. */
  changed(collection: Collection, key: Buffer, old: Buffer | undefined, next: Buffer | undefined): void {
    for (const build of collection.builds) {
      if (Buffer.compare(key, build.to) <= 0) this.add(collection, build, key, next, old);
    }
  }

  /** Brings the document's entries in the indexes of the build up to date. `old`: the document that its present entries are of. */
  add(collection: Collection, build: Build, key: Buffer, next: Buffer | undefined, old?: Buffer): void {
    const idKey = key.subarray(4);
    const { before, after } = this;
    for (const index of build.indexes) {
      fillIfPossible(before, index, old, idKey);
      const possible = fillIfPossible(after, index, next, idKey);
      if (raiseFlags(index, after.arrays, after.nested)) this.catalog.indexesChanged(collection);
      for (let k = 0; k < before.count; k++) {
        if (!after.has(0, after.count, before, k)) this.removeOwn(index, before.view(k), idKey);
      }
      let doubtful = !possible;
      for (let k = 0; k < after.count; k++) {
        if (before.has(0, before.count, after, k)) continue;
        if (!this.putIfFree(index, after.view(k), idKey)) doubtful = true;
      }
      if (doubtful) this.database.put(this.database.meta, doubtfulKey(index, idKey), NONE);
    }
  }

  /** Judges doubtful documents when they are many. Throws what `judge` does. */
  judgeMany(collection: Collection, { indexes }: Build): void {
    for (const index of indexes) {
      if (this.doubtful(index, DOUBTFUL_MAX).length === DOUBTFUL_MAX) this.judge(collection, index);
    }
  }

  /** Afterwards its indexes are complete. Throws 11000, or what keeps a document from being indexed: 171, 201. */
  judgeAll(collection: Collection, { indexes }: Build): void {
    for (const index of indexes) this.judge(collection, index);
  }

  /** Removes what is noted of an index that ends, complete or not. */
  forget(index: Index): void {
    this.database.removeRange(this.database.meta, prefixRange(index.id, DOUBTFUL), Number.MAX_SAFE_INTEGER);
  }

  /** Gives the doubtful documents, as they are now, their entries. */
  private judge(collection: Collection, index: Index): void {
    const { database, after } = this;
    const { start } = prefixRange(collection.id);
    for (const noted of this.doubtful(index, Number.MAX_SAFE_INTEGER)) {
      const idKey = noted.subarray(DOUBTFUL.length + 4);
      const doc = database.get(database.documents, Buffer.concat([start, idKey]));
      after.clear();
      if (doc !== undefined) after.add(index, doc, idKey);
      for (let k = 0; k < after.count; k++) {
        if (doc !== undefined && !this.putIfFree(index, after.view(k), idKey)) {
          throw duplicateEntry(collection, index, doc);
        }
      }
      database.remove(database.meta, noted);
    }
  }

  private doubtful(index: Index, limit: number): Buffer[] {
    const { database } = this;
    const found = database.range(database.meta, prefixRange(index.id, DOUBTFUL), false, limit);
    return found.map(({ key }) => key);
  }

  /** False when the entry is another document's. */
  private putIfFree(index: Index, key: Buffer, idKey: Buffer): boolean {
    const { database } = this;
    const holder = index.unique ? database.get(database.entries, key) : undefined;
    if (holder !== undefined) return holder.equals(idKey);
    database.put(database.entries, key, entryValue(index, key.length, idKey));
    return true;
  }

  private removeOwn(index: Index, key: Buffer, idKey: Buffer): void {
    const { database } = this;
    if (index.unique && database.get(database.entries, key)?.equals(idKey) !== true) return;
    database.remove(database.entries, key);
  }
}

/** The keys of `doc`; none, and false, when it cannot be indexed. */
function fillIfPossible(keys: EntryKeys, index: Index, doc: Buffer | undefined, idKey: Buffer): boolean {
  keys.clear();
  keys.arrays = 0;
  keys.nested = 0;
  if (doc === undefined) return true;
  try {
    keys.add(index, doc, idKey);
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    keys.clear();
    return false;
  }
}

function doubtfulKey(index: Index, idKey: Buffer): Buffer {
  return Buffer.concat([prefixRange(index.id, DOUBTFUL).start, idKey]);
}

const ID = Buffer.from('_id');
const ID_KEY = Buffer.from([14, 0, 0, 0, 0x10, 0x5f, 0x69, 0x64, 0, 1, 0, 0, 0, 0]); // { _id: 1 }

export function duplicateId(collection: Collection, id: Value): DuplicateKeyError {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  writer.value(ID, id);
  return new DuplicateKeyError(
    `E11000 duplicate key error collection: ${collection.ns} index: _id_ dup key: { _id: ${show(id)} }`,
    ID_KEY,
    writer.finish(handle),
  );
}

export function duplicateEntry(collection: Collection, index: Index, doc: Buffer): DuplicateKeyError {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  const shown: string[] = [];
  for (const { path } of index.fields) {
    const value = keyValue(doc, path.parts);
    writer.value(path.text, value);
    shown.push(`${path.text}: ${show(value)}`);
  }
  return new DuplicateKeyError(
    `E11000 duplicate key error collection: ${collection.ns} index: ${index.name} dup key: { ${shown.join(', ')} }`,
    index.key,
    writer.finish(handle),
  );
}

function keyValue(doc: Buffer, parts: readonly Buffer[]): Value {
  let value: Value = { type: TYPE.object, buf: doc, pos: 0 };
  for (const part of parts) {
    if (value.type !== TYPE.object && value.type !== TYPE.array) return NULL_VALUE;
    value = fieldOf(value.buf, value.pos, part);
  }
  return value.type === TYPE.missing ? NULL_VALUE : value;
}

const NULL_VALUE: Value = { type: TYPE.null, buf: Buffer.alloc(0), pos: 0 };
