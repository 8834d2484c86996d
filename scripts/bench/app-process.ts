import { type ChildProcess, fork } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AppName, appFile, nodeFlags } from '../../shared/platform/processes/apps.ts';
import { within } from '../../shared/platform/runtime/within.ts';

/** The build of the processes and their common settings. */
export interface Setup {
  /** The build: `<dist>/gateway/main.js`. */
  readonly dist: string;
  /** Settings of every process, on top of this process's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Each app appends its output to `<app>.log` here. */
  readonly logDir: string;
  /** Node's own options for an app, for example `--cpu-prof`. */
  readonly nodeOptions?: (app: AppName) => readonly string[];
}

/** How a process ended. */
export interface Exit {
  readonly app: AppName;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface AppProcess {
  readonly child: ChildProcess;
  /** Resolves when the process reports ready. Rejects with the end of its log when it ends first or takes too long. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Exit>;
}

/** PM2's `listen_timeout` in ecosystem.config.js. */
const READY_MS = 40_000;
const LOG_TAIL_CHARACTERS = 2_000;

/** All started processes, so that none outlives this one, even when a test throws. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Starts one process of an app. It also ends when this process dies, because its IPC channel closes. */
export function startApp(app: AppName, setup: Setup): AppProcess {
  const child = forkApp(app, setup);
  living.add(child);
  const ended = once(child, 'exit').then(([code, signal]): Exit => {
    living.delete(child);
    return { app, code, signal };
  });
  const ready = saysReady(child, ended).catch((error: unknown) => {
    throw new Error(`${app}: ${error instanceof Error ? error.message : error}\n${logTail(setup.logDir, app)}`);
  });
  return { child, ready, ended };
}

/** The last lines that the processes of an app wrote. */
export function logTail(logDir: string, app: AppName): string {
  return readFileSync(logFile(logDir, app), 'utf8').slice(-LOG_TAIL_CHARACTERS);
}

function logFile(logDir: string, app: AppName): string {
  return join(logDir, `${app}.log`);
}

function forkApp(app: AppName, { dist, env, logDir, nodeOptions }: Setup): ChildProcess {
  const exec = join(dist, appFile(app));
  const execArgv = [...nodeFlags(app), ...(nodeOptions?.(app) ?? [])];
  const log = openSync(logFile(logDir, app), 'a');
  const stdio: ['ignore', number, number, 'ipc'] = ['ignore', log, log, 'ipc'];
  try {
    // Like PM2's fork mode: its own session, because Linux divides processor time by session (sched(7), autogroup).
    if (app !== 'gateway') return fork(exec, [], { env: { ...process.env, ...env }, execArgv, stdio, detached: true });
    // Like PM2's cluster mode: one listening socket in this process, whose connections are distributed in turn.
    cluster.setupPrimary({ exec, args: [], execArgv, stdio });
    return cluster.fork(env).process;
  } finally {
    closeSync(log);
  }
}

async function saysReady(child: ChildProcess, ended: Promise<Exit>): Promise<void> {
  const said = new Promise<'ready'>((resolve) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve('ready');
    });
  });
  const first = await within(READY_MS, Promise.race([said, ended]));
  if (first === undefined) throw new Error(`not ready within ${READY_MS} ms`);
  if (first !== 'ready') throw new Error(`ended with ${first.code ?? first.signal} before it was ready`);
}
