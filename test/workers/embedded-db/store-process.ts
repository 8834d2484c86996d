import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { embeddedSocketPath } from '../../../shared/platform/runtime/unix-socket.ts';
import { builtProduct } from '../../support/built.ts';

export async function storeCommand(): Promise<readonly string[]> {
  return [process.execPath, join(await builtProduct(), 'workers/embedded-db/main.js')];
}

/** The store in its own process, so that a test sees it hang or end. */
export interface StoreProcess {
  readonly child: ChildProcess;
  readonly socket: string;
  /** The code or signal that it ended with; undefined while it lives. */
  ended(): number | string | undefined;
  kill(): Promise<void>;
}

/** `fileBlocks` limits file sizes: until `giveRoom`, writes fail as with ENOSPC (Node ignores the signal). */
export async function startStoreProcess(dataDir: string, fileBlocks?: number): Promise<StoreProcess> {
  const limit = fileBlocks === undefined ? '' : `ulimit -S -f ${fileBlocks};`;
  const child = spawn('/bin/sh', ['-c', `${limit} exec "$0" "$@"`, ...(await storeCommand())], {
    env: { ...process.env, HARKARA_DATA_DIR: dataDir, HARKARA_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once('message', (message) => (message === 'ready' ? resolve() : undefined));
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
  });
  return {
    child,
    socket: embeddedSocketPath(join(dataDir, 'store')),
    ended: () => child.exitCode ?? child.signalCode ?? undefined,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

export function giveRoom({ pid }: ChildProcess): void {
  const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, '--fsize=unlimited:unlimited'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`prlimit: ${stderr}`);
}
