import { linkSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import {
  identityText,
  isGoneFromHost,
  type ProcessIdentity,
  parseIdentity,
  processIdentity,
  thisProcess,
} from '../../shared/runtime/process-identity.ts';

/** The processes of a run that are looked after by name: `npm start` itself, its guard, PM2. */
export type Part = 'starter' | 'guard' | 'pm2';

/**
 * Takes the data directory for this `npm start`: one at a time. Throws `StartError` when another one lives. What a killed
 * one left is taken over (see leftovers.ts).
 */
export function takeRun(runDir: string, dataDir: string): void {
  const file = join(runDir, 'starter');
  const draft = `${file}.${process.pid}`;
  // Linked into place: of two that start at the same moment one gets it.
  writeFileSync(draft, identityText(thisProcess()), { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(draft, file);
        return;
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
      const other = readPart(runDir, 'starter');
      if (other !== undefined && !isGoneFromHost(other)) {
        throw new StartError(
          `npm start runs already on ${dataDir} (process ${other.pid}): stop it with Ctrl-C, or set HARKARA_DATA_DIR to another directory.`,
        );
      }
      rmSync(file, { force: true });
    }
  } finally {
    unlinkSync(draft);
  }
}

export function notePart(runDir: string, part: Part, pid: number): void {
  writeFileSync(join(runDir, part), identityText(processIdentity(pid)), { mode: 0o600 });
}

/** Undefined when it was never noted. */
export function readPart(runDir: string, part: Part): ProcessIdentity | undefined {
  try {
    return parseIdentity(readFileSync(join(runDir, part), 'utf8'));
  } catch {
    return undefined; // No such file: it did not get that far.
  }
}

export function forgetPart(runDir: string, part: Part): void {
  rmSync(join(runDir, part), { force: true });
}
