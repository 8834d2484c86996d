import { relative } from 'node:path';
import { format } from 'node:util';
import mocha, { type MochaOptions, type Runner, type Suite, type Test } from 'mocha';
import { cpuMs } from './cpu.ts';
import { eventLine, type TestEvent } from './events.ts';

/** Mocha's base reporter, with members that its types lack. */
const Base = mocha.reporters.Base as typeof mocha.reporters.Base & {
  /** Writes failures as mocha's own reporters do, by `consoleLog`. */
  list(failures: readonly Test[]): void;
  consoleLog(...args: unknown[]): void;
};
const { constants } = mocha.Runner;

/** For one of several mocha processes: one event line for each test, with mocha's report if it failed. */
class EventReporter extends Base {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const tell = (event: TestEvent) => process.stdout.write(eventLine(event));
    const tellOf = (kind: 'begin' | 'pass' | 'skip') => (test: Test) => {
      tell({ kind, test: test.fullTitle() });
    };
    let spentMs = cpuMs();
    const tellCpu = ({ file, parent }: Suite): void => {
      if (file === undefined || parent?.root !== true) return;
      const nowMs = cpuMs();
      tell({ kind: 'cpu', file: relative(process.cwd(), file), ms: nowMs - spentMs });
      spentMs = nowMs;
    };
    runner
      .on(constants.EVENT_SUITE_END, tellCpu)
      .on(constants.EVENT_TEST_BEGIN, tellOf('begin'))
      .on(constants.EVENT_TEST_PASS, tellOf('pass'))
      // `Base` handles the failure first and stores the error with the test.
      .on(constants.EVENT_TEST_FAIL, (test) => tell({ kind: 'fail', test: test.fullTitle(), report: reportOf(test) }))
      .on(constants.EVENT_TEST_PENDING, tellOf('skip'))
      .once(constants.EVENT_RUN_END, () => tell({ kind: 'end' }));
  }
}

function reportOf(failed: Test): string {
  const lines: string[] = [];
  const { consoleLog } = Base;
  Base.consoleLog = (...args) => lines.push(format(...args));
  try {
    Base.list([failed]);
  } finally {
    Base.consoleLog = consoleLog;
  }
  return lines.join('\n').trim();
}

// mocha takes a reporter's default export, whatever the house rule says.
// biome-ignore lint/style/noDefaultExport: see above
export default EventReporter;
