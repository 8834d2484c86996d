/** What a mocha process tells of its tests: each event is a line of its output that begins with a mark no test writes. */
export type TestEvent =
  | { readonly kind: 'begin' | 'pass' | 'skip'; readonly test: string }
  /** `report`: its titles, error, difference and stack, as mocha shows them, under the number 1. */
  | { readonly kind: 'fail'; readonly test: string; readonly report: string }
  /** A part of a file has ended. `ms`: its CPU time, with that of the processes that it started and that have ended. */
  | { readonly kind: 'cpu'; readonly file: string; readonly ms: number }
  /** All tests have ended; something that they left open may still keep the process alive. */
  | { readonly kind: 'end' };

const MARK = '\u0001mocha ';

export function eventLine(event: TestEvent): string {
  return `${MARK}${JSON.stringify(event)}\n`;
}

/** Undefined: the line is the tests' own. */
export function parseEventLine(line: string): TestEvent | undefined {
  // After the mark stands what `eventLine` wrote.
  return line.startsWith(MARK) ? (JSON.parse(line.slice(MARK.length)) as TestEvent) : undefined;
}
