import { useStore } from '../../support/store.ts';
import { faultAtEachCommand } from './each-command.ts';
import { ACCEPTING, MONEY } from './money.ts';
import { SENDING } from './sending.ts';
import { WORK } from './work.ts';

/**
 * Faults of a MongoDB deployment at every command of work that changes money, messages and leases. Some come before the
 * store has the command; the others leave open whether it was done (docs/decisions/0030).
 */
describe('a fault of the store at each command', function () {
  this.timeout(180_000);
  const store = useStore();

  it(`${ACCEPTING.name}, with every code`, async () => {
    expect(await faultAtEachCommand(store, ACCEPTING, 'all')).to.be.greaterThan(0);
  });

  for (const scenario of [...MONEY, ...SENDING, ...WORK]) {
    it(scenario.name, async () => {
      expect(await faultAtEachCommand(store, scenario)).to.be.greaterThan(0);
    });
  }
});
