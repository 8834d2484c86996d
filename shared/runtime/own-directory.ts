import { accessSync, constants, mkdirSync } from 'node:fs';
import { StartError } from './lifecycle.ts';

/**
 * Makes a directory of the product's own (mode 0700, its parents too) unless it is there. Throws `StartError`, one sentence
 * with the way out, when it cannot be made or written to.
 */
export function makeOwnDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `${dir} cannot be used (${why}): let this user write there, or set HARKARA_DATA_DIR to another directory.`,
      { cause: error },
    );
  }
}
