import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { ReadFile, ReadFileJob } from '../../shared/templates/export/read-file.ts';

/** The event loop and the store need the other cores. */
const THREADS_MAX = Math.max(1, Math.min(2, availableParallelism() - 1));
/** A thread costs some 30 MB, so it ends when nobody has needed it for this time. */
const IDLE_MS = 30_000;

/** Threads for work that would hold the event loop, and with it every other account. */
export class Threads {
  readonly #pool: Piscina;

  /** `file`: the compiled in-thread.ts. Tests of a gateway from its sources name another one than that beside this file. */
  constructor(file = new URL('./in-thread.js', import.meta.url)) {
    this.#pool = new Piscina({
      filename: file.href,
      minThreads: 0,
      maxThreads: THREADS_MAX,
      idleTimeout: IDLE_MS,
    });
  }

  readTemplates(job: ReadFileJob): Promise<ReadFile> {
    return this.#pool.run(job, { name: 'readTemplates' });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
