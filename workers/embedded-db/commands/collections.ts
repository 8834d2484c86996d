import { notSupported, StoreError } from '../bson/errors.ts';
import { documentBytes, Elements, MISSING, TYPE, type Value } from '../bson/read.ts';
import { asNumber, asString } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { fromList } from '../plan/results.ts';
import { parseFilter } from '../query/filter.ts';
import { predicate } from '../query/predicate.ts';
import type { Collection } from '../storage/catalog.ts';
import { checkNamespace } from '../storage/namespace.ts';
import { type Command, fieldsOf, refuseOptions } from './command.ts';
import { dropCollection, ID_SPEC } from './indexes.ts';
import { cursorReply, OK, reply } from './reply.ts';
import type { Store } from './store.ts';

export const CREATE_REFUSED = [
  'capped',
  'size',
  'max',
  'timeseries',
  'expireAfterSeconds',
  'clusteredIndex',
  'validator',
  'viewOn',
  'pipeline',
  'collation',
  'changeStreamPreAndPostImages',
  'storageEngine',
];

export function create(store: Store, command: Command): Buffer {
  refuseOptions((name) => command.get(name), CREATE_REFUSED);
  const name = command.collection();
  if (store.catalog.get(`${command.db}.${name}`) !== undefined) {
    throw new StoreError(48, `Collection ${command.db}.${name} already exists.`);
  }
  store.catalog.ensure(command.db, name);
  return OK;
}

export function drop(store: Store, command: Command): Buffer {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, 'ns not found');
  const indexes = collection.indexes.length + 1;
  dropCollection(store, collection);
  return reply((out) => {
    out.int32('nIndexesWas', indexes);
    out.string('ns', ns);
  });
}

/** Only the name changes: documents and entries go by the collection's number. */
export function renameCollection(store: Store, command: Command): Buffer {
  const from = command.collection();
  const to = asString(command.get('to')) ?? '';
  const collection = store.catalog.get(from);
  if (collection === undefined) throw new StoreError(26, `Source collection ${from} does not exist`);
  if (from === to) throw new StoreError(20, "Can't rename a collection to itself");
  const target = store.catalog.get(to);
  if (target !== undefined && !command.flag('dropTarget', false)) throw new StoreError(48, 'target namespace exists');
  const dot = to.indexOf('.');
  checkNamespace(to.slice(0, Math.max(dot, 0)), to.slice(dot + 1));
  if (target !== undefined) dropCollection(store, target);
  store.catalog.rename(collection, to.slice(0, dot), to.slice(dot + 1));
  return OK;
}

/** Changes the time after which documents expire. */
export function collMod(store: Store, command: Command): Buffer {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, `ns does not exist: ${ns}`);
  const change = command.document('index');
  if (change.type === TYPE.missing) throw notSupported('collMod of anything but expireAfterSeconds');
  const fields = fieldsOf(new Elements(change.buf, change.pos));
  const seconds = asNumber(fields.get('expireAfterSeconds') ?? MISSING);
  if (seconds === undefined || Number.isNaN(seconds)) {
    throw notSupported('collMod of anything but expireAfterSeconds');
  }
  const name = asString(fields.get('name') ?? MISSING);
  const key = fields.get('keyPattern');
  const index = collection.indexes.find(
    (one) => one.name === name || (key?.type === TYPE.object && one.key.equals(documentBytes(key))),
  );
  if (index === undefined) throw new StoreError(27, `cannot find index for ns ${ns}`);
  if (seconds < 0) throw new StoreError(72, 'expireAfterSeconds must not be negative');
  const before = index.expireAfterSeconds;
  store.catalog.setExpiry(collection, index, Math.trunc(seconds));
  return reply((out) => {
    if (before !== undefined) out.int64('expireAfterSeconds_old', BigInt(before));
    out.int64('expireAfterSeconds_new', BigInt(Math.trunc(seconds)));
  });
}

export function dropDatabase(store: Store, command: Command): Buffer {
  const { db } = command;
  for (const collection of [...store.catalog.all()]) if (collection.db === db) dropCollection(store, collection);
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

export function listDatabases(store: Store, command: Command): Buffer {
  const nameOnly = command.flag('nameOnly', false);
  const names = new Map<string, number>();
  for (const { db, count } of store.catalog.all()) names.set(db, (names.get(db) ?? 0) + count);
  const matches = filterOf(command.document('filter'));
  const docs = [...names]
    .map(([name, count]) => {
      const out = new BsonWriter(128);
      const handle = out.begin();
      out.string('name', name);
      if (!nameOnly) {
        out.int64('sizeOnDisk', BigInt(count)); // LMDB keeps all databases in one file: the documents, for want of bytes
        out.bool('empty', count === 0);
      }
      return out.finish(handle);
    })
    .filter(matches);
  return reply((out) => {
    const array = out.array('databases');
    for (const [i, doc] of docs.entries()) out.document(String(i), doc);
    out.close(array);
    if (!nameOnly) out.int64('totalSize', 0n);
  });
}
