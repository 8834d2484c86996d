import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DirectoryLock, takeDirectory } from '../../shared/platform/runtime/directory-lock.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import {
  identityText,
  type ProcessIdentity,
  parseIdentity,
  processIdentity,
} from '../../shared/platform/runtime/process-identity.ts';

/** The processes of a run that have an identity file. */
export type Part = 'guard' | 'pm2';

/**
 * Locks the data directory for this `npm start`; only one may run. Throws `StartError` when another one lives. The lock of a
 * killed one is taken over; main.ts ends its processes.
 */
export async function takeRun(runDir: string, dataDir: string): Promise<DirectoryLock> {
  const taking = await takeDirectory(runDir, 'starter');
  if (taking.kind === 'taken') return taking.lock;
  const who = taking.by === undefined ? '' : ` (process ${taking.by.pid})`;
  throw new StartError(
    `npm start runs already on ${dataDir}${who}: stop it with Ctrl-C, or set HARKARA_DATA_DIR to another directory.`,
  );
}

export function notePart(runDir: string, part: Part, pid: number): void {
  writeFileSync(join(runDir, part), identityText(processIdentity(pid)), { mode: 0o600 });
}

/** The identity of a part; undefined when it was never written. */
export function readPart(runDir: string, part: Part): ProcessIdentity | undefined {
  try {
    return parseIdentity(readFileSync(join(runDir, part), 'utf8'));
  } catch {
    return undefined; // No such file: the run ended before this part was started.
  }
}

export function forgetPart(runDir: string, part: Part): void {
  rmSync(join(runDir, part), { force: true });
}
