import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { StartError } from './lifecycle.ts';

const GROUP_READS = 0o040;
const OTHERS = 0o077;

/**
 * Reads a file of the product. Throws `StartError`, one sentence that says what to do, when the file cannot be read, or when it
 * holds a secret (`hasSecret`) and others may access it (`openness`).
 */
export function readOwnFile(file: string, hasSecret: (text: string) => boolean = () => true): string {
  const { text, stats } = readWhole(file);
  const user = process.getuid?.();
  // A system without users has no such modes and owners.
  const fault = user === undefined || !hasSecret(text) ? undefined : openness(file, stats, user);
  if (fault !== undefined) throw new StartError(fault);
  return text;
}

/**
 * Why `user` must not keep a secret in this file: it belongs to somebody else, or others may read or change it. A file of root
 * may be readable by the group: so an administrator can give a service a secret that the service cannot change.
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

/** The text and the file's owner and mode, from the same open file. */
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
