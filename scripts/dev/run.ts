import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { makeOwnDirectory } from '../../shared/platform/runtime/own-file.ts';
import {
  identityText,
  type ProcessIdentity,
  parseIdentity,
  processIdentity,
} from '../../shared/platform/runtime/process-identity.ts';
import { type DirectoryLock, takeDirectory } from '../../shared/platform/runtime/unix-socket.ts';

/** In the data directory, except for `pm2Home` if that path is too long for sockets. */
export interface RunFiles {
  readonly dataDir: string;
  /** One file each with the identity of `starter`, `guard` and `pm2`. */
  readonly runDir: string;
  /** PM2's own directory, new for every run. */
  readonly pm2Home: string;
  /** JSON lines of each process, and pm2.log. `previousLogs` has those of the previous run. */
  readonly logs: string;
  readonly previousLogs: string;
}

/**
 * PM2 listens on Unix sockets in its directory, of which `interactor.sock` has the longest name.
 * shared/platform/runtime/unix-socket.ts has the limit for a socket's path.
 */
const PM2_HOME_MAX = 85;

/**
 * Creates the directory of the run's files. If the data directory's path is too long, PM2's directory is in the
 * system's temporary directory, where anybody may create one of that name. Throws `StartError` if it cannot be created
 * or another user owns it.
 */
export function runFiles(dataDirSetting: string): RunFiles {
  const dataDir = resolve(dataDirSetting);
  const inside = join(dataDir, 'pm2');
  const elsewhere = join(tmpdir(), `harkara-pm2-${createHash('sha256').update(inside).digest('hex').slice(0, 16)}`);
  const files = {
    dataDir,
    runDir: join(dataDir, 'run'),
    pm2Home: Buffer.byteLength(inside) <= PM2_HOME_MAX ? inside : elsewhere,
    logs: join(dataDir, 'logs'),
    previousLogs: join(dataDir, 'logs.previous'),
  };
  makeOwnDirectory(files.runDir);
  requireOwn(files.pm2Home);
  return files;
}

function requireOwn(dir: string): void {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found === undefined || (found.isDirectory() && found.uid === process.getuid?.())) return;
  throw new StartError(
    `${dir} is not this user's directory, so PM2 must not use it: remove it, or set HARKARA_DATA_DIR to a directory with a shorter path.`,
  );
}

/** Parts with an identity file. */
type Part = 'guard' | 'pm2';

/**
 * Locks the data directory: only one `npm start` may run. Throws `StartError` if another one lives. A killed one's lock
 * is taken over; main.ts ends its processes.
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

/** Undefined if it was never written. */
export function readPart(runDir: string, part: Part): ProcessIdentity | undefined {
  try {
    return parseIdentity(readFileSync(join(runDir, part), 'utf8'));
  } catch {
    return undefined; // No file: the run ended before this part was started.
  }
}

export function forgetPart(runDir: string, part: Part): void {
  rmSync(join(runDir, part), { force: true });
}

/** The processes that PM2 started: it keeps a pid file for each until the process ends. */
export function appPids(pm2Home: string): number[] {
  let names: string[];
  try {
    names = readdirSync(join(pm2Home, 'pids'));
  } catch {
    return []; // No directory: PM2 has started nothing yet.
  }
  return names
    .map((name) => readPid(join(pm2Home, 'pids', name)))
    .filter((pid) => Number.isInteger(pid) && pid > 0 && isOurs(pid));
}

/** 0 if PM2 is writing or has just removed the file. */
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

/** Does nothing if the process is gone. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Whether a pid still belongs to us: PM2 titles its processes `node <script>`, and our scripts are `main.js` of the
 * build. Without /proc any living process counts.
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
