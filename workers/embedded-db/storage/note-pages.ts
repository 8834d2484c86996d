import { closeSync, existsSync, fdatasyncSync, fstatSync, openSync, writeSync } from 'node:fs';
import { DamageFound } from '../../../shared/runtime/lifecycle.ts';
import { type ComparedPage, changedPages } from './changed-pages.ts';
import { isDamaged } from './damage-found.ts';
import { isDiskFull } from './disk-full.ts';
import { catalogueNames } from './page-names.ts';
import { PageTree, type Reference, type State, type TreePage } from './page-tree.ts';
import type { StoreFiles } from './store-files.ts';
import { areOf, NO_SUM, readSums, type Sums, sumAt, sumOf, sumsHeader } from './sums-file.ts';

/** Takes less than a millisecond. */
const PAGES_AT_ONCE = 32;

/** Notes the checksums of all pages that were written since the last time, in `data.sums`. */
export class PageNotes {
  private readonly files: StoreFiles;
  private readonly sync: boolean;
  /** Resolves when what was begun has ended. */
  ended: Promise<void> = Promise.resolve();
  /** Why the last time failed. The pages count as not covered then, and the next time includes them. */
  error: unknown;

  constructor(files: StoreFiles, sync: boolean) {
    this.files = files;
    this.sync = sync;
  }

  /** All in one go. On a full disk, notes nothing and sets `error`. Throws `DamageFound` when a page cannot be read. */
  now(store: Buffer): void {
    try {
      for (const _ of noting(this.files, store, this.sync));
    } catch (error) {
      if (!isDiskFull(error, this.files.tables)) throw error;
      this.error = notNoted(this.files, error);
    }
  }

  /** In slices, between other work. Must have ended (`ended`) before the next commit, which may overwrite pages that are still to be read. */
  begin(store: Buffer): void {
    this.ended = this.between(store);
  }

  private async between(store: Buffer): Promise<void> {
    try {
      for (const _ of noting(this.files, store, this.sync)) await new Promise((resolve) => setImmediate(resolve));
      this.error = undefined;
    } catch (error) {
      this.error = error instanceof DamageFound ? error : notNoted(this.files, error);
    }
  }
}

function notNoted({ sums }: StoreFiles, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  const sentence = `checksums could not be noted in ${sums} (${why}). If the disk loses pages that were written since, the next start may not notice. This is tried again each time that the tables are stored.`;
  return new Error(sentence, { cause });
}

/** Yields after each `PAGES_AT_ONCE`. */
function* noting(files: StoreFiles, store: Buffer, sync: boolean): Generator<void> {
  const found = readSums(files.sums, false);
  const known = found?.store.equals(store) === true ? found : undefined;
  const tree = new PageTree(files.tables);
  try {
    if (tree.states === undefined) return;
    const [newest, before] = tree.states;
    if (known?.txn === newest.txn) return;
    const fd = openSync(files.sums, existsSync(files.sums) ? 'r+' : 'w+', 0o600);
    try {
      const unreadable = yield* writeSums(fd, writtenSince(tree, known, before));
      if (sync) fdatasyncSync(fd);
      writeSync(fd, sumsHeader(store, newest), 0, undefined, 0);
      const [first] = unreadable;
      if (first !== undefined) throw isDamaged(files, first, unreadable.length, catalogueNames().of(first));
    } finally {
      closeSync(fd);
    }
  } finally {
    tree.close();
  }
}

function writtenSince(tree: PageTree, known: Sums | undefined, before: State): Generator<ComparedPage> {
  if (known === undefined) return tree.walk();
  return areOf(known, before) ? changedPages(tree) : tree.walk((page: Reference) => tree.isOlder(page, known.txn));
}

/** Returns the pages that are none. They get no checksum and lose an earlier one, so that each start finds them. */
function* writeSums(fd: number, pages: Generator<ComparedPage>): Generator<void, readonly TreePage[]> {
  const unreadable: TreePage[] = [];
  let seen = 0;
  for (const page of pages) {
    if (++seen % PAGES_AT_ONCE === 0) yield;
    if (page.isReplaced) continue;
    if (page.kind !== undefined) writeSync(fd, sumOf(page), 0, undefined, sumAt(page.number));
    else {
      unreadable.push(page);
      if (sumAt(page.number) < fstatSync(fd).size) writeSync(fd, NO_SUM, 0, undefined, sumAt(page.number));
    }
  }
  return unreadable;
}
