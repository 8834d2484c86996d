import { expect } from 'chai';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { findPaidBatch } from '../../../shared/batches/find-paid.ts';
import { pruneUnpaid } from '../../../shared/batches/prune.ts';
import { batchCollection, readChunk } from '../../../shared/batches/store.ts';
import { readStatement } from '../../../shared/credits/statement.ts';
import { verifyLedger } from '../../../shared/credits/verify.ts';
import { createAccepter } from '../../../shared/messages/accept.ts';
import { debitEach } from '../../../shared/messages/debit.ts';
import { finishPending } from '../../../shared/messages/finish-pending.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { makeBatch, payBatch, storeBatch } from '../../support/batches.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const soon = (): Date => new Date(Date.now() + 15_000);

describe('paying for batches', () => {
  let store: TestStore;
  let account: AccountId;
  before(async () => {
    store = await openTestStore();
  });
  beforeEach(async () => {
    account = await makeAccount(store.db, 100);
  });
  after(() => store.close());

  const accepter = () => createAccepter({ db: store.db, clock: systemClock, log: silentLog });
  const stateOf = async (batch: { readonly _id: ReturnType<typeof makeBatch>['_id'] }) =>
    (await batchCollection(store.db).findOne({ _id: batch._id }))?.state;
  const balance = async () => {
    const verdict = await verifyLedger(store.db, account);
    expect(verdict.problems).to.deep.equal([]);
    return verdict.balance;
  };
  /** What a gateway leaves that dies right after the debit. */
  const debitOnly = async (batch: ReturnType<typeof makeBatch>): Promise<void> => {
    await storeBatch(store.db, batch);
    const order = { id: batch._id, total: batch.total };
    const request = { account, group: newId('grp'), messages: [], batch: order, today: '2026-11-21', done: [] };
    await debitEach(store.db, [{ ...request, payBy: soon() }]);
  };
  const later = (ms: number) => new ManualClock(new Date(Date.now() + ms));

  it('one debit for the whole batch, named in the ledger, beside debits of single messages', async () => {
    const batch = makeBatch(account, 40);
    await storeBatch(store.db, batch);
    const pay = accepter();

    const outcomes = await Promise.all([
      pay.accept(account, [makeDraft()]),
      pay.acceptBatch(account, { id: batch._id, total: 40 }, soon()),
      pay.accept(account, [makeDraft()]),
    ]);

    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['accepted', 'accepted', 'accepted']);
    expect(await balance()).to.equal(58);
    expect(await stateOf(batch)).to.equal('paid');
    const statement = await readStatement(store.db, account, Number.MAX_SAFE_INTEGER, 10);
    expect(statement.find(({ reference }) => reference === batch._id)).to.include({ amount: -40, reason: 'send' });
  });

  it('a batch that is too dear is refused and stays unpaid', async () => {
    const batch = makeBatch(account, 101);
    await storeBatch(store.db, batch);

    const outcome = await accepter().acceptBatch(account, { id: batch._id, total: 101 }, soon());

    expect(outcome).to.deep.equal({ kind: 'insufficient_credits', balance: 100, required: 101 });
    expect(await stateOf(batch)).to.equal('unpaid');
    expect(await balance()).to.equal(100);
  });

  it('too late is never', async () => {
    const batch = makeBatch(account, 1);
    await storeBatch(store.db, batch);

    const outcome = await accepter().acceptBatch(account, { id: batch._id, total: 1 }, new Date(Date.now() - 1));

    expect(outcome).to.deep.equal({ kind: 'too_late' });
    expect(await balance()).to.equal(100);
  });

  it('what a dead gateway left is found as paid at once, and finished by the sweep', async () => {
    const found = makeBatch(account, 10);
    const swept = makeBatch(account, 10);
    await debitOnly(found);
    await debitOnly(swept);

    expect(await findPaidBatch(store.db, account, found._id)).to.include({ state: 'paid' });
    expect(await stateOf(found)).to.equal('paid');
    expect(await stateOf(swept)).to.equal('unpaid');
    await finishPending(store.db, later(60_000));

    expect(await stateOf(swept)).to.equal('paid');
    expect(await balance()).to.equal(80);
    const left = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(left).to.not.have.property('pending');
  });

  describe('pruning', () => {
    it('removes what was never paid, with its recipients, and nothing else', async () => {
      const unpaid = makeBatch(account, 10);
      await storeBatch(store.db, unpaid);
      const paid = makeBatch(account, 10);
      await payBatch(store.db, paid);
      const pending = makeBatch(account, 10);
      await debitOnly(pending);

      await pruneUnpaid(store.db, later(2 * 3_600_000));

      expect(await stateOf(unpaid)).to.equal(undefined);
      expect(await readChunk(store.db, unpaid, 0)).to.equal(undefined);
      expect(await stateOf(paid)).to.equal('paid');
      expect(await stateOf(pending)).to.equal('unpaid');
      expect(await readChunk(store.db, pending, 0))
        .to.have.property('to')
        .with.length(10);
    });

    it('leaves what may still be paid', async () => {
      const young = makeBatch(account, 10);
      await storeBatch(store.db, young);

      await pruneUnpaid(store.db, later(60_000));

      expect(await stateOf(young)).to.equal('unpaid');
    });
  });
});
