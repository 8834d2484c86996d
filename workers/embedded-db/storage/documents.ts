import { DuplicateKeyError, malformed, StoreError } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { byteAt, Elements, fieldOf, findElement, int32At, TYPE, type Value } from '../bson/read.ts';
import { NULL, newObjectId, show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { copyWithoutId } from '../update/update.ts';
import { affectedIndexes, type Build, type Catalog, type Collection } from './catalog.ts';
import type { Database } from './database.ts';
import { type Index, raiseFlags } from './index-definition.ts';
import { EntryKeys, entryValue } from './index-keys.ts';
import type { KeySlice } from './log.ts';

/** 16 MiB, as mongod. */
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

const ID = Buffer.from('_id');

/**
 * Documents with their index entries. Each call first checks (duplicate keys, impossible keys) and then writes, so a
 * call that throws a StoreError has written nothing. Only inside `Database.write`.
 */
export class Documents {
  private readonly database: Database;
  private readonly catalog: Catalog;
  private readonly writer = new BsonWriter();
  private readonly keyBuffer = new KeyBuffer();
  /** The entries before and after a change, and where those of each index end. */
  private readonly before = new EntryKeys();
  private readonly after = new EntryKeys();
  private readonly boundsBefore: number[] = [];
  private readonly bounds: number[] = [];
  /** For each index, a bit mask: fields in which the new document has an array (`nested`: an array in an array). */
  private readonly arrays: number[] = [];
  private readonly nested: number[] = [];
  private readonly slice: KeySlice = { bytes: ID, start: 0, end: 0 };
  /** Changed namespaces, and indexes (`<namespace>/<name>`) with new entries. Whoever signals them empties it. */
  readonly changed = new Set<string>();
  /** Since the start, as `serverStatus().metrics.document` has them. */
  readonly counts = { inserted: 0, updated: 0, deleted: 0 };

  constructor(database: Database, catalog: Catalog) {
    this.database = database;
    this.catalog = catalog;
  }

  /** The key of the document with this `_id`; the bytes from 4 on are the key of the `_id` itself. */
  keyOf(collection: Collection, id: Value): Buffer {
    const key = this.keyBuffer.start(collection.id);
    key.append(id.type, id.buf, id.pos);
    key.limit(4);
    return key.copy();
  }

  get(key: Buffer): Buffer | undefined {
    const doc = this.database.get(this.database.documents, key);
    return doc === undefined ? undefined : wholeDocument(doc, () => this.nsOf(key));
  }

  private nsOf(key: Buffer): string {
    const id = key.readUInt32BE(0);
    for (const collection of this.catalog.all()) if (collection.id === id) return collection.ns;
    return `collection ${id}`;
  }

  /** Inserts the document at `pos`, its `_id` first, made when missing. Returns that `_id`. Throws 11000, 10334. */
  insert(collection: Collection, buf: Buffer, pos: number, nowMs: number): Value {
    const at = findElement(buf, pos, ID);
    const id = at < 0 ? newObjectId(nowMs) : { type: byteAt(buf, at), buf, pos: at + ID.length + 2 };
    checkId(id);
    const end = pos + int32At(buf, pos);
    let doc = buf.subarray(pos, end);
    if (at !== pos + 4) {
      const handle = this.writer.begin();
      this.writer.value(ID, id);
      copyWithoutId(buf, pos, this.writer);
      doc = this.writer.finish(handle);
    }
    if (doc.length > MAX_DOCUMENT_BYTES) {
      throw new StoreError(10334, `BSONObj size: ${doc.length} is invalid, more than ${MAX_DOCUMENT_BYTES}`);
    }
    const key = this.keyOf(collection, id);
    const idKey = key.subarray(4);
    const indexes = indexesOf(collection, key);
    this.makeEntries(collection, indexes, doc, idKey, key);
    if (!this.database.putNew(key, doc)) throw duplicateId(collection, id);
    this.putEntries(collection, indexes, idKey);
    this.changed.add(collection.ns);
    this.counts.inserted++;
    this.catalog.addCount(collection, 1);
    return id;
  }

  /** Gives a stored document its entries in indexes that are being built. Throws 11000, 171, 201. */
  index(collection: Collection, { indexes }: Build, key: Buffer, doc: Buffer): void {
    const idKey = key.subarray(4);
    this.makeEntries(collection, indexes, doc, idKey);
    this.putEntries(collection, indexes, idKey);
  }

  private makeEntries(
    collection: Collection,
    indexes: readonly Index[],
    doc: Buffer,
    idKey: Buffer,
    inserting?: Buffer,
  ): void {
    const { after } = this;
    after.clear();
    for (let i = 0; i < indexes.length; i++) {
      const index = indexes[i];
      if (index === undefined) break;
      const first = after.count;
      after.add(index, doc, idKey);
      this.bounds[i] = after.count;
      this.keepFlags(i);
      if (index.unique) this.checkUnique(collection, index, first, idKey, doc, inserting);
    }
  }

  private putEntries(collection: Collection, indexes: readonly Index[], idKey: Buffer): void {
    this.noteFlags(collection, indexes);
    let entry = 0;
    for (let i = 0; i < indexes.length; i++) {
      const end = this.bounds[i] ?? 0;
      for (; entry < end; entry++) this.putEntry(collection, indexes[i], this.after, entry, idKey);
    }
  }

  /** Stores `next` in place of `old`; `paths` are what changed between them. Throws 11000, 17419. */
  replace(collection: Collection, key: Buffer, old: Buffer, next: Buffer, paths: readonly string[] | undefined): void {
    if (next.length > MAX_DOCUMENT_BYTES) {
      throw new StoreError(17419, `Resulting document after update is larger than ${MAX_DOCUMENT_BYTES}`);
    }
    const idKey = key.subarray(4);
    const { before, after } = this;
    before.clear();
    after.clear();
    const indexes = indexesOf(collection, key, affectedIndexes(collection, paths));
    for (let i = 0; i < indexes.length; i++) {
      const index = indexes[i];
      if (index === undefined) break;
      const first = after.count;
      before.add(index, old, idKey);
      after.add(index, next, idKey);
      this.keepFlags(i);
      this.boundsBefore[i] = before.count;
      this.bounds[i] = after.count;
      if (index.unique) this.checkUnique(collection, index, first, idKey, next);
    }
    this.noteFlags(collection, indexes);
    let fromBefore = 0;
    let fromAfter = 0;
    for (let i = 0; i < indexes.length; i++) {
      const toBefore = this.boundsBefore[i] ?? 0;
      const toAfter = this.bounds[i] ?? 0;
      for (let k = fromBefore; k < toBefore; k++) {
        if (!after.has(fromAfter, toAfter, before, k)) this.removeEntry(before, k);
      }
      for (let k = fromAfter; k < toAfter; k++) {
        if (!before.has(fromBefore, toBefore, after, k)) this.putEntry(collection, indexes[i], after, k, idKey);
      }
      fromBefore = toBefore;
      fromAfter = toAfter;
    }
    this.database.put(this.database.documents, key, next);
    this.changed.add(collection.ns);
    this.counts.updated++;
  }

  remove(collection: Collection, key: Buffer, old: Buffer): void {
    const idKey = key.subarray(4);
    const { before } = this;
    before.clear();
    for (const index of indexesOf(collection, key)) before.add(index, old, idKey);
    for (let k = 0; k < before.count; k++) this.removeEntry(before, k);
    this.database.remove(this.database.documents, key);
    this.counts.deleted++;
    this.catalog.addCount(collection, -1);
  }

  private putEntry({ ns }: Collection, index: Index | undefined, keys: EntryKeys, key: number, idKey: Buffer): void {
    const slice = this.sliceOf(keys, key);
    this.changed.add(`${ns}/${index?.name}`);
    this.database.put(this.database.entries, slice, entryValue(index, slice.end - slice.start, idKey));
  }

  private removeEntry(keys: EntryKeys, key: number): void {
    this.database.remove(this.database.entries, this.sliceOf(keys, key));
  }

  private sliceOf(keys: EntryKeys, key: number): KeySlice {
    this.slice.bytes = keys.bytes;
    this.slice.start = keys.start(key);
    this.slice.end = keys.end(key);
    return this.slice;
  }

  private checkUnique(
    collection: Collection,
    index: Index,
    first: number,
    idKey: Buffer,
    doc: Buffer,
    inserting?: Buffer,
  ): void {
    for (let k = first; k < this.after.count; k++) {
      const holder = this.database.get(this.database.entries, this.sliceOf(this.after, k));
      if (holder === undefined || holder.equals(idKey)) continue;
      // mongod looks at `_id` first, so an insert that violates both is answered with that one.
      if (inserting !== undefined && this.get(inserting) !== undefined) {
        throw duplicateId(collection, fieldOf(doc, 0, ID));
      }
      throw duplicateEntry(collection, index, doc);
    }
  }

  /** Call it only when the write can no longer be refused, because the flags of an index are never taken back. */
  private noteFlags(collection: Collection, indexes: readonly Index[]): void {
    for (const [i, index] of indexes.entries()) {
      if (raiseFlags(index, this.arrays[i] ?? 0, this.nested[i] ?? 0)) this.catalog.indexesChanged(collection);
    }
  }

  private keepFlags(i: number): void {
    this.arrays[i] = this.after.arrays;
    this.nested[i] = this.after.nested;
  }
}

/** The indexes with entries of the document with this key: those `ready`, and those of a build that has passed it. */
function indexesOf({ indexes, builds }: Collection, key: Buffer, ready: readonly Index[] = indexes): readonly Index[] {
  if (builds.length === 0) return ready;
  return [...ready, ...builds.filter(({ to }) => Buffer.compare(key, to) <= 0).flatMap((build) => build.indexes)];
}

/** The document, when its length and end are those of one. Throws 301. */
export function wholeDocument(doc: Buffer, ns: () => string): Buffer {
  if (doc.length >= 5 && int32At(doc, 0) === doc.length && doc[doc.length - 1] === 0) return doc;
  throw new StoreError(
    301,
    `A document of ${ns()} in data.mdb is damaged. Stop the store and run: npm run ops -- store check; then bring data.mdb and data.log back from one backup.`,
  );
}

function checkId(id: Value): void {
  if (id.type === TYPE.array) throw malformed(`The '_id' value cannot be an array`);
  if (id.type !== TYPE.object) return;
  const inner = new Elements(id.buf, id.pos);
  while (inner.next()) if (inner.name().startsWith('$')) throw malformed(`no _id: ${show(id)}`);
}

const ID_KEY = Buffer.from([14, 0, 0, 0, 0x10, 0x5f, 0x69, 0x64, 0, 1, 0, 0, 0, 0]); // { _id: 1 }

function duplicateId(collection: Collection, id: Value): DuplicateKeyError {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  writer.value(ID, id);
  return new DuplicateKeyError(
    `E11000 duplicate key error collection: ${collection.ns} index: _id_ dup key: { _id: ${show(id)} }`,
    ID_KEY,
    writer.finish(handle),
  );
}

function duplicateEntry(collection: Collection, index: Index, doc: Buffer): DuplicateKeyError {
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
    if (value.type !== TYPE.object && value.type !== TYPE.array) return NULL;
    value = fieldOf(value.buf, value.pos, part);
  }
  return value.type === TYPE.missing ? NULL : value;
}
