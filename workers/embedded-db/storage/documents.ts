import { KeyBuffer } from '../bson/key.ts';
import { byteAt, documentBytes, fieldOf, findElement, int32At, TYPE, type Value, valueEnd } from '../bson/read.ts';
import { newObjectId, show, typeName } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { DuplicateKeyError, StoreError } from '../errors.ts';
import { copyWithoutId } from '../update/update.ts';
import { affectedIndexes, type Catalog, type Collection, type Index } from './catalog.ts';
import type { Database } from './database.ts';
import { type EntryKeys, entryKeys } from './index-keys.ts';

/** 16 MiB, as mongod. */
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

const ID = Buffer.from('_id');
const ID_KEY = Buffer.from([14, 0, 0, 0, 0x10, 0x5f, 0x69, 0x64, 0, 1, 0, 0, 0, 0]); // { _id: 1 }

/**
 * Documents with their index entries. Each call looks first (duplicate keys, keys that cannot be made) and writes then, so
 * that a call that throws a StoreError has written nothing. Only inside `Database.write`.
 */
export class Documents {
  private readonly database: Database;
  private readonly catalog: Catalog;
  private readonly writer = new BsonWriter();
  private readonly keyBuffer = new KeyBuffer();
  /** Goes up with every document written: tells whether a command that failed had already written. */
  writes = 0;
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
    return this.database.get(this.database.documents, key);
  }

  /** Inserts the document at `pos` as it is, its `_id` first, made when missing. Returns that `_id`. Throws 11000, 53, 10334. */
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
      throw new StoreError(
        10334,
        `BSONObj size: ${doc.length} (0x${doc.length.toString(16)}) is invalid. Size must be between 0 and 16793600(16MB)`,
      );
    }
    const key = this.keyOf(collection, id);
    const idKey = key.subarray(4);
    const entries = collection.indexes.map((index) => {
      const made = entryKeys(index, doc, idKey);
      if (index.unique) this.checkUnique(collection, index, made.keys, idKey, doc, key);
      return made;
    });
    this.writes++;
    if (!this.database.putNew(key, doc)) throw duplicateId(collection, id);
    for (const [i, made] of entries.entries()) {
      const index = collection.indexes[i];
      if (index === undefined) continue;
      for (const entry of made.keys) this.putEntry(index, entry, idKey);
      this.remember(collection, index, made);
    }
    this.counts.inserted++;
    this.catalog.addCount(collection, 1);
    return id;
  }

  /** Stores `next` in place of `old`; `paths` are what changed between them. Throws 11000, 17419. */
  replace(collection: Collection, key: Buffer, old: Buffer, next: Buffer, paths: readonly string[] | undefined): void {
    if (next.length > MAX_DOCUMENT_BYTES) {
      throw new StoreError(17419, `Resulting document after update is larger than ${MAX_DOCUMENT_BYTES}`);
    }
    const idKey = key.subarray(4);
    const changes = affectedIndexes(collection, paths).map((index) => {
      const before = entryKeys(index, old, idKey);
      const after = entryKeys(index, next, idKey);
      const gone = without(before.keys, after.keys);
      const added = without(after.keys, before.keys);
      if (index.unique) this.checkUnique(collection, index, added, idKey, next);
      return { index, after, gone, added };
    });
    this.writes++;
    for (const { index, after, gone, added } of changes) {
      for (const entry of gone) this.database.entries.removeSync(entry);
      for (const entry of added) this.putEntry(index, entry, idKey);
      this.remember(collection, index, after);
    }
    this.database.documents.putSync(key, next);
    this.counts.updated++;
  }

  remove(collection: Collection, key: Buffer, old: Buffer): void {
    this.writes++;
    const idKey = key.subarray(4);
    for (const index of collection.indexes) {
      for (const entry of entryKeys(index, old, idKey).keys) this.database.entries.removeSync(entry);
    }
    this.database.documents.removeSync(key);
    this.counts.deleted++;
    this.catalog.addCount(collection, -1);
  }

  /** Adds the entries of a stored document to a new index. Throws 11000. */
  addToIndex(collection: Collection, index: Index, key: Buffer, doc: Buffer): void {
    const idKey = key.subarray(4);
    const made = entryKeys(index, doc, idKey);
    if (index.unique) this.checkUnique(collection, index, made.keys, idKey, doc);
    this.writes++;
    for (const entry of made.keys) this.putEntry(index, entry, idKey);
    for (const [i, flag] of made.multikey?.entries() ?? []) if (flag) index.multikey[i] = true;
    if (made.truncated) index.truncated = true;
  }

  private putEntry(index: Index, entry: Buffer, idKey: Buffer): void {
    this.database.entries.putSync(entry, index.unique ? idKey : offsetBytes(entry.length - idKey.length));
  }

  private checkUnique(
    collection: Collection,
    index: Index,
    keys: readonly Buffer[],
    idKey: Buffer,
    doc: Buffer,
    inserting?: Buffer,
  ): void {
    for (const key of keys) {
      const holder = this.database.get(this.database.entries, key);
      if (holder === undefined || holder.equals(idKey)) continue;
      // mongod looks at `_id` first, so an insert that violates both is answered with that one.
      if (inserting !== undefined && this.get(inserting) !== undefined) {
        throw duplicateId(collection, fieldOf(doc, 0, ID));
      }
      throw duplicateEntry(collection, index, doc);
    }
  }

  private remember(collection: Collection, index: Index, made: EntryKeys): void {
    let changed = made.truncated && !index.truncated;
    if (made.truncated) index.truncated = true;
    if (made.multikey !== undefined) {
      for (const [i, flag] of made.multikey.entries()) {
        if (!flag || index.multikey[i] === true) continue;
        index.multikey[i] = true;
        changed = true;
      }
    }
    if (changed) this.catalog.indexesChanged(collection);
  }
}

/** Where the key of `_id` begins in an entry's key, as the entry's value: slices of one table, made once. */
const OFFSETS = Buffer.allocUnsafeSlow(2 * 2048);
for (let i = 0; i < 2048; i++) OFFSETS.writeUInt16BE(i, i * 2);

function offsetBytes(offset: number): Buffer {
  return OFFSETS.subarray(offset * 2, offset * 2 + 2);
}

function without(keys: readonly Buffer[], others: readonly Buffer[]): readonly Buffer[] {
  return keys.filter((key) => !others.some((other) => other.equals(key)));
}

function checkId(id: Value): void {
  if (id.type === TYPE.array || id.type === TYPE.regex || id.type === TYPE.undefined) {
    throw new StoreError(53, `The '_id' value cannot be of type ${typeName(id.type)}`);
  }
  if (id.type !== TYPE.object) return;
  const inner = documentBytes(id);
  for (let at = 4; byteAt(inner, at) !== 0; ) {
    if (inner[at + 1] === 0x24) throw new StoreError(52, `_id fields may not contain '$'-prefixed fields: ${show(id)}`);
    const pos = inner.indexOf(0, at + 1) + 1;
    at = valueEnd(byteAt(inner, at), inner, pos);
  }
}

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
    if (value.type !== TYPE.object && value.type !== TYPE.array) return NULL_VALUE;
    value = fieldOf(value.buf, value.pos, part);
  }
  return value.type === TYPE.missing ? NULL_VALUE : value;
}

const NULL_VALUE: Value = { type: TYPE.null, buf: Buffer.alloc(0), pos: 0 };
