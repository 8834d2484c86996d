import type { ChildProcess } from 'node:child_process';
import type { AppName } from '../../shared/platform/processes/apps.ts';
import { type AppProcess, type Exit, type Setup, startApp } from './app-process.ts';

type Env = Readonly<Record<string, string>>;

interface Slot {
  readonly app: AppName;
  process: AppProcess;
  /** Readiness of the slot's current process, or of the one about to start. */
  ready: Promise<void>;
  /** The end of the current process is expected, so it is no crash. */
  asked: boolean;
  /** Settings of the slot's next processes, each for one only, which dies by itself. */
  nextEnvs: readonly Env[];
}

/** PM2's `kill_timeout` and `exp_backoff_restart_delay` in ecosystem.config.js. */
const STOP_MS = 20_000;
const RESTART_MS = 100;

/**
 * Runs the product's processes like PM2, without PM2: the gateways share one port, each process reports ready, and one that dies
 * is started again. For the benchmark, and for tests that kill processes.
 */
export class Fleet {
  readonly #setup: Setup;
  readonly #slots: Slot[] = [];
  #stopping = false;
  /** The ends that nobody asked for, in order. A healthy run has none. */
  readonly crashes: Exit[] = [];

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** Starts `instances` processes of an app and waits until all are ready; rejects when one is not. */
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

  /** The living processes, of one app or of all. */
  pids(app?: AppName): { readonly app: AppName; readonly pid: number }[] {
    return this.#slots
      .filter((slot) => (app === undefined || slot.app === app) && isAlive(slot))
      .map(({ app: name, process }) => ({ app: name, pid: process.child.pid ?? 0 }));
  }

  /** The living processes but the store, to talk with. */
  children(): ChildProcess[] {
    return this.#slots
      .filter((slot) => slot.app !== 'embedded-db' && isAlive(slot))
      .map(({ process }) => process.child);
  }

  /** Sends a signal to one process of an app, by default the first. Resolves when it is gone and its successor is ready. */
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
   * Replaces the first process of an app by one with the first of `envs` added to its settings, which must make it die by itself.
   * So must the others its successors, one each. Resolves when the first process is ready, with a function. The function waits until
   * all of them have died and the successor of the last, which has the usual settings again, is ready; it resolves with how the last
   * one ended.
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
        await slot.ready.catch(() => {}); // It may die before it is.
        exit = await slot.process.ended;
      }
      await slot.ready;
      return exit;
    };
  }

  /**
   * Sends SIGINT to all processes except the store. Resolves with how each living process ended. A process that does not end
   * within PM2's time-out is killed, and the result shows that. Afterwards nothing is restarted.
   */
  async stopClients(): Promise<Exit[]> {
    this.#stopping = true;
    return end(this.#slots.filter(({ app }) => app !== 'embedded-db'));
  }

  /** Stops the clients if they still run, then the store, which waits until its last client is gone. */
  async stop(): Promise<Exit[]> {
    const clients = await this.stopClients();
    return [...clients, ...(await end(this.#slots))];
  }

  #watch(slot: Slot): void {
    slot.ready.catch(() => {}); // Whoever waits for `ready` gets the error. The end of the process is noted below.
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
