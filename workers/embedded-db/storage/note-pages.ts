import { closeSync, existsSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { type ComparedPage, changedPages } from './changed-pages.ts';
import { isDiskFull } from './disk-full.ts';
import { PageTree, type Reference } from './page-tree.ts';
import type { StoreFiles } from './store-files.ts';
import { areOf, readSums, sumAt, sumOf, sumsHeader } from './sums-file.ts';

/** Takes less than a millisecond. */
const PAGES_AT_ONCE = 32;

/**
 * Notes the checksums of all pages that were written since the last time. On a full disk they are left out: the next ones include
 * them.
 */
export function notePages(files: StoreFiles, store: Buffer, sync: boolean): void {
  try {
    for (const _ of noting(files, store, sync));
  } catch (error) {
    if (!isDiskFull(error, files.tables)) throw error;
  }
}

/**
 * The same between other work. It must have ended before the next commit, which may write over pages that this state has. Never
 * rejects: when the disk fails, the pages count as not covered until the next time.
 */
export async function notePagesBetween(files: StoreFiles, store: Buffer, sync: boolean): Promise<void> {
  try {
    for (const _ of noting(files, store, sync)) await new Promise((resolve) => setImmediate(resolve));
  } catch {
    // As above.
  }
}

/** Yields after each `PAGES_AT_ONCE`. */
function* noting(files: StoreFiles, store: Buffer, sync: boolean): Generator<void> {
  const found = readSums(files.sums, false);
  const known = found?.store.equals(store) === true ? found : undefined;
  const tree = new PageTree(files.tables);
  const fd = openSync(files.sums, existsSync(files.sums) ? 'r+' : 'w+', 0o600);
  try {
    if (tree.states === undefined) return;
    const [newest, before] = tree.states;
    if (known?.txn === newest.txn) return;
    let noted = 0;
    const older = (page: Reference): boolean => known !== undefined && tree.isOlder(page, known.txn);
    const isNext = known !== undefined && areOf(known, before);
    const written: Generator<ComparedPage> = isNext ? changedPages(tree) : tree.walk(older);
    for (const page of written) {
      if (++noted % PAGES_AT_ONCE === 0) yield;
      if (page.isReplaced || page.kind === undefined) continue; // a damaged one: the next start will say so
      writeSync(fd, sumOf(page), 0, undefined, sumAt(page.number));
    }
    if (sync) fdatasyncSync(fd);
    writeSync(fd, sumsHeader(store, newest), 0, undefined, 0);
  } finally {
    closeSync(fd);
    tree.close();
  }
}
