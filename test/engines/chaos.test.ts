import { CHAOS_DEFAULTS } from '../../scripts/chaos/faults.ts';
import { runChaos, type Verdict } from '../../scripts/chaos/run.ts';
import { builtProduct } from '../support/built.ts';
import { use } from '../support/use.ts';
import { Secantus } from './secantus.ts';

const RUN_MS = 900_000;
const SHORT = { ...CHAOS_DEFAULTS, seed: 3, messages: 300, kills: 8, pauses: 0, everyMs: 3_000, connections: 8 };

/** test/flow/chaos.faults.test.ts on another server, which syncs before it answers and is killed too. */
describe('random kills, of the server too, while messages flow on SecantusDB', function () {
  this.timeout(RUN_MS);
  const secantus = use(() => Secantus.start({ server: 'rust' }));
  let verdict: Verdict;

  before(async () => {
    const { uri } = secantus;
    const store = {
      uri,
      get pid() {
        return secantus.pid;
      },
      kill: () => secantus.kill(),
    };
    verdict = await runChaos(await builtProduct(), SHORT, () => {}, store);
  });

  it('all that was asked for was accepted, and the server did die', () => {
    expect(verdict.accepted).to.equal(SHORT.messages);
    expect(verdict.faults.kills.get('the store') ?? 0).to.be.above(0);
  });

  it('nothing is lost, doubled, mischarged or untold, and no state went back', () => {
    const faults = verdict.findings.filter(({ found, allowed }) => found > allowed);

    expect(faults, JSON.stringify(verdict.unfinished)).to.deep.equal([]);
  });
});
