import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type DirectoryLock, takeDirectory } from '../../../shared/platform/runtime/directory-lock.ts';
import { DamageFound, StartError } from '../../../shared/platform/runtime/lifecycle.ts';
import { syncDirectory } from '../../../shared/platform/runtime/own-directory.ts';
import { emptied } from './read-log.ts';

/** The two files that are the data. */
export interface StoreFiles {
  readonly dir: string;
  readonly tables: string;
  readonly log: string;
  /** The tables without their free space, while `store compact` makes them. */
  readonly compact: string;
}

export function storeFiles(dir: string): StoreFiles {
  const at = (name: string): string => join(dir, name);
  return {
    dir,
    tables: at('data.mdb'),
    log: at('data.log'),
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
  } else if (!isOfLmdb(files.tables)) {
    // Opening it would end the process with a segmentation fault.
    if (!neverUsed(files)) throw damaged(files, 'its first pages are none of LMDB');
    renameSync(files.tables, `${files.tables}.unfinished`);
  }
  return files;
}

/**
 * Removes the access of group and others to the store's files and directory, which a copy may have left. Files
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

/**
 * Error codes of LMDB (lmdb.h): a page that is not in the file, one of the wrong kind, a fatal state, another version, no file of
 * LMDB; and `MDB_BAD_TXN`, as which lmdb-js tells the first two when it meets them inside a transaction.
 */
const SAY_DAMAGED: ReadonlySet<unknown> = new Set([-30797, -30796, -30795, -30794, -30793, -30782]);

/** Does `work`, which opens the store in `dir`. Throws `DamageFound`, with the way out, when LMDB says that its file is damaged. */
export async function tellDamage<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && SAY_DAMAGED.has(error.code))) throw error;
    throw damaged(storeFiles(dir), error.message, error);
  }
}

function damaged({ tables }: StoreFiles, why: string, cause?: unknown): DamageFound {
  return new DamageFound(
    `${tables} is damaged (${why}): the disk lost or changed what it had confirmed, or a copy was cut off. Move the directory away and bring data.mdb and data.log back from one backup, or restore one: npm run ops -- store restore FILE`,
    { cause },
  );
}

/** LMDB writes and syncs its two meta pages before anything else. */
function isOfLmdb(tables: string): boolean {
  return META_MAGIC_AT.every((at) => MAGIC.equals(bytesOf(tables, at)));
}

/** Whether the tables were never completed. */
function neverUsed({ tables, log }: StoreFiles): boolean {
  return existsSync(log) && statSync(log).size === 0 && statSync(tables).size < SMALLEST_BYTES;
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

/** Gives a finished file its name, mode 0600: after a power failure either it is there whole, or what had the name before. */
export function replaceFile(finished: string, name: string): void {
  chmodSync(finished, 0o600);
  const fd = openSync(finished, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(finished, name);
  syncDirectory(dirname(name));
}

/** Locks the store for this process. LMDB would let two processes in, each with its own catalogue and log. */
export async function takeStore(dir: string): Promise<DirectoryLock> {
  const taking = await takeDirectory(dir, 'store.lock');
  if (taking.kind !== 'held') return taking.lock;
  const who = taking.by === undefined ? 'another process' : `process ${taking.by.pid}`;
  throw new StartError(`The store in ${dir} is in use by ${who}. Stop that process first.`);
}
