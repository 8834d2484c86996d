/**
 * Milliseconds of the machine's monotonic clock (CLOCK_MONOTONIC). It is the same in all processes, so times noted by different
 * processes can be subtracted.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
