import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { makeOwnDirectory } from '../../shared/platform/runtime/own-file.ts';
import { beginEffort } from './bson/effort.ts';
import { fieldOf, int32At, TYPE, validDocumentEnd } from './bson/read.ts';
import { Catalog, type Collection } from './storage/catalog.ts';
import { after, Database, type Entry, prefixRange } from './storage/database.ts';
import { Documents } from './storage/documents.ts';
import { EntryKeys } from './storage/index-keys.ts';
import { LOG_STEP_BYTES } from './storage/log.ts';
import { replaceFile, storeFiles, takeStore, tellDamage, unsealBackup } from './storage/store-files.ts';

/** Operations on a store that no process serves. Each throws `StartError` if one does, or for unreadable files. */

/** Checks that everything in the store is consistent. Changes nothing except what every start does. */
export function checkStore(dir: string, progress: (documents: number) => void): Promise<CheckReport> {
  return alone(dir, async () => {
    if (!existsSync(join(dir, 'data.mdb')))
      throw new StartError(`There is no store in ${dir}. Is HARKARA_DATA_DIR set to its directory?`);
    const database = new Database(dir, 'fsync');
    try {
      return checkTables(database, progress);
    } finally {
      await database.close();
    }
  });
}

/** Rewrites the tables without their free space. Returns the file's bytes before and after. */
export function compactStore(dir: string): Promise<{ readonly before: number; readonly after: number }> {
  return alone(dir, async () => {
    const { tables, compact } = storeFiles(dir);
    if (!existsSync(tables))
      throw new StartError(`There is no store in ${dir}. Is HARKARA_DATA_DIR set to its directory?`);
    const before = statSync(tables).size;
    const database = new Database(dir, 'fsync');
    try {
      await database.copyTo(compact);
    } finally {
      await database.close();
    }
    replaceFile(compact, tables);
    return { before, after: statSync(tables).size };
  });
}

/** Creates a store from the backup `file`, in a directory that has none. */
export function restoreStore(dir: string, file: string): Promise<void> {
  makeOwnDirectory(dir);
  return alone(dir, async () => {
    const [tables, log] = [join(dir, 'data.mdb'), join(dir, 'data.log')];
    for (const path of [tables, log]) {
      if (existsSync(path)) throw new StartError(`${path} exists. Move the store in ${dir} away, then restore.`);
    }
    if (!existsSync(file)) throw new StartError(`There is no file ${file}.`);
    const copy = `${tables}.restoring`;
    try {
      copyFileSync(file, copy);
    } catch (cause) {
      throw new StartError(`${file} could not be copied: ${(cause as Error).message}`, { cause }); // copyFileSync throws Errors
    }
    if (!(await unsealBackup(copy))) {
      rmSync(copy);
      throw new StartError(`${file} is not a complete backup of a store, so nothing was restored. Use another one.`);
    }
    // The log first, because tables without a log count as damaged.
    writeFileSync(log, Buffer.alloc(LOG_STEP_BYTES), { mode: 0o600, flush: true });
    replaceFile(copy, tables);
  });
}

async function alone<Result>(dir: string, action: () => Promise<Result>): Promise<Result> {
  if (!existsSync(dir)) throw new StartError(`There is no store in ${dir}. Is HARKARA_DATA_DIR set to its directory?`);
  const lock = await takeStore(dir);
  try {
    return await tellDamage(dir, action);
  } finally {
    await lock.release();
  }
}

interface CheckReport {
  readonly collections: number;
  readonly documents: number;
  readonly entries: number;
  /** Inconsistencies, one sentence each; the first hundred. */
  readonly problems: readonly string[];
}

const STEP = 1_000;
const PROBLEMS_MAX = 100;
const ID = Buffer.from('_id');

/**
 * Checks the tables against each other: each document is complete BSON under the key of its `_id`, has exactly its
 * entries in each index, and is counted. Reads everything; calls `progress` after every thousand documents or entries.
 */
export function checkTables(database: Database, progress: (documents: number) => void): CheckReport {
  const report = { collections: 0, documents: 0, entries: 0, problems: [] as string[] };
  const catalog = new Catalog(database);
  const documents = new Documents(database, catalog);
  for (const collection of catalog.all()) {
    report.collections++;
    const expected = checkDocuments(database, documents, collection, report, progress);
    for (const [i, index] of collection.indexes.entries()) {
      const found = countEntries(database, index.id);
      report.entries += found;
      if (found !== expected[i]) {
        add(
          report.problems,
          `${collection.ns}: index ${index.name} has ${found} entries, its documents make ${expected[i]}`,
        );
      }
    }
  }
  return report;
}

function checkDocuments(
  database: Database,
  documents: Documents,
  collection: Collection,
  report: { documents: number; problems: string[] },
  progress: (documents: number) => void,
): number[] {
  const expected = collection.indexes.map(() => 0);
  const keys = new EntryKeys();
  let count = 0;
  for (const { key, value } of walk(database, database.documents, collection.id)) {
    beginEffort();
    count++;
    report.documents++;
    if (report.documents % STEP === 0) progress(report.documents);
    const fault = faultOf(documents, collection, key, value);
    if (fault !== undefined) {
      add(report.problems, `${collection.ns}: a document ${fault}`);
      continue;
    }
    for (const [i, index] of collection.indexes.entries()) {
      keys.clear();
      keys.add(index, value, key.subarray(4));
      expected[i] = (expected[i] ?? 0) + keys.count;
      for (let k = 0; k < keys.count; k++) {
        if (database.get(database.entries, keys.view(k)) !== undefined) continue;
        add(report.problems, `${collection.ns}: a document is missing in index ${index.name}`);
      }
    }
  }
  if (count !== collection.count) {
    add(report.problems, `${collection.ns}: ${collection.count} documents are counted, ${count} are there`);
  }
  return expected;
}

function faultOf(documents: Documents, collection: Collection, key: Buffer, doc: Buffer): string | undefined {
  if (doc.length < 5 || int32At(doc, 0) !== doc.length || validDocumentEnd(doc, 0, doc.length) !== doc.length) {
    return 'is no whole BSON';
  }
  const id = fieldOf(doc, 0, ID);
  if (id.type === TYPE.missing || !documents.keyOf(collection, id).equals(key))
    return 'is not under the key of its _id';
  return undefined;
}

function countEntries(database: Database, index: number): number {
  let entries = 0;
  for (const _entry of walk(database, database.entries, index)) entries++;
  return entries;
}

/** All keys that begin with the four bytes of `id`, in steps of at most a thousand in memory. */
function* walk(database: Database, table: Database['documents'], id: number): Generator<Entry> {
  let { start, end } = prefixRange(id);
  for (;;) {
    const entries = database.range(table, { start, end }, false, STEP);
    yield* entries;
    const last = entries.at(-1);
    if (last === undefined || entries.length < STEP) return;
    start = after(last.key);
  }
}

function add(problems: string[], problem: string): void {
  if (problems.length < PROBLEMS_MAX) problems.push(problem);
}
