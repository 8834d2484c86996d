/** What a mocha process reports: each event is an output line with a prefix that no test writes. */
export type TestEvent =
  | { readonly kind: 'begin' | 'pass' | 'skip'; readonly test: string }
  /** `report`: titles, error, difference and stack as mocha shows them, numbered 1. */
  | { readonly kind: 'fail'; readonly test: string; readonly report: string }
  /** A part of a file has ended. `ms`: CPU time, with its processes that have ended. */
  | { readonly kind: 'cpu'; readonly file: string; readonly ms: number }
  /** All tests have ended, but something left open may keep the process alive. */
  | { readonly kind: 'end' };

const MARK = '\u0001mocha ';

export function eventLine(event: TestEvent): string {
  return `${MARK}${JSON.stringify(event)}\n`;
}

/** Undefined: the line is the tests' own. */
export function parseEventLine(line: string): TestEvent | undefined {
  // `eventLine` wrote what follows the mark.
  return line.startsWith(MARK) ? (JSON.parse(line.slice(MARK.length)) as TestEvent) : undefined;
}
