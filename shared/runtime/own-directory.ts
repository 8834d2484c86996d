import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartError } from './lifecycle.ts';

/**
 * Makes a directory of the product's own (mode 0700, its parents too) unless it is there; a power failure does not take it
 * away again. Throws `StartError`, one sentence with the way out, when it cannot be made or written to.
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

/** What was made or renamed in a directory is there after a power failure only when the directory has been synced too. */
export function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The directories that hold `last` and those above it, up to the one that holds `first`. */
function syncParents(last: string, first: string): void {
  for (let made = last; ; made = dirname(made)) {
    syncDirectory(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}
