import { beginEffort } from '../bson/effort.ts';
import { StoreError } from '../bson/errors.ts';
import type { Collection } from '../storage/catalog.ts';
import type { Build } from '../storage/catalog-record.ts';
import { wholeDocument } from '../storage/documents.ts';
import type { Index } from '../storage/index-definition.ts';
import { after, prefixRange } from '../storage/prefix-range.ts';
import { Slice } from './slices.ts';
import type { Store } from './store.ts';

/** The most documents of one read, and the most bytes. */
const CHUNK = 100;
const CHUNK_BYTES = 1024 * 1024;
/** Reading so many bytes counts as one more unit of work (`Slice`): it costs as much as looking at a small document. */
const UNIT_BYTES = 2_048;
/** For how many failed builds the reason is kept, for the commands that wait for them. */
const ENDED_MAX = 100;

export function beginBuild(store: Store, collection: Collection, indexes: readonly Index[]): Build {
  const { start } = prefixRange(collection.id);
  const build = { id: store.catalog.takeId(), indexes, to: start, lastGroup: undefined };
  store.endedBuilds.delete(build.id); // A group that was undone may have used the same id.
  store.catalog.beginBuild(collection, build);
  return build;
}

/**
 * Takes the build one slice further; the last slice makes its indexes usable. A group of the log has one slice of a build, however
 * many commands wait for it. A document that must not be indexed ends the build, with the error that is thrown.
 */
export function buildSlice(store: Store, collection: Collection, build: Build): void {
  const { catalog, database, documents } = store;
  if (build.lastGroup === database.lastGroup) return;
  build.lastGroup = database.lastGroup;
  try {
    const whole = walk(store, collection, build);
    documents.unfinished.judgeMany(collection, build);
    if (!whole) return;
    documents.unfinished.judgeAll(collection, build);
  } catch (error) {
    if (error instanceof StoreError) endBuild(store, collection, build, error);
    throw error;
  }
  for (const index of build.indexes) documents.unfinished.forget(index);
  catalog.finishBuild(collection, build);
}

/** Reads on through the documents. Returns whether it came to the end of the collection. */
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
      documents.unfinished.add(
        collection,
        build,
        key,
        wholeDocument(value, () => collection.ns),
      );
      to = key;
      slice.looked(build.indexes.length + Math.floor(value.length / UNIT_BYTES));
    }
    build.to = Buffer.from(to);
    catalog.buildMoved(collection);
    if (slice.over) return false;
  }
}

/** Ends the build without its indexes. The commands that wait for it are answered with `why`. */
export function endBuild(store: Store, collection: Collection, build: Build, why: StoreError): void {
  store.discardBuild(collection, build);
  store.endedBuilds.set(build.id, why);
  const [oldest] = store.endedBuilds.keys();
  if (store.endedBuilds.size > ENDED_MAX && oldest !== undefined) store.endedBuilds.delete(oldest);
}

/** mongod's `IndexBuildAborted`. */
export function aborted(why: string): StoreError {
  return new StoreError(276, `Index build failed: ${why}`);
}
