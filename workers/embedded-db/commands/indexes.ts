import { notSupported, StoreError } from '../bson/errors.ts';
import { documentBytes, fieldOf, TYPE, type Value } from '../bson/read.ts';
import { asString, isNullish, show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { fromList } from '../plan/results.ts';
import type { Collection } from '../storage/catalog.ts';
import { type Index, indexFromSpec, isIdKey } from '../storage/index-definition.ts';
import { normaliseSpec } from '../storage/index-spec.ts';
import type { Command } from './command.ts';
import { cursorReply, reply } from './reply.ts';
import type { Store } from './store.ts';

const MAX_INDEXES = 64;
/** Documents or entries that are read or removed at a time. */
const CHUNK = 1000;

const KEY = Buffer.from('key');

export function createIndexes(store: Store, command: Command): Buffer {
  if (!isNullish(command.get('commitQuorum').type)) throw new StoreError(2, "Standalones can't specify commitQuorum");
  const specs = command.statements('indexes');
  if (specs.length === 0) throw new StoreError(2, 'Must specify at least one index to create');
  const ns = `${command.db}.${command.collection()}`;
  const known = store.catalog.get(ns);
  // Everything is checked first: a specification that is refused makes none of them.
  const wanted = specs.map(normaliseSpec);
  const collection = known ?? store.catalog.ensure(command.db, command.collection());
  const before = collection.indexes.length + 1;
  for (const spec of wanted) {
    if (isIdKey(documentBytes(fieldOf(spec, 0, KEY))) || exists(collection, spec)) continue;
    if (collection.indexes.length + 1 >= MAX_INDEXES) {
      throw new StoreError(67, `add index fails, too many indexes for ${ns}`);
    }
    const index = indexFromSpec(store.catalog.takeId(), spec);
    buildIndex(store, collection, index);
    store.catalog.addIndex(collection, index);
  }
  const after = collection.indexes.length + 1;
  return reply((out) => {
    out.int32('numIndexesBefore', before);
    out.int32('numIndexesAfter', after);
    if (known === undefined) out.bool('createdCollectionAutomatically', true);
    if (before === after) out.string('note', 'all indexes already exist');
  });
}

/** True when the very same index is there; throws 85 or 86 when a similar one is in its way. */
function exists(collection: Collection, spec: Buffer): boolean {
  const wanted = indexFromSpec(0, spec);
  const same = collection.indexes.find((index) => index.name === wanted.name);
  const shown = (index: Index): string => show({ type: TYPE.object, buf: index.spec, pos: 0 });
  if (same !== undefined) {
    const pair = `Requested index: ${shown(wanted)}, existing index: ${shown(same)}`;
    if (!sameEntries(same, wanted)) {
      throw new StoreError(
        86,
        `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. ${pair}`,
      );
    }
    if (!sameOptions(same, wanted)) {
      throw new StoreError(85, `An equivalent index already exists with the same name but different options. ${pair}`);
    }
    return true;
  }
  const twin = collection.indexes.find((index) => sameEntries(index, wanted));
  if (twin !== undefined) throw new StoreError(85, `Index already exists with a different name: ${twin.name}`);
  return false;
}

const PARTIAL = Buffer.from('partialFilterExpression');

/** Same key pattern, same partial filter: what makes two indexes one in mongod's eyes. */
function sameEntries(a: Index, b: Index): boolean {
  const partial = (index: Index): string => show(fieldOf(index.spec, 0, PARTIAL));
  return (
    a.fields.length === b.fields.length &&
    a.fields.every(({ path, descending }, i) => {
      const other = b.fields[i];
      return other?.path.text === path.text && other.descending === descending;
    }) &&
    partial(a) === partial(b)
  );
}

function sameOptions(a: Index, b: Index): boolean {
  return a.unique === b.unique && a.sparse === b.sparse && a.expireAfterSeconds === b.expireAfterSeconds;
}

function buildIndex(store: Store, collection: Collection, index: Index): void {
  const range = { start: prefix(collection.id), end: prefix(collection.id + 1) };
  try {
    for (;;) {
      const entries = store.database.range(store.database.documents, range, false, CHUNK);
      for (const { key, value } of entries) store.documents.addToIndex(collection, index, key, value);
      store.progress();
      const last = entries.at(-1);
      if (last === undefined || entries.length < CHUNK) return;
      range.start = Buffer.concat([last.key, Buffer.from([0])]);
    }
  } catch (error) {
    removeEntries(store, index);
    throw error;
  }
}

function prefix(id: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(id, 0);
  return bytes;
}

function removeEntries(store: Store, index: Index): void {
  const range = { start: prefix(index.id), end: prefix(index.id + 1) };
  while (store.database.removeRange(store.database.entries, range, CHUNK)) store.progress();
}

export function dropIndexes(store: Store, command: Command): Buffer {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, `ns not found ${ns}`);
  const before = collection.indexes.length + 1;
  const index = indexToDrop(collection, command.get('index'));
  removeEntries(store, index);
  store.catalog.removeIndex(collection, index);
  return reply((out) => out.int32('nIndexesWas', before));
}

function indexToDrop(collection: Collection, which: Value): Index {
  const name = asString(which);
  if (name === undefined || name === '*') throw notSupported('dropIndexes of anything but one name');
  if (name === '_id_') throw new StoreError(72, 'cannot drop _id index');
  const index = collection.indexes.find((known) => known.name === name);
  if (index === undefined) throw new StoreError(27, `index not found with name [${name}]`);
  return index;
}

export function listIndexes(store: Store, command: Command): Buffer | Promise<Buffer> {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, `ns does not exist: ${ns}`);
  const specs = [ID_SPEC, ...collection.indexes.map((index) => index.spec)];
  const batch = store.cursors.first(ns, fromList(specs), specs.length, true, store.now());
  return batch instanceof Promise
    ? batch.then((made) => cursorReply(made, 'firstBatch'))
    : cursorReply(batch, 'firstBatch');
}

/** Removes the documents and entries of a collection, and the collection. */
export function dropCollection(store: Store, collection: Collection): void {
  for (const index of collection.indexes) removeEntries(store, index);
  const range = { start: prefix(collection.id), end: prefix(collection.id + 1) };
  while (store.database.removeRange(store.database.documents, range, CHUNK)) store.progress();
  store.catalog.drop(collection);
}

export const ID_SPEC = idSpec();

function idSpec(): Buffer {
  const writer = new BsonWriter(128);
  const handle = writer.begin();
  writer.int32('v', 2);
  const key = writer.object('key');
  writer.int32('_id', 1);
  writer.close(key);
  writer.string('name', '_id_');
  return writer.finish(handle);
}
