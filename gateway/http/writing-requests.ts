import type { WriteGate } from '../../shared/store-access/write-gate.ts';
import { sendProblem } from './answer.ts';
import type { Handler } from './context.ts';

/** Seconds. A store is read-only for minutes: callers need not come every second. */
const RETRY_AFTER = ['Retry-After', '30'] as const;
/** How long requests may go on that came before the store was read-only. */
const FINISH_MS = 10_000;
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests that may change something while the store is read-only, before anything is done for them: no
 * Idempotency-Key is used up. Requests that came before are finished.
 */
export class WritingRequests {
  readonly #gate: Pick<WriteGate, 'open'>;
  #open = 0;
  #finished: (() => void) | undefined;

  constructor(gate: Pick<WriteGate, 'open'>) {
    this.#gate = gate;
  }

  readonly handler: Handler = (req, res, next) => {
    if (READS.has(req.method)) return next();
    if (!this.#gate.open) return sendProblem(res, 'read_only', { headers: RETRY_AFTER });
    this.#open += 1;
    res.once('close', () => {
      this.#open -= 1;
      if (this.#open === 0) this.#finished?.();
    });
    next();
  };

  /** Resolves when the requests are answered that came while the store could be written to, or after `FINISH_MS`. */
  async finished(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FINISH_MS);
      this.#finished = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
