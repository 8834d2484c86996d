/** What a mocha process tells of its tests: a line of its output each, behind a mark that no test writes. */
export type TestEvent =
  | { readonly kind: 'begin' | 'pass' | 'skip'; readonly test: string }
  /** `report`: its titles, error, difference and stack, as mocha shows them, under the number 1. */
  | { readonly kind: 'fail'; readonly test: string; readonly report: string }
  /** A part of a file has ended: the CPU time that it took, with processes that it started and that have ended. */
  | { readonly kind: 'cpu'; readonly file: string; readonly ms: number }
  /** All tests have ended; the process may still be kept open by what they left. */
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
