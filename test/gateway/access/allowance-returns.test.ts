import { expect } from 'chai';
import { type Allowance, AllowanceReturns } from '../../../gateway/access/allowance-returns.ts';
import type { RateDocument } from '../../../gateway/access/window.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { useStore } from '../../support/store.ts';

describe('returned allowances', () => {
  const store = useStore();

  it('are no more than the window gave, when what is held is of the window before', async () => {
    const rate = store.db.collection<RateDocument>('rate');
    const [key, counter] = [newId('req'), newId('ctr')];
    const allowances = new Map<string, Allowance>();
    const returns = new AllowanceReturns({ rate, clock: systemClock, counter, allowances, counting: new Set() });
    // In the new window this counter got 4 events, but the answer that said so was lost.
    await rate.insertOne({
      _id: key,
      window: {
        start: new Date(),
        count: 3_000,
        by: { [counter]: { granted: 1, allowance: 4, held: 4, count: 3_000 } },
        recall: true,
      },
      at: new Date(),
    });
    const endsMs = systemClock.monotonicMs() + 60_000;

    allowances.set(key, { left: 128, nextRank: 1, runsUntilMs: endsMs, endsMs });
    returns.look();

    const after = await eventually(async () => {
      const found = await rate.findOne({ _id: key });
      expect(found?.window.by[counter]?.held).to.equal(0);
      return found;
    }, 'the allowance is given back');
    expect(after?.window.count).to.equal(2_996);
  });
});
