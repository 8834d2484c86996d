import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MochaProcess, type Outcome } from './mocha-process.ts';
import { LONG, plan } from './plan.ts';
import { runUnits } from './run.ts';
import { summary } from './summary.ts';

describe('the test runner', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-parallel-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function file(name: string, ...statements: readonly string[]): string {
    const path = join(folder, `${name}.test.ts`);
    writeFileSync(path, `describe('file ${name}', () => {\n${statements.join('\n')}\n});\n`);
    return path;
  }
  const passes = `it('passes', () => {});`;
  const fails = `it('fails', () => { throw new Error('the whole reason'); });`;
  /** Blocks its thread as an endless loop would, but without CPU. */
  const hangs = `it('never ends', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });`;

  describe('a plan', () => {
    it('gives each file to one process', () => {
      const files = [...Array.from({ length: 40 }, (_, i) => `test/some-${i}.test.ts`), ...LONG];

      const dealt = plan(files).flatMap((unit) => unit.files);

      expect(dealt).to.have.members(files);
      expect(dealt).to.have.length(files.length);
    });

    it('runs only what is asked for', () => {
      const [one = ''] = LONG;

      expect(plan([one, 'test/a.test.ts'])).to.deep.equal([
        { name: one, files: [one] },
        { name: 'other files, 1 of 1', files: ['test/a.test.ts'] },
      ]);
    });

    it('names files that are there', () => {
      expect(LONG.filter((name) => !existsSync(name))).to.deep.equal([]);
    });
  });

  describe('a process', () => {
    const run = (path: string, patience?: { quietMs: number; stayMs: number }): Promise<Outcome> =>
      new MochaProcess([path], patience).outcome;

    it('counts its tests and shows failures whole', async () => {
      const outcome = await run(
        file('mixed', passes, fails, `it('is left out');`, `after(() => { throw new Error('after'); });`),
      );

      expect(outcome).to.deep.include({ passed: 1, failed: 2, skipped: 1, trouble: undefined });
      expect(outcome.reports[0]).to.match(/file mixed\s+fails:\s+Error: the whole reason\s+at .+mixed\.test\.ts:3/);
      expect(outcome.reports[1]).to.match(/"after all" hook.+\s+Error: after/);
    });

    it('keeps to the settings of .mocharc.json: no `only`, no rejection that nobody handles', async () => {
      const only = await run(file('only', `it.only('passes', () => {});`));
      expect(only.trouble).to.match(/^ended with 1, before its first test$/);
      expect(only.output).to.include('`.only` forbidden');

      const rejects = `it('rejects', () => { void Promise.reject(new Error('unheard')); return new Promise(() => {}); });`;
      expect(await run(file('rejects', rejects))).to.deep.include({ passed: 0, failed: 1 });
    });

    const broken: readonly [what: string, statements: readonly string[], trouble: RegExp][] = [
      [
        'ends in the middle, with 0',
        [passes, `it('quits', () => { process.exit(0); });`],
        /^ended with 0, at "file .+ quits"$/,
      ],
      [
        'is killed',
        [passes, `it('dies', () => { process.kill(process.pid, 'SIGKILL'); });`],
        /^ended with .+, at "file .+ dies"$/,
      ],
      ['cannot be read', ['it('], /^ended with 1, before its first test$/],
      ['has no test', [], /^ran no test$/],
      [
        'ends badly when all is over',
        [passes, `process.on('beforeExit', () => { process.kill(process.pid, 'SIGKILL'); });`],
        /^ended with .+ although no test failed$/,
      ],
    ];
    for (const [what, statements, trouble] of broken) {
      it(`that ${what} is a failure`, async () => {
        const outcome = await run(file(what.replaceAll(/\W/g, '-'), ...statements));

        expect(outcome.trouble).to.match(trouble);
      });
    }

    it('that hangs is ended, and it is said in which test', async () => {
      const path = file('hangs', passes, hangs);

      const { trouble } = await run(path, { quietMs: 10_000, stayMs: 10_000 });

      expect(trouble).to.equal('told nothing for 10 s, at "file hangs never ends"');
    });

    it('that stays when its tests have ended is a failure', async () => {
      const path = file('stays', passes, 'setInterval(() => {}, 1_000);');

      const outcome = await run(path, { quietMs: 30_000, stayMs: 500 });

      expect(outcome.passed).to.equal(1);
      expect(outcome.trouble).to.match(/^left something open/);
    });
  });

  describe('a run', () => {
    const stopping = new AbortController().signal;

    it('sums what all processes counted; one that breaks off is one failure more', async () => {
      const units = [
        { name: 'good', files: [file('good', passes, passes)] },
        { name: 'bad', files: [file('bad', passes, fails)] },
        { name: 'broken', files: [file('broken', passes, `it('quits', () => { process.exit(0); });`)] },
        { name: 'noisy', files: [file('noisy', passes, `console.log('a word');`)] },
      ];
      let said = '';

      const totals = await runUnits(units, { jobs: 2, stopping, say: (text) => (said += text) });

      expect(totals).to.deep.include({ passed: 5, failed: 2, skipped: 0 });
      expect(totals.failures).to.have.length(2);
      const [test, process] = totals.failures;
      expect(test).to.match(/^file bad\s+fails:\s+Error: the whole reason\s+at /);
      expect(process).to.match(/^broken: ended with 0, at "file broken quits"\n {2}npx mocha .+broken\.test\.ts\n/);
      expect(summary([totals, totals], 61_000))
        .to.match(/^\n {2}10 passing \(1m 1s\)\n {2}4 failing\n\n {2}1\) file bad\s+fails:/)
        .and.match(/^ {2}4\) broken: ended with 0/m);
      expect(said).to.match(/CPU time .+:\n( +\d+\.\d s {2}.+\.test\.ts\n){3}$/);
      expect(said).to.match(/✔ good: 2 passed \(\d+ s\)\n/);
      expect(said).to.match(/✔ noisy: 1 passed \(\d+ s\)\na word\n/);
      expect(said).to.match(/✖ broken: 1 passed \(\d+ s\), ended with 0, at "file broken quits"\n/);
    });

    it('that is stopped ends its processes and begins no other', async () => {
      const stop = new AbortController();
      const unit = (name: string) => ({ name, files: [file(name, hangs)] });
      const run = runUnits([unit('first'), unit('second')], { jobs: 1, stopping: stop.signal, say: () => {} });

      stop.abort();

      expect(await run).to.deep.include({ passed: 0, failed: 1, skipped: 0 });
    });
  });
});
