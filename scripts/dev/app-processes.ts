import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** The processes that PM2 started, from its pid files: it writes one for each process and removes it when the process ends. */
export function appPids(pm2Home: string): number[] {
  let names: string[];
  try {
    names = readdirSync(join(pm2Home, 'pids'));
  } catch {
    return []; // No such directory: PM2 has not started any process yet.
  }
  return names
    .map((name) => readPid(join(pm2Home, 'pids', name)))
    .filter((pid) => Number.isInteger(pid) && pid > 0 && isOurs(pid));
}

/** 0 when PM2 writes or has removed the file at this moment. */
function readPid(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

/** Waits until all have ended; kills the rest after `timeoutMs`. */
export async function awaitGone(pids: readonly number[], timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (pids.some(isOurs)) {
    if (performance.now() > deadline) {
      for (const pid of pids.filter(isOurs)) kill(pid);
    }
    await wait(50);
  }
}

/** Kills a process at once. It is fine if it is gone already. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Whether the pid still belongs to one of our programs. PM2 sets the title of its processes to `node <script>`, and ours are
 * `main.js` of the build. Without /proc any living process counts.
 */
function isOurs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('main.js');
  } catch {
    if (process.platform === 'linux') return false;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
