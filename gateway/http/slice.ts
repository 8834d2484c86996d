import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../shared/runtime/clock.ts';

/** By time, not by number: one entry of 64 KB takes as long as hundreds of small ones. */
const SLICE_MS = 4;

/** The time in which a long piece of work may hold the event loop, again and again: `if (slice.over) await slice.rest()`. */
export class Slice {
  #untilMs = systemClock.monotonicMs() + SLICE_MS;

  get over(): boolean {
    return systemClock.monotonicMs() >= this.#untilMs;
  }

  /** Lets the process do what else there is to do, and begins anew. */
  async rest(): Promise<void> {
    await setImmediate();
    this.#untilMs = systemClock.monotonicMs() + SLICE_MS;
  }
}

/** Calls `look` for each entry, with pauses in which the process does what else there is to do. */
export async function inSlices<T>(entries: readonly T[], look: (entry: T, index: number) => void): Promise<void> {
  const slice = new Slice();
  for (const [index, entry] of entries.entries()) {
    if (slice.over) await slice.rest();
    look(entry, index);
  }
}
