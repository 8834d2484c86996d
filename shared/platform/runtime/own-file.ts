import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartError } from './lifecycle.ts';

const GROUP_READS = 0o040;
const OTHERS = 0o077;

/** Throws `StartError` for an unreadable file, or one with a secret (`hasSecret`) that is open to others. */
export function readOwnFile(file: string, hasSecret: (text: string) => boolean = () => true): string {
  const { text, stats } = readWhole(file);
  const user = process.getuid?.();
  // A system without users has no such modes and owners.
  const fault = user === undefined || !hasSecret(text) ? undefined : openness(file, stats, user);
  if (fault !== undefined) throw new StartError(fault);
  return text;
}

/**
 * Why `user` must not keep a secret in this file: it belongs to somebody else, or others may read or change it. A file
 * of root may be readable by the group: an administrator can give a service a secret that it cannot change.
 */
export function openness(file: string, { uid, mode }: Pick<Stats, 'uid' | 'mode'>, user: number): string | undefined {
  if (user !== 0 && uid !== 0 && uid !== user) {
    return `${file} holds a secret and belongs to another user (uid ${uid}, this is ${user}): chown ${user} ${file}`;
  }
  const allowed = uid === 0 && user !== 0 ? GROUP_READS : 0;
  if ((mode & OTHERS & ~allowed) === 0) return undefined;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `${file} holds a secret and is open to other users (mode ${shown}): chmod 600 ${file}`;
}

function readWhole(file: string): { readonly text: string; readonly stats: Stats } {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartError(`${file} cannot be read (${why}): run this as the user that the product runs as.`, { cause });
  }
  try {
    return { stats: fstatSync(descriptor), text: readFileSync(descriptor, 'utf8') };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Creates a directory (mode 0700, its parents too) unless it exists; it survives a power failure. Throws `StartError`,
 * one sentence that says what to do, when it cannot be created or written to.
 */
export function makeOwnDirectory(dir: string): void {
  try {
    const first = mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (first !== undefined) syncParents(resolve(dir), resolve(first));
    accessSync(dir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `${dir} cannot be used (${why}): let this user write there, or set HARKARA_DATA_DIR to another directory.`,
      { cause: error },
    );
  }
}

/** Tells the operator that others may look into the directory, and what to do. Undefined when they may not. */
export function openDirectory(dir: string): string | undefined {
  const mode = statSync(dir, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return undefined;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `${dir} is open to other users (mode ${shown}): chmod 700 ${dir}`;
}

/** A file created or renamed in a directory survives a power failure only after the directory itself was synced. */
export function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Syncs the parents of `last` and of the directories above it, up to the parent of `first`. */
function syncParents(last: string, first: string): void {
  for (let made = last; ; made = dirname(made)) {
    syncDirectory(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}
