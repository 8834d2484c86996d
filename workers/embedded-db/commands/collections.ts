import { beginEffort } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';
import { fieldOf, TYPE, type Value } from '../bson/read.ts';
import { asString, show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { fromList } from '../plan/results.ts';
import { parseFilter, predicate } from '../query/filter.ts';
import type { Build, Collection } from '../storage/catalog.ts';
import { after, prefixRange } from '../storage/database.ts';
import { wholeDocument } from '../storage/documents.ts';
import { type Index, indexFromSpec, normaliseSpec } from '../storage/index-definition.ts';
import { type Command, cursorReply, OK, reply } from './command.ts';
import { type Progress, Rest, Slice, type Store } from './store.ts';

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

/** Drivers ask so for an estimated count; here it is exact. */
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

/** Including indexes that are being built, as in mongod. */
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

/** The collection's documents and entries are garbage from now on; builds end. */
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

const REMOVED_AT_ONCE = 500;

/** Removes as much dropped data as a slice allows. A small collection or index goes with the command that drops it. */
export function removeGarbage(store: Store): Progress {
  const slice = new Slice(store);
  while (store.garbage.waits) {
    if (slice.over) return new Rest(() => removeGarbage(store));
    slice.looked(1 + store.garbage.remove(REMOVED_AT_ONCE));
  }
  return OK;
}

const MAX_INDEXES = 64;

interface Request {
  readonly ns: string;
  readonly collection: number;
  readonly wanted: readonly Buffer[];
  readonly before: number;
  readonly created: boolean;
}

/** All or none; answers when ready. Commands that want the same index build it together: each takes slices. */
export function createIndexes(store: Store, command: Command): Progress {
  const specs = command.statements('indexes');
  const ns = `${command.db}.${command.collection()}`;
  const known = store.catalog.get(ns);
  // Everything is checked first: a specification that is refused makes none of them.
  const wanted = specs.map(normaliseSpec);
  const collection = known ?? store.catalog.ensure(command.db, command.collection());
  const request = {
    ...{ ns, collection: collection.id, wanted },
    before: collection.indexes.length + 1,
    created: known === undefined,
  };
  return goOn(store, request);
}

function goOn(store: Store, request: Request): Progress {
  const collection = store.catalog.get(request.ns);
  // mongod's `IndexBuildAborted`.
  if (collection?.id !== request.collection) throw new StoreError(276, `the collection ${request.ns} was dropped`);
  const missing = request.wanted.filter((spec) => !includes(collection.indexes, spec));
  if (missing.length === 0) return answer(collection, request);
  const build =
    collection.builds.find(({ indexes }) => missing.some((spec) => includes(indexes, spec))) ??
    beginBuild(store, collection, newIndexes(store, collection, missing));
  buildSlice(store, collection, build);
  if (collection.builds.includes(build)) return new Rest(() => goOn(store, request));
  return goOn(store, request);
}

function newIndexes(store: Store, collection: Collection, specs: readonly Buffer[]): Index[] {
  const different: Buffer[] = [];
  for (const spec of specs) {
    const others = different.map((other) => indexFromSpec(0, other));
    if (!includes(others, spec)) different.push(spec);
  }
  const before = collection.indexes.length + 1 + collection.builds.flatMap(({ indexes }: Build) => indexes).length;
  if (before + different.length > MAX_INDEXES) {
    throw new StoreError(67, `add index fails, too many indexes for ${collection.ns}`);
  }
  return different.map((spec) => indexFromSpec(store.catalog.takeId(), spec));
}

function answer(collection: Collection, { before, created }: Request): Buffer {
  const after = collection.indexes.length + 1;
  return reply((out) => {
    out.int32('numIndexesBefore', before);
    out.int32('numIndexesAfter', after);
    if (created) out.bool('createdCollectionAutomatically', true);
    if (before === after) out.string('note', 'all indexes already exist');
  });
}

/** True when the very same index is among them; throws 85 or 86 when a similar one is in its way. */
function includes(indexes: readonly Index[], spec: Buffer): boolean {
  const wanted = indexFromSpec(0, spec);
  const same = indexes.find((index) => index.name === wanted.name);
  const shown = (index: Index): string => show({ type: TYPE.object, buf: index.spec, pos: 0 });
  if (same !== undefined) {
    const pair = `requested ${shown(wanted)}, there is ${shown(same)}`;
    if (!sameEntries(same, wanted))
      throw new StoreError(86, `An index of this name has other fields or a filter: ${pair}`);
    if (!sameOptions(same, wanted)) throw new StoreError(85, `An index of this name has other options: ${pair}`);
    return true;
  }
  const twin = indexes.find((index) => sameEntries(index, wanted));
  if (twin !== undefined) throw new StoreError(85, `Index already exists with a different name: ${twin.name}`);
  return false;
}

const PARTIAL = Buffer.from('partialFilterExpression');

/** Same key pattern, same partial filter: for mongod they are one index. */
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

const CHUNK = 100;
const CHUNK_BYTES = 1024 * 1024;
/** Reading this many bytes costs one more unit of work (`Slice`), as much as looking at a small document. */
const UNIT_BYTES = 2_048;

function beginBuild(store: Store, collection: Collection, indexes: readonly Index[]): Build {
  const { start } = prefixRange(collection.id);
  const build = { id: store.catalog.takeId(), indexes, to: start, lastGroup: undefined };
  store.catalog.beginBuild(collection, build);
  return build;
}

/**
 * Takes the build one slice further; the last slice makes its indexes usable. A group of the log has one slice of a
 * build, however many commands wait for it. A document that must not be indexed ends the build with a thrown error.
 */
function buildSlice(store: Store, collection: Collection, build: Build): void {
  const { catalog, database } = store;
  if (build.lastGroup === database.lastGroup) return;
  build.lastGroup = database.lastGroup;
  try {
    if (walk(store, collection, build)) catalog.finishBuild(collection, build);
  } catch (error) {
    if (error instanceof StoreError) store.discardBuild(collection, build);
    throw error;
  }
}

/** Returns whether it came to the end of the collection. */
function walk(store: Store, collection: Collection, build: Build): boolean {
  const { catalog, database, documents } = store;
  const slice = new Slice(store);
  const { end } = prefixRange(collection.id);
  let { to } = build;
  for (;;) {
    const range = { start: after(to), end };
    const found = database.range(database.documents, range, false, CHUNK, CHUNK_BYTES);
    if (found.length === 0) return true;
    for (const { key, value } of found) {
      beginEffort();
      const doc = wholeDocument(value, () => collection.ns);
      documents.index(collection, build, key, doc);
      to = key;
      slice.looked(build.indexes.length + Math.floor(value.length / UNIT_BYTES));
    }
    build.to = Buffer.from(to);
    catalog.buildMoved(collection);
    if (slice.over) return false;
  }
}
