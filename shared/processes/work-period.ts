import type { Lifecycle } from '../runtime/lifecycle.ts';
import { errorFields, type Log } from '../runtime/log.ts';

/** A time in which a process works: from its start, or since the store may be written to again, to the next pause or its end. */
export class WorkPeriod {
  readonly life: Lifecycle;
  readonly #log: Log;
  readonly #closers: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  #ended: Promise<void> | undefined;

  /** What `start` registers with this `life` is closed when the period ends. */
  constructor(life: Lifecycle, log: Log) {
    this.#log = log;
    this.life = { ...life, onStop: (name, close) => void this.#closers.push({ name, close }) };
  }

  /** Closes what was registered, in reverse order. Idempotent. */
  end(): Promise<void> {
    this.#ended ??= this.#close();
    return this.#ended;
  }

  async #close(): Promise<void> {
    for (const { name, close } of this.#closers.reverse()) {
      try {
        await close();
      } catch (error) {
        this.#log.error('stop_failed', { part: name, ...errorFields(error) });
      }
    }
  }
}
