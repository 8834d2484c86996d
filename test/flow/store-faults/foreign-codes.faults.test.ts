import { useStore } from '../../support/store.ts';
import { faultAtEachCommand } from './each-command.ts';
import { ACCEPTING, MONEY } from './money.ts';
import { SENDING } from './sending.ts';
import { WORK } from './work.ts';

/** Unlisted codes, or none, at every command that changes money, messages and leases (docs/decisions/0003). */
describe('an answer that nobody knows at each command', function () {
  this.timeout(180_000);
  const store = useStore();

  for (const scenario of [ACCEPTING, ...MONEY, ...SENDING, ...WORK]) {
    it(scenario.name, async () => {
      expect(await faultAtEachCommand(store, scenario, 'foreign')).to.be.greaterThan(0);
    });
  }
});
