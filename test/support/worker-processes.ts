import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { builtProduct } from './built.ts';
import type { UsedStore } from './store.ts';

/** Real worker processes on a test's store, to be killed. */
export class WorkerProcesses {
  readonly #worker: string;
  readonly #children = new Set<ChildProcess>();

  constructor(worker: 'chatapp' | 'background' | 'webhooks') {
    this.#worker = worker;
  }

  async start(store: UsedStore, settings: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const own = {
      HARKARA_MONGODB_URI: store.uri,
      HARKARA_MONGODB_DATABASE: store.db.databaseName,
      HARKARA_LOG_LEVEL: 'silent',
    };
    const child = spawn(process.execPath, [join(await builtProduct(), 'workers', this.#worker, 'main.js')], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, ...own, ...settings },
    });
    this.#children.add(child);
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`the worker ended with ${code} before it was ready`)));
    });
    return child;
  }

  async killAll(): Promise<void> {
    for (const child of this.#children) {
      child.kill('SIGKILL');
      await ended(child);
    }
    this.#children.clear();
  }
}

export function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}
