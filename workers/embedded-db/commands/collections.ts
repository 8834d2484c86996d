import { StoreError } from '../bson/errors.ts';
import { TYPE, type Value } from '../bson/read.ts';
import { BsonWriter } from '../bson/write.ts';
import { fromList } from '../plan/results.ts';
import { parseFilter } from '../query/filter.ts';
import { predicate } from '../query/predicate.ts';
import type { Collection } from '../storage/catalog.ts';
import { type Command, refuseOptions } from './command.ts';
import { removeGarbage } from './garbage.ts';
import { dropCollection, ID_SPEC } from './indexes.ts';
import { cursorReply, OK, reply } from './reply.ts';
import type { Store } from './store.ts';

export const CREATE_REFUSED = [
  'autoIndexId',
  'idIndex',
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

export const COUNT_REFUSED = ['query', 'skip', 'limit', 'hint', 'collation', 'fields'];

/** How drivers ask for about how many documents there are; here the number is exact. */
export function count(store: Store, command: Command): Buffer {
  refuseOptions((name) => command.get(name), COUNT_REFUSED);
  const collection = store.catalog.get(`${command.db}.${command.collection()}`);
  return reply((out) => out.int32('n', collection?.count ?? 0));
}
