import mocha from 'mocha';

/** How many times slower than the embedded store this run's server is, as measured by `test/engines`. */
const FACTOR = Math.max(1, Number(process.env.HARKARA_TEST_SLOW ?? 1));

/** Lengthens a deadline for this run's server. Never use it for an asserted value. */
export function deadlineMs(ms: number): number {
  return ms * FACTOR;
}

/** The same for mocha's own deadlines: mocha asks each test and hook for its timeout when it begins. */
export function scaleTimeouts(): void {
  const own: (...ms: never[]) => unknown = mocha.Runnable.prototype.timeout;
  const scaled = function (this: mocha.Runnable, ...ms: readonly unknown[]): unknown {
    const answer = Reflect.apply(own, this, ms);
    return ms.length === 0 ? deadlineMs(Number(answer)) : answer;
  };
  Object.assign(mocha.Runnable.prototype, { timeout: scaled });
}
