import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../shared/runtime/clock.ts';

/** The limit is a time, not a number of entries: one entry of 64 KB takes as long as hundreds of small ones. */
const SLICE_MS = 4;

/** Divides long work into slices, so that it does not hold the event loop: `if (slice.over) await slice.rest()`. */
export class Slice {
  #untilMs = systemClock.monotonicMs() + SLICE_MS;

  get over(): boolean {
    return systemClock.monotonicMs() >= this.#untilMs;
  }

  /** Lets the event loop do other work, then begins a new slice. */
  async rest(): Promise<void> {
    await setImmediate();
    this.#untilMs = systemClock.monotonicMs() + SLICE_MS;
  }
}

/** Calls `look` for each entry, with pauses in which the event loop does other work. */
export async function inSlices<T>(entries: readonly T[], look: (entry: T, index: number) => void): Promise<void> {
  const slice = new Slice();
  for (const [index, entry] of entries.entries()) {
    if (slice.over) await slice.rest();
    look(entry, index);
  }
}
