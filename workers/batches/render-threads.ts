import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Piscina } from 'piscina';
import type { RenderedText, RenderJob } from './render-slice.ts';

const THREADS_MAX = 4;
/** A thread costs some 30 MB. */
const IDLE_MS = 30_000;

/** Rendering 250 texts of ten params blocks an event loop for milliseconds, and a batch has up to 10,000. */
export class RenderThreads {
  readonly #pool: Piscina;

  constructor() {
    // The build does not rewrite file names in strings: this file's extension is .ts under tsx, .js in dist/.
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

  /** Rejects when a text cannot be rendered, or when the process stops. */
  render(job: RenderJob): Promise<RenderedText[]> {
    return this.#pool.run(job);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
