import { setTimeout as wait } from 'node:timers/promises';
import { isAlive } from '../../shared/platform/runtime/process-identity.ts';
import { appPids, awaitGone, kill } from './app-processes.ts';
import type { RunFiles } from './run-files.ts';
import { forgetPart, readPart } from './run-lock.ts';

/** The guard of a killed `npm start` may still be stopping the rest; it needs as long as a normal stop. */
const GUARD_MS = 50_000;
const APPS_MS = 20_000;

/**
 * Cleans up after a killed `npm start` in this data directory: waits for its guard, or does the guard's work when that was killed
 * too. Touches only processes that provably belong to that run: by pid and start time, or by their title.
 */
export async function clearLeftovers(files: RunFiles, say: (line: string) => void): Promise<void> {
  const guard = readPart(files.runDir, 'guard');
  const pm2 = readPart(files.runDir, 'pm2');
  if (guard !== undefined && isAlive(guard)) {
    say('Waiting for the end of an earlier run that was killed …');
    const deadline = performance.now() + GUARD_MS;
    while (isAlive(guard) && performance.now() < deadline) await wait(50);
    if (isAlive(guard)) kill(guard.pid);
  }
  const pids = appPids(files.pm2Home);
  if (pm2 !== undefined && isAlive(pm2)) {
    say('Stopping what an earlier run left …');
    kill(pm2.pid); // Its processes end by themselves when PM2 is gone.
  }
  await awaitGone(pids, APPS_MS);
  forgetPart(files.runDir, 'pm2');
  forgetPart(files.runDir, 'guard');
}
