import type { Clock } from './clock.ts';

/** A time of this process, by both of its clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** So long ago that everything since is over. */
export const LONG_AGO: Moment = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: Number.NEGATIVE_INFINITY };

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.now().getTime() };
}

/**
 * Milliseconds since then, by the clock that went further. The monotonic one stands still while the machine is suspended, and the
 * other may be set back.
 */
export function msSince({ monotonicMs, wallMs }: Moment, clock: Clock): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.now().getTime() - wallMs);
}
