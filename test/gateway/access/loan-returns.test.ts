import { expect } from 'chai';
import { type Loan, LoanReturns } from '../../../gateway/access/loan-returns.ts';
import type { RateDocument } from '../../../gateway/access/window.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { useStore } from '../../support/store.ts';

describe('returned loans', () => {
  const store = useStore();

  it('are no more than the window lent, when what is held is of the window before', async () => {
    const rate = store.db.collection<RateDocument>('rate');
    const [key, counter] = [newId('req'), newId('ctr')];
    const loans = new Map<string, Loan>();
    const returns = new LoanReturns({ rate, clock: systemClock, counter, loans, counting: new Set() });
    // In the new window this counter was lent 4 events, but the answer that said so was lost.
    await rate.insertOne({
      _id: key,
      window: {
        start: new Date(),
        count: 3_000,
        by: { [counter]: { granted: 1, loan: 4, lent: 4, count: 3_000 } },
        recall: true,
      },
      at: new Date(),
    });
    const endsMs = systemClock.monotonicMs() + 60_000;

    loans.set(key, { left: 128, nextRank: 1, runsUntilMs: endsMs, endsMs });
    returns.look();

    const after = await eventually(async () => {
      const found = await rate.findOne({ _id: key });
      expect(found?.window.by[counter]?.lent).to.equal(0);
      return found;
    }, 'the loan is given back');
    expect(after?.window.count).to.equal(2_996);
  });
});
