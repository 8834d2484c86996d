import { type ChildProcess, execFile, fork } from 'node:child_process';
import cluster from 'node:cluster';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type AppName, appFile, nodeFlags } from '../../shared/platform/processes/apps.ts';
import { within } from '../../shared/platform/runtime/within.ts';

type Env = Readonly<Record<string, string>>;

interface Slot {
  readonly app: AppName;
  process: AppProcess;
  /** Readiness of the slot's current process, or of the one about to start. */
  ready: Promise<void>;
  /** The end of the current process was requested, so it is no crash. */
  asked: boolean;
  /** Additional settings for the slot's next processes, one process each; each must make its process end by itself. */
  nextEnvs: readonly Env[];
}

/** PM2's `kill_timeout` and `exp_backoff_restart_delay` in ecosystem.config.js. */
const STOP_MS = 20_000;
const RESTART_MS = 100;

/** Runs the product's processes as PM2 does: one shared gateway port, reported readiness, restarts after a death. */
export class Fleet {
  readonly #setup: Setup;
  readonly #slots: Slot[] = [];
  #stopping = false;
  /** Unrequested ends, in order. A healthy run has none. */
  readonly crashes: Exit[] = [];

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** Starts `instances` processes of an app and waits until all are ready; rejects if one fails. */
  async start(app: AppName, instances = 1): Promise<void> {
    const slots = Array.from({ length: instances }, () => {
      const process = startApp(app, this.#setup);
      const slot: Slot = { app, process, ready: process.ready, asked: false, nextEnvs: [] };
      this.#watch(slot);
      this.#slots.push(slot);
      return slot;
    });
    await Promise.all(slots.map(({ ready }) => ready));
  }

  pids(app?: AppName): { readonly app: AppName; readonly pid: number }[] {
    return this.#slots
      .filter((slot) => (app === undefined || slot.app === app) && isAlive(slot))
      .map(({ app: name, process }) => ({ app: name, pid: process.child.pid ?? 0 }));
  }

  /** The living processes except the store. */
  children(): ChildProcess[] {
    return this.#slots
      .filter((slot) => slot.app !== 'embedded-db' && isAlive(slot))
      .map(({ process }) => process.child);
  }

  /** Signals one process of an app, by default the first. Resolves when its successor is ready. */
  async kill(app: AppName, signal: NodeJS.Signals = 'SIGKILL', pid?: number): Promise<void> {
    const slot = this.#slots.find(
      (candidate) =>
        candidate.app === app && isAlive(candidate) && (pid === undefined || candidate.process.child.pid === pid),
    );
    if (slot === undefined) throw new Error(`no such ${app} runs`);
    slot.asked = true;
    slot.process.child.kill(signal);
    await slot.process.ended;
    await slot.ready;
  }

  /**
   * Stops the first process of an app and starts its successors with `envs` added to their settings, one each; each
   * must then end by itself. Resolves when the first successor is ready. The returned function waits until all of them
   * have ended and a process with the usual settings is ready; it resolves with how the last one ended.
   */
  async replace(app: AppName, ...envs: readonly Env[]): Promise<() => Promise<Exit>> {
    const slot = this.#slots.find((candidate) => candidate.app === app && isAlive(candidate));
    if (slot === undefined) throw new Error(`no ${app} runs`);
    slot.nextEnvs = envs;
    slot.asked = true;
    slot.process.child.kill('SIGINT');
    await slot.process.ended;
    await slot.ready;
    const { ended } = slot.process;
    return async () => {
      let exit = await ended;
      for (const _ of envs.slice(1)) {
        await slot.ready.catch(() => {}); // It may die before that.
        exit = await slot.process.ended;
      }
      await slot.ready;
      return exit;
    };
  }

  /**
   * Sends SIGINT to all processes except the store and resolves with how each ended. A process that exceeds PM2's
   * time-out is killed, which the result shows. Nothing is restarted afterwards.
   */
  async stopClients(): Promise<Exit[]> {
    this.#stopping = true;
    return end(this.#slots.filter(({ app }) => app !== 'embedded-db'));
  }

  /** Stops the clients if they still run, then the store, which waits for its last client. */
  async stop(): Promise<Exit[]> {
    const clients = await this.stopClients();
    return [...clients, ...(await end(this.#slots))];
  }

  #watch(slot: Slot): void {
    slot.ready.catch(() => {}); // Callers that await `ready` get the error. The end of the process is noted below.
    void slot.process.ended.then((exit) => {
      if (!slot.asked) this.crashes.push(exit);
      if (!this.#stopping) slot.ready = this.#restart(slot);
      slot.ready.catch(() => {});
    });
  }

  async #restart(slot: Slot): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
    if (this.#stopping) return;
    const [env, ...nextEnvs] = slot.nextEnvs;
    slot.nextEnvs = nextEnvs;
    slot.process = startApp(slot.app, { ...this.#setup, env: { ...this.#setup.env, ...env } });
    slot.asked = env !== undefined;
    const { ready } = slot.process;
    this.#watch(slot);
    await ready;
  }
}

function isAlive({ process: { child } }: Slot): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function end(slots: readonly Slot[]): Promise<Exit[]> {
  const alive = slots.filter(isAlive);
  for (const slot of alive) {
    slot.asked = true;
    slot.process.child.kill('SIGINT');
  }
  const patience = setTimeout(() => {
    for (const { process } of alive) process.child.kill('SIGKILL');
  }, STOP_MS);
  const exits = await Promise.all(alive.map(({ process }) => process.ended));
  clearTimeout(patience);
  return exits;
}

export interface Setup {
  /** The build: `<dist>/gateway/main.js`. */
  readonly dist: string;
  /** Settings of every process, added to this process's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Each app appends its output to `<app>.log` here. */
  readonly logDir: string;
  /** Node's own options for an app, for example `--cpu-prof`. */
  readonly nodeOptions?: (app: AppName) => readonly string[];
}

export interface Exit {
  readonly app: AppName;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface AppProcess {
  readonly child: ChildProcess;
  /** Rejects with the end of its log if the process ends first or takes too long. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Exit>;
}

/** PM2's `listen_timeout` in ecosystem.config.js. */
const READY_MS = 40_000;
const LOG_TAIL_CHARACTERS = 2_000;

/** Ends all started processes with this one, even when a test throws. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Starts one process of an app. It also ends with this process, because its IPC channel closes. */
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
    // Its own session, like PM2's fork mode: Linux divides processor time by session (sched(7), autogroup).
    if (app !== 'gateway') return fork(exec, [], { env: { ...process.env, ...env }, execArgv, stdio, detached: true });
    // One listening socket here, like PM2's cluster mode; connections are distributed in turn.
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

/**
 * Ports are chosen outside the ranges that systems assign by themselves (Linux: from 32768, IANA: from 49152). An
 * assigned port may be taken before it is used. It may even become the local port of a client that connects too early,
 * which is then connected to itself.
 */
const LOWEST = 10_000;
const ABOVE_HIGHEST = 32_000;
const TRIES_MAX = 1_000;

/**
 * A free TCP port of 127.0.0.1. While this process lives, no other caller in any process gets it, so a restarted
 * gateway can listen on the port that its clients know. The UDP port of the same number is held as a mark.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(LOWEST, ABOVE_HIGHEST);
    if ((await marks(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no free port among ${TRIES_MAX}`);
}

function marks(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => {
      socket.unref();
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The repository's root, from wherever this file runs: scripts/bench/ or dist/scripts/bench/. */
export const ROOT = join(import.meta.dirname, import.meta.dirname.includes('/dist/') ? '../../..' : '../..');

/** Compiles the product incrementally. Resolves with `dist/`; rejects with the compiler's errors. */
export function build(): Promise<string> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: ROOT }, (error, stdout) => {
      if (error === null) resolve(join(ROOT, 'dist'));
      else reject(new Error(`tsc: ${stdout.trim() || error.message}`));
    });
  });
}
