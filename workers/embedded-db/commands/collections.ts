import { notSupported, StoreError } from '../bson/errors.ts';
import { TYPE, type Value } from '../bson/read.ts';
import { asString } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { fromList } from '../plan/results.ts';
import { parseFilter } from '../query/filter.ts';
import { predicate } from '../query/predicate.ts';
import type { Collection } from '../storage/catalog.ts';
import type { Command } from './command.ts';
import { cursorReply, OK, reply } from './reply.ts';
import { type Progress, Rest, Slice } from './slices.ts';
import type { Store } from './store.ts';

export function drop(store: Store, command: Command): Buffer {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, 'ns not found');
  const indexes = collection.indexes.length + 1;
  dropCollection(store, collection);
  removeGarbage(store);
  return reply((out) => {
    out.int32('nIndexesWas', indexes);
    out.string('ns', ns);
  });
}

export function dropDatabase(store: Store, command: Command): Buffer {
  const { db } = command;
  for (const collection of [...store.catalog.all()]) if (collection.db === db) dropCollection(store, collection);
  removeGarbage(store);
  return reply((out) => out.string('dropped', db));
}

export function listCollections(store: Store, command: Command): Buffer | Promise<Buffer> {
  const nameOnly = command.flag('nameOnly', false);
  const docs: Buffer[] = [];
  for (const collection of store.catalog.all()) {
    if (collection.db === command.db) docs.push(describeCollection(collection, nameOnly));
  }
  const batch = store.cursors.first(
    `${command.db}.$cmd.listCollections`,
    fromList(docs.filter(filterOf(command.document('filter')))),
    docs.length + 1,
    true,
    store.now(),
  );
  return batch instanceof Promise
    ? batch.then((made) => cursorReply(made, 'firstBatch'))
    : cursorReply(batch, 'firstBatch');
}

function filterOf(filter: Value): (doc: Buffer) => boolean {
  if (filter.type === TYPE.missing) return () => true;
  const matches = predicate(parseFilter(filter.buf, filter.pos), { nowMs: 0 });
  return (doc) => matches(TYPE.object, doc, 0);
}

function describeCollection(collection: Collection, nameOnly: boolean): Buffer {
  const out = new BsonWriter(512);
  const handle = out.begin();
  out.string('name', collection.name);
  out.string('type', 'collection');
  if (!nameOnly) {
    out.close(out.object('options'));
    const info = out.object('info');
    out.bool('readOnly', false);
    out.string('uuid', collection.uuid.toString('hex'));
    out.close(info);
    out.document('idIndex', ID_SPEC);
  }
  return out.finish(handle);
}

/** How drivers ask for about how many documents there are; here the number is exact. */
export function count(store: Store, command: Command): Buffer {
  const collection = store.catalog.get(`${command.db}.${command.collection()}`);
  return reply((out) => out.int32('n', collection?.count ?? 0));
}

export function dropIndexes(store: Store, command: Command): Buffer {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, `ns not found ${ns}`);
  const before = collection.indexes.length + 1;
  const name = asString(command.get('index'));
  if (name === undefined || name === '*') throw notSupported('dropIndexes of anything but one name');
  const index = collection.indexes.find((known) => known.name === name);
  if (index === undefined) throw new StoreError(27, `index not found with name [${name}]`);
  store.garbage.add('entries', index.id);
  store.catalog.removeIndex(collection, index);
  removeGarbage(store);
  return reply((out) => out.int32('nIndexesWas', before));
}

/** With those that are being built, as mongod. */
export function listIndexes(store: Store, command: Command): Buffer | Promise<Buffer> {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, `ns does not exist: ${ns}`);
  const built = collection.builds.flatMap(({ indexes }) => indexes);
  const specs = [ID_SPEC, ...[...collection.indexes, ...built].map((index) => index.spec)];
  const batch = store.cursors.first(ns, fromList(specs), specs.length, true, store.now());
  return batch instanceof Promise
    ? batch.then((made) => cursorReply(made, 'firstBatch'))
    : cursorReply(batch, 'firstBatch');
}

/** Its documents and entries are garbage from now on; builds end. */
function dropCollection(store: Store, collection: Collection): void {
  for (const build of [...collection.builds]) store.discardBuild(collection, build);
  for (const index of collection.indexes) store.garbage.add('entries', index.id);
  store.garbage.add('documents', collection.id);
  store.catalog.drop(collection);
}

const ID_SPEC = idSpec();

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

/** Keys that are removed at a time. */
const CHUNK = 500;

/** Removes as much as a slice allows of what was dropped. What is small goes with the command that drops it. */
export function removeGarbage(store: Store): Progress {
  const slice = new Slice(store);
  while (store.garbage.waits) {
    if (slice.over) return new Rest(() => removeGarbage(store));
    slice.looked(1 + store.garbage.remove(CHUNK));
  }
  return OK;
}
