import { notSupported, StoreError } from '../bson/errors.ts';
import type { Value } from '../bson/read.ts';
import { asString } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { fromList } from '../plan/results.ts';
import type { Collection } from '../storage/catalog.ts';
import type { Build } from '../storage/catalog-record.ts';
import type { Index } from '../storage/index-definition.ts';
import { aborted, endBuild } from './builds.ts';
import type { Command } from './command.ts';
import { removeGarbage } from './garbage.ts';
import { cursorReply, reply } from './reply.ts';
import type { Store } from './store.ts';

/** An index that is being built ends its build (manual, "dropIndexes": Stop In-Progress Index Builds). */
export function dropIndexes(store: Store, command: Command): Buffer {
  const ns = `${command.db}.${command.collection()}`;
  const collection = store.catalog.get(ns);
  if (collection === undefined) throw new StoreError(26, `ns not found ${ns}`);
  const before = collection.indexes.length + 1;
  const name = nameToDrop(command.get('index'));
  const build = buildOf(collection, name);
  if (build !== undefined) {
    endBuild(store, collection, build, aborted(`the index ${name} was dropped`));
  } else {
    const index = indexToDrop(collection, name);
    store.garbage.add('entries', index.id);
    store.catalog.removeIndex(collection, index);
  }
  removeGarbage(store);
  return reply((out) => out.int32('nIndexesWas', before));
}

function nameToDrop(which: Value): string {
  const name = asString(which);
  if (name === undefined || name === '*') throw notSupported('dropIndexes of anything but one name');
  if (name === '_id_') throw new StoreError(72, 'cannot drop _id index');
  return name;
}

function buildOf(collection: Collection, name: string): Build | undefined {
  const build = collection.builds.find(({ indexes }) => indexes.some((index) => index.name === name));
  if (build === undefined || build.indexes.length === 1) return build;
  // mongod ends a build of several indexes only when all of them are named.
  throw new StoreError(
    12587,
    `cannot perform operation: an index build is currently running for collection '${collection.ns}'`,
  );
}

function indexToDrop(collection: Collection, name: string): Index {
  const index = collection.indexes.find((known) => known.name === name);
  if (index === undefined) throw new StoreError(27, `index not found with name [${name}]`);
  return index;
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
export function dropCollection(store: Store, collection: Collection): void {
  const why = aborted(`the collection ${collection.ns} was dropped`);
  for (const build of [...collection.builds]) endBuild(store, collection, build, why);
  for (const index of collection.indexes) store.garbage.add('entries', index.id);
  store.garbage.add('documents', collection.id);
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
