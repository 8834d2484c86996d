import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Piscina } from 'piscina';
import type { RenderedText, RenderJob } from './render-slice.ts';

const THREADS_MAX = 4;
/** A thread costs some 30 MB: it ends when no batch with a template has come for so long. */
const IDLE_MS = 30_000;

/** Threads that render: 250 texts of ten params keep an event loop busy for milliseconds, and there are 10,000 in a batch. */
export class RenderThreads {
  readonly #pool: Piscina;

  constructor() {
    // `tsc` does not rewrite this name: the file beside us has the extension that we have.
    const extension = extname(import.meta.url);
    this.#pool = new Piscina({
      filename: new URL(`./render-slice${extension}`, import.meta.url).href,
      name: 'renderSlice',
      minThreads: 0,
      maxThreads: Math.min(THREADS_MAX, availableParallelism()),
      idleTimeout: IDLE_MS,
      ...(extension === '.ts' ? { execArgv: ['--import', 'tsx'] } : {}),
    });
  }

  /** Rejects when a text cannot be rendered, or the process stops. */
  render(job: RenderJob): Promise<RenderedText[]> {
    return this.#pool.run(job);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
