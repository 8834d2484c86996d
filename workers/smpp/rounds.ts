import { type Log, unexpectedErrorFields } from '../../shared/platform/runtime/log.ts';

interface RoundsOptions {
  /** The work of these rounds, in words for the log. */
  readonly name: string;
  readonly log: Log;
}

/** Runs work again and again, with a pause in between. The next round of a work begins only after the last one has ended. */
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

  /** Never rejects. A failure is logged, and the next round tries again. */
  async guarded(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log, name } = this.#options;
      log.warn('round_failed', { loop: `${what}:${name}`, ...unexpectedErrorFields(error) });
    }
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
