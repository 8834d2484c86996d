import { CHAOS_DEFAULTS } from '../../scripts/chaos/faults.ts';
import { runChaos, type Verdict } from '../../scripts/chaos/run.ts';
import { builtProduct } from '../support/built.ts';

const RUN_MS = 600_000;
const SHORT = { ...CHAOS_DEFAULTS, messages: 2_000, kills: 10, pauses: 1, pauseMs: 20_000, everyMs: 2_500 };

/** A short `npm run chaos`; scripts/chaos/README.md describes what runs and what is checked. */
describe('ten random kills and a pause while 2,000 messages flow', function () {
  this.timeout(RUN_MS);
  let verdict: Verdict;

  before(async () => {
    verdict = await runChaos(await builtProduct(), SHORT, () => {});
  });

  it('all that was asked for was accepted, and processes did die', () => {
    expect(verdict.accepted).equal(SHORT.messages);
    expect([...verdict.faults.kills.values()].reduce((sum, count) => sum + count, 0)).above(0);
  });

  it('nothing is lost, doubled, mischarged or untold, and no state went back', () => {
    const faults = verdict.findings.filter(({ found, allowed }) => found > allowed);

    expect(faults, JSON.stringify(verdict.unfinished)).deep.equal([]);
    expect(verdict.looks).above(0);
  });
});
