import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartError } from './lifecycle.ts';

/**
 * Creates a directory of the product (mode 0700, its parents too) unless it exists. It survives a power failure. Throws
 * `StartError`, one sentence that says what to do, when it cannot be created or written to.
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

/** For the operator: that other users may look into a directory, and what to do. Undefined when they may not, or it is not there. */
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
