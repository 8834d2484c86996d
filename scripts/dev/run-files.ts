import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import { makeOwnDirectory } from '../../shared/runtime/own-directory.ts';

/** Where `npm start` keeps things; all below the data directory. */
export interface RunFiles {
  readonly dataDir: string;
  /** Who runs: one file each for `starter`, `guard`, `pm2`, with the process's identity. */
  readonly runDir: string;
  /** PM2's own directory, new for every run. */
  readonly pm2Home: string;
  /** JSON lines of each process, and pm2.log. Those of the run before are in `previousLogs`. */
  readonly logs: string;
  readonly previousLogs: string;
}

/** PM2 listens on Unix sockets there (`interactor.sock` is the longest name); see `unix-socket.ts` for the limit. */
const PM2_HOME_MAX = 85;

/**
 * Makes the directory of the run's files. Throws `StartError` when it cannot, or when another user has PM2's directory: with
 * a long path it is in the system's temporary directory, where everybody may make one of its name.
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
