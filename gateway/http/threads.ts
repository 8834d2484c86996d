import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';
import type { ReadFile, ReadFileJob } from '../../shared/templates/sms/csv.ts';

/** The event loop and the store need the other cores. */
const THREADS_MAX = Math.max(1, Math.min(2, availableParallelism() - 1));
/** An idle thread ends after this time, because it takes some 30 MB. */
const IDLE_MS = 30_000;
/** The worst file takes a second or more, and waits for two other accounts' files at most (ReadQueue). */
const JOB_MAX_MS = 60_000;

export class Threads {
  readonly #pool: Piscina;
  #started = new AbortController();

  /** `file`: the compiled in-thread.ts. Tests that run the sources name another one. */
  constructor(log: Log, file = new URL('./in-thread.js', import.meta.url)) {
    this.#pool = new Piscina({
      filename: file.href,
      minThreads: 0,
      maxThreads: THREADS_MAX,
      idleTimeout: IDLE_MS,
    });
    // Without a listener, a thread that cannot start (no memory, the build is being replaced) would end the process.
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
