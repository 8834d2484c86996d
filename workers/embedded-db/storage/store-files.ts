import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { appendFile, open, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DamageFound, StartError } from '../../../shared/platform/runtime/lifecycle.ts';
import { syncDirectory } from '../../../shared/platform/runtime/own-file.ts';
import { type DirectoryLock, takeDirectory } from '../../../shared/platform/runtime/unix-socket.ts';
import { emptied } from './read-log.ts';

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
 * Prepares the files of a store before LMDB opens its tables. A new store begins with its log, so tables without a log
 * have lost it. If a power failure interrupted the creation of the tables, they are put aside and created again:
 * nothing had been written to them. The rest of a killed `store compact` is removed: it may be as large as the store.
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
 * Removes the access of group and others to the store's files and directory, which a copy may have left. Files of
 * another user (an administrator's copy, `lost+found`) stay as they are, because this user may not change them.
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
 * Error codes of LMDB (lmdb.h): a page that is not in the file, one of the wrong kind, a fatal state, another version,
 * no file of LMDB; and `MDB_BAD_TXN`, as which lmdb-js tells the first two when it meets them inside a transaction.
 */
const SAY_DAMAGED: ReadonlySet<unknown> = new Set([-30797, -30796, -30795, -30794, -30793, -30782]);

/** Does `work` on the store in `dir`. Throws `DamageFound`, with the way out, when LMDB calls its file damaged. */
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

/** Gives a finished file its name, mode 0600. After a power failure the name has either all of it, or its old file. */
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

/** Less than this is no room: LMDB reports a write that was cut short as an I/O error. */
const LITTLE_BYTES = 16 * 1024 * 1024;
/** The disk, the user's quota, or the limit of a file's size: as Node has them, and as LMDB (errno of Linux). */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 28, 122, 27]);
const EIO = 5;

/** Whether a write in `dir` failed for want of room. Nothing is lost then, and it may succeed later. */
export function isDiskFull(error: unknown, dir: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  if (CODES.has(error.code)) return true;
  return error.code === EIO && freeBytes(dir) < LITTLE_BYTES;
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

export interface Backup {
  readonly path: string;
  state: 'copying' | 'done' | 'failed';
  why?: string;
}

/** Follows the tables in a backup, before the SHA-256 of everything so far. It reveals a cut or damaged backup. */
const MARK = Buffer.from('harkara backup 1\n');
const TRAILER_BYTES = MARK.length + 32;

export async function sealBackup(path: string): Promise<void> {
  const digest = await digestOf(path, statSync(path).size);
  await appendFile(path, Buffer.concat([MARK, digest]));
}

/** Turns a copy of a backup into tables again. False, with nothing changed, when it is not a complete backup. */
export async function unsealBackup(path: string): Promise<boolean> {
  const bytes = statSync(path).size - TRAILER_BYTES;
  if (bytes <= 0) return false;
  const trailer = await readAt(path, bytes);
  if (!trailer.subarray(0, MARK.length).equals(MARK)) return false;
  if (!trailer.subarray(MARK.length).equals(await digestOf(path, bytes))) return false;
  await truncate(path, bytes);
  return true;
}

async function digestOf(path: string, bytes: number): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk);
  return hash.digest();
}

async function readAt(path: string, at: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(TRAILER_BYTES), 0, TRAILER_BYTES, at);
    return buffer;
  } finally {
    await file.close();
  }
}
