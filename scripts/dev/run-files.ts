import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { makeOwnDirectory } from '../../shared/platform/runtime/own-file.ts';

/** The files of `npm start`, all in the data directory. */
export interface RunFiles {
  readonly dataDir: string;
  /** Identities of the run's processes: one file each for `starter`, `guard`, `pm2`. */
  readonly runDir: string;
  /** PM2's own directory, new for every run. */
  readonly pm2Home: string;
  /** JSON lines of each process, and pm2.log. `previousLogs` has those of the previous run. */
  readonly logs: string;
  readonly previousLogs: string;
}

/**
 * The longest path of PM2's directory. PM2 listens on Unix sockets in it; the longest name is `interactor.sock`.
 * shared/platform/runtime/unix-socket.ts has the limit for a socket's whole path.
 */
const PM2_HOME_MAX = 85;

/**
 * Creates the directory of the run's files. Throws `StartError` when it cannot, or when another user owns PM2's directory: if the
 * data directory's path is too long, that directory is in the system's temporary directory, where anybody may create one of the
 * same name.
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
