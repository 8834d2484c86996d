/**
 * Milliseconds of the machine's monotonic clock (CLOCK_MONOTONIC): the same in all processes, so that a moment that one
 * noted can be subtracted from another's.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
