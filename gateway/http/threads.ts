import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import type { ReadFile, ReadFileJob } from '../../shared/templates/sms/csv.ts';

/** The event loop and the store need the other cores. */
const THREADS_MAX = Math.max(1, Math.min(2, availableParallelism() - 1));
/** A thread costs some 30 MB, so it ends when nobody has needed it for this time. */
const IDLE_MS = 30_000;
/** The worst file takes a second, on a busy machine some, and waits for no more than the files of two other accounts (ReadQueue). */
const JOB_MAX_MS = 60_000;

/** Threads for work that would hold the event loop, and with it every other account. */
export class Threads {
  readonly #pool: Piscina;
  #started = new AbortController();

  /** `file`: the compiled in-thread.ts. Tests of a gateway from its sources name another one than that beside this file. */
  constructor(log: Log, file = new URL('./in-thread.js', import.meta.url)) {
    this.#pool = new Piscina({
      filename: file.href,
      minThreads: 0,
      maxThreads: THREADS_MAX,
      idleTimeout: IDLE_MS,
    });
    // A thread that could not start (no memory, the build is being replaced). Nobody would listen otherwise, and the process would end.
    this.#pool.on('error', (error: unknown) => {
      log.error('thread_failed', unexpectedErrorFields(error));
      const failed = this.#started;
      this.#started = new AbortController();
      failed.abort(error);
    });
  }

  /** Rejects when no thread starts, and when the thread ends or takes too long; the next call starts another. */
  readTemplates(job: ReadFileJob): Promise<ReadFile> {
    const signal = AbortSignal.any([this.#started.signal, AbortSignal.timeout(JOB_MAX_MS)]);
    return this.#pool.run(job, { name: 'readTemplates', signal });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
