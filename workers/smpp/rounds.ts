import { errorFields, type Log } from '../../shared/runtime/log.ts';

interface RoundsOptions {
  /** What the rounds are for, for the log. */
  readonly name: string;
  readonly log: Log;
}

/** What must be done again and again, each thing one at a time: a slow round is not overtaken by the next. */
export class Rounds {
  readonly #options: RoundsOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #busy = new Set<string>();

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  every(ms: number, what: string, work: () => Promise<void>): void {
    this.#timers.push(
      setInterval(() => {
        if (this.#busy.has(what)) return;
        this.#busy.add(what);
        void this.guarded(what, work).then(() => this.#busy.delete(what));
      }, ms),
    );
  }

  /** Never rejects: what failed is logged, and tried again by the next round. */
  async guarded(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log, name } = this.#options;
      log.warn('round_failed', { loop: `${what}:${name}`, ...errorFields(error) });
    }
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
