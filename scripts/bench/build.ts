import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** The repository's root, from wherever this file runs: scripts/bench/ or dist/scripts/bench/. */
export const ROOT = join(import.meta.dirname, import.meta.dirname.includes('/dist/') ? '../../..' : '../..');

/** Compiles the product to `dist/`, incrementally. Resolves with that folder; rejects with the compiler's errors. */
export function build(): Promise<string> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: ROOT }, (error, stdout) => {
      if (error === null) resolve(join(ROOT, 'dist'));
      else reject(new Error(`tsc: ${stdout.trim() || error.message}`));
    });
  });
}
