import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { DamageFound } from '../../../shared/runtime/lifecycle.ts';
import { syncDirectory } from '../../../shared/runtime/own-directory.ts';
import { emptied } from './read-log.ts';

/** The two files that are the data, and the checksums of the tables' pages. */
export interface StoreFiles {
  readonly dir: string;
  readonly tables: string;
  readonly log: string;
  readonly sums: string;
  /** The tables without their free space, while `store compact` makes them. */
  readonly compact: string;
}

export function storeFiles(dir: string): StoreFiles {
  const at = (name: string): string => join(dir, name);
  return {
    dir,
    tables: at('data.mdb'),
    log: at('data.log'),
    sums: at('data.sums'),
    compact: at('data.mdb.compact'),
  };
}

/**
 * Prepares the files of a store before LMDB opens its tables. A new store begins with its log, so tables without a log have lost
 * it. If a power failure interrupted the creation of the tables, they are put aside and created again: nothing had been written
 * to them. What a killed `store compact` left is removed: it may be as large as the store.
 */
export function prepareFiles(dir: string): StoreFiles {
  const files = storeFiles(dir);
  rmSync(files.compact, { force: true });
  if (!existsSync(files.tables)) {
    if (!existsSync(files.log)) makeLog(files);
  } else if (existsSync(files.log) && statSync(files.log).size === 0 && neverMade(files.tables)) {
    renameSync(files.tables, `${files.tables}.unfinished`);
  }
  return files;
}

/**
 * Removes the access of group and others to the store's files and directory, which older versions or a copy may have left. Files
 * of another user (an administrator's copy, `lost+found`) stay as they are, because this user may not change them.
 */
export function narrowModes(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink() || found.uid !== process.getuid?.()) return;
  if ((found.mode & 0o077) !== 0) chmodSync(path, found.mode & 0o700);
  if (found.isDirectory()) for (const name of readdirSync(path)) narrowModes(join(path, name));
}

/** Throws `DamageFound` when tables that hold something have lost their log. */
export function requireLog(files: StoreFiles, tablesAreUsed: boolean): void {
  if (existsSync(files.log)) return;
  if (!tablesAreUsed) {
    makeLog(files);
    return;
  }
  throw new DamageFound(
    `${files.log} is missing: it belongs to the data.mdb beside it, and may hold writes that data.mdb lacks. Bring both back from one backup; to go on without what was written last, make an empty one: ${emptied(files.log)}`,
  );
}

function makeLog({ dir, log }: StoreFiles): void {
  closeSync(openSync(log, 'a', 0o600));
  syncDirectory(dir);
}

/** Whether the tables were never completed: LMDB writes and syncs its two meta pages before anything else. */
function neverMade(tables: string): boolean {
  return statSync(tables).size < SMALLEST_BYTES && META_MAGIC_AT.some((at) => !MAGIC.equals(bytesOf(tables, at)));
}

/** A file with the three empty tables is larger, whatever else it has. */
const SMALLEST_BYTES = 64 * 1024;
/** lmdb.h, `MDB_MAGIC`; behind the headers of the first two pages of 8 KB. */
const MAGIC = Buffer.from('dec0efbe', 'hex');
const META_MAGIC_AT = [24, 8192 + 24];

function bytesOf(path: string, at: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(MAGIC.length);
    readSync(fd, bytes, 0, bytes.length, at);
    return bytes;
  } finally {
    closeSync(fd);
  }
}
