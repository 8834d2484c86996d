import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import { isGoneFromHost, type ProcessIdentity, thisProcess } from '../../shared/runtime/process-identity.ts';

export interface Lock {
  release(): void;
}

/**
 * Takes `<dir>/store.lock`. LMDB itself would let two processes in, and each would keep a catalogue of its own. The file
 * says who holds it; a holder that is provably gone loses it. Throws `StartError` while the holder lives.
 */
export function acquireLock(dir: string): Lock {
  const path = join(dir, 'store.lock');
  const mine = JSON.stringify(thisProcess());
  // Written aside and linked: the lock appears with its content, or not at all.
  const draft = `${path}.${process.pid}.${performance.now()}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        linkSync(draft, path);
        return { release: () => release(path, mine) };
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
      }
      takeAwayStale(path, dir);
    }
    throw new StartError(`The store's lock ${path} changes hands all the time; is something restarting in a loop?`);
  } finally {
    rmSync(draft, { force: true });
  }
}

const MAX_ATTEMPTS = 20;

function takeAwayStale(path: string, dir: string): void {
  const held = readLock(path);
  if (held === undefined) return; // given free meanwhile
  const holder = parseHolder(held);
  if (holder !== undefined && !isGoneFromHost(holder)) {
    throw new StartError(`The store in ${dir} is in use by process ${holder.pid}; stop that one first.`);
  }
  // Two takers may see the same stale lock: each moves what is there aside, and puts it back if it was not the stale one.
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  if (readLock(aside) === held) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

function release(path: string, mine: string): void {
  if (readLock(path) === mine) rmSync(path, { force: true });
}

function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Undefined for a file that nobody can hold: empty or damaged. */
function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { machine, pid, startedAt } = parsed as Partial<Record<keyof ProcessIdentity, unknown>>; // checked just below
    if (typeof machine !== 'string' || typeof pid !== 'number' || typeof startedAt !== 'string') return undefined;
    return { machine, pid, startedAt };
  } catch {
    return undefined; // not JSON
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
