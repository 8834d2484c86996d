import mocha from 'mocha';

/** How many times slower than the embedded store the server of this run is, as `test/engines` measured it. */
const FACTOR = Math.max(1, Number(process.env.HARKARA_TEST_SLOW ?? 1));

/** A deadline, lengthened for the server of this run. Only deadlines scale, never a value that a test asserts. */
export function deadlineMs(ms: number): number {
  return ms * FACTOR;
}

/** The same for mocha's own deadlines, wherever they are set: mocha asks each test and hook for its timeout when it begins. */
export function scaleTimeouts(): void {
  const own: (...ms: never[]) => unknown = mocha.Runnable.prototype.timeout;
  const scaled = function (this: mocha.Runnable, ...ms: readonly unknown[]): unknown {
    const answer = Reflect.apply(own, this, ms);
    return ms.length === 0 ? deadlineMs(Number(answer)) : answer;
  };
  Object.assign(mocha.Runnable.prototype, { timeout: scaled });
}
