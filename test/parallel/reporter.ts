import mocha, { type MochaOptions, type Runner, type Test } from 'mocha';
import { eventLine, type TestEvent } from './events.ts';

const { Base } = mocha.reporters;
const { constants } = mocha.Runner;

/** For a mocha process among others: an event line for each test, and the failures whole at the end. */
class EventReporter extends Base {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const tell = (event: TestEvent) => process.stdout.write(eventLine(event));
    const tellOf = (kind: 'begin' | 'pass' | 'fail' | 'skip') => (test: Test) => {
      tell({ kind, test: test.fullTitle() });
    };
    runner
      .on(constants.EVENT_TEST_BEGIN, tellOf('begin'))
      .on(constants.EVENT_TEST_PASS, tellOf('pass'))
      .on(constants.EVENT_TEST_FAIL, tellOf('fail'))
      .on(constants.EVENT_TEST_PENDING, tellOf('skip'))
      .once(constants.EVENT_RUN_END, () => {
        // In no types: writes failures as mocha's own reporters do.
        (Base as unknown as { list(failures: readonly Test[]): void }).list(this.failures);
        tell({ kind: 'end' });
      });
  }
}

// mocha takes a reporter's default export, whatever the house rule says.
// biome-ignore lint/style/noDefaultExport: see above
export default EventReporter;
