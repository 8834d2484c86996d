import { beginEffort } from '../bson/effort.ts';
import { fieldOf, int32At, TYPE } from '../bson/read.ts';
import { validDocumentEnd } from '../bson/validate.ts';
import { Catalog, type Collection } from './catalog.ts';
import { after, type Database, type Entry, prefixRange } from './database.ts';
import { Documents } from './documents.ts';
import { EntryKeys } from './index-keys.ts';

export interface CheckReport {
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
 * Checks the tables against each other: each document is complete BSON under the key of its `_id`, has exactly its entries in
 * each index, and is counted. Reads everything; calls `progress` after every thousand documents or entries.
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

/** How many entries the documents have in each index, in the order of the indexes. */
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

/** Everything whose key begins with the four bytes of `id`, in steps, so that at most a thousand are in memory. */
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
