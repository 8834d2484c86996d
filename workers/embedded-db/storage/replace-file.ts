import { chmodSync, closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from '../../../shared/runtime/own-directory.ts';

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
