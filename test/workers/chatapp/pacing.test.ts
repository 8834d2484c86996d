import { expect } from 'chai';
import { Pacing } from '../../../workers/chatapp/pacing.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('Pacing', () => {
  const ASHA = '919999999999';
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
  });
  const pacing = (provider: object = {}) =>
    new Pacing({ provider: { perSecond: 80, windowSize: 2, perCustomerMs: 0, ...provider }, clock, random: () => 0 });

  it('never sends more than the rate in a second', () => {
    const paced = pacing({ perSecond: 10, windowSize: 1_000 });
    let sent = 0;
    for (let ms = 0; ms < 1_000; ms++, clock.turn(1)) {
      for (; paced.room > 0; sent++) paced.begin(`c${sent}`);
    }

    expect(sent).to.be.within(9, 10);
  });

  it('a customer is busy until it is stored that a message to it was refused, which takes no place', async () => {
    const paced = pacing();
    let store = (): void => undefined;
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    const { room } = paced;
    const refused = paced.settling(ASHA, stored);
    expect([paced.busy(), paced.room]).to.deep.equal([[ASHA], room]);

    store();
    await refused;

    expect(paced.busy()).to.deep.equal([]);
  });

  it('a customer that the provider wants left alone is, longer each time until it takes a message', () => {
    const paced = pacing();
    const waits: (number | undefined)[] = [];
    for (const accepted of [false, false, true, false]) {
      if (accepted) paced.accepted(ASHA);
      paced.delayCustomer(ASHA);
      waits.push(paced.waitMs);
      clock.turn(60_000);
      paced.busy();
    }

    expect(waits).to.deep.equal([6_000, 12_000, 6_000, 12_000]);
  });

  it('keeps the pause that the provider asks for when it throttles', () => {
    const paced = pacing();
    paced.throttled(30_000);

    expect([paced.room, paced.waitMs]).to.deep.equal([0, 30_000]);
  });

  it('waits for nothing when nobody is held', () => {
    expect(pacing().waitMs).to.equal(undefined);
  });
});
