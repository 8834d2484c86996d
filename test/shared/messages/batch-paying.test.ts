import { findPaidBatch, storeUnpaid } from '../../../gateway/endpoints/sms/paid-batch-store.ts';
import { type BatchState, batchCollection, chunksOf, countBatch, readChunk } from '../../../shared/messages/batch.ts';
import { queuedMessage } from '../../../shared/messages/document/message.ts';
import { claimedMessage, claimLines, insertFirst, writeOut } from '../../../shared/messages/queue/queue-store.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { readStatement } from '../../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../shared/money/payment/accept.ts';
import { debitEach } from '../../../shared/money/payment/debit.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, batchMessageIds, newId } from '../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { pruneUnpaid } from '../../../workers/maintenance/prune-messages.ts';
import { makeBatch, makeEntries, payBatch, storeBatch } from '../../support/batches.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ownDocuments } from '../../support/queue.ts';
import { silentLog } from '../../support/silent-log.ts';
import { useStore } from '../../support/store.ts';

const soon = (): Date => new Date(Date.now() + 15_000);

describe('paying for batches', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(async () => {
    account = await makeAccount(store.db, 100);
  });

  const accepter = () => new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
  const stateOf = async (batch: { readonly _id: ReturnType<typeof makeBatch>['_id'] }) =>
    (await batchCollection(store.db).findOne({ _id: batch._id }))?.state;
  const balance = async () => {
    const verdict = await verifyLedger(store.db, account);
    expect(verdict.problems).to.deep.equal([]);
    return verdict.balance;
  };
  /** As a gateway leaves it that dies right after the debit. */
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

  it('what a dead gateway left is found as paid at once, and finished by the maintenance', async () => {
    const found = makeBatch(account, 10);
    const settled = makeBatch(account, 10);
    await debitOnly(found);
    await debitOnly(settled);

    expect(await findPaidBatch(store.db, account, found._id)).to.include({ state: 'paid' });
    expect(await stateOf(found)).to.equal('paid');
    expect(await stateOf(settled)).to.equal('unpaid');
    await finishPending(store.db, later(60_000));

    expect(await stateOf(settled)).to.equal('paid');
    expect(await balance()).to.equal(80);
    const left = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(left).to.not.have.property('pending');
  });

  describe('pruning', () => {
    const over = { payBy: new Date(Date.now() - 1), bytes: 1_000 };

    it('removes what was never paid, with its recipients, as soon as its time to pay is over; and nothing else', async () => {
      const unpaid = makeBatch(account, 10, { unpaid: over });
      await storeBatch(store.db, unpaid);
      // The time in its id is the time that it is booked for.
      const ahead = makeBatch(account, 10, { unpaid: over, _id: newId('bat', Date.now() + 30 * 86_400_000) });
      await storeBatch(store.db, ahead);
      const paid = makeBatch(account, 10);
      await payBatch(store.db, paid);
      const pending = makeBatch(account, 10);
      await debitOnly(pending);
      await batchCollection(store.db).updateOne({ _id: pending._id }, { $set: { unpaid: over } });

      await pruneUnpaid(store.db);

      expect(await stateOf(unpaid)).to.equal(undefined);
      expect(await readChunk(store.db, unpaid, 0)).to.equal(undefined);
      expect(await stateOf(ahead)).to.equal(undefined);
      expect(await stateOf(paid)).to.equal('paid');
      expect(await stateOf(pending)).to.equal('unpaid');
      expect(await readChunk(store.db, pending, 0))
        .to.have.property('to')
        .with.length(10);
    });

    it('leaves what may still be paid by the clock of the store', async () => {
      const young = makeBatch(account, 10);
      await storeBatch(store.db, young);

      await pruneUnpaid(store.db);

      expect(await stateOf(young)).to.equal('unpaid');
    });
  });

  describe('what an account holds unpaid', () => {
    const order = (batch = makeBatch(account, 10)) => {
      const { state: _, open: __, unpaid: ___, ...rest } = batch;
      return rest;
    };
    const held = async () => {
      const found = await batchCollection(store.db).find({ account, state: 'unpaid' }).toArray();
      return { batches: found, bytes: found.reduce((sum, { unpaid }) => sum + (unpaid?.bytes ?? 0), 0) };
    };
    const put = (limit: number) => {
      const batch = order();
      return storeUnpaid(store.db, batch, chunksOf(batch._id, makeEntries(10)), soon(), limit);
    };

    it('never passes the limit, however many come at once; what did not fit leaves nothing', async () => {
      await put(1_000_000);
      const { bytes } = await held();
      const chunks = store.db.collection('batch_chunks');
      const before = await chunks.countDocuments({});

      const came = await Promise.all(Array.from({ length: 30 }, () => put(bytes * 5)));

      const stored = came.filter((one) => one === 'stored').length;
      expect(stored).to.be.lessThan(5);
      expect((await held()).batches).to.have.length(1 + stored);
      expect(await chunks.countDocuments({})).to.equal(before + stored);
    });

    it('counts what is paid or removed no more, and other accounts never', async () => {
      await put(1_000_000);
      const { bytes, batches } = await held();
      const limit = bytes * 1.5;

      expect(await put(limit)).to.equal('too_much_unpaid');
      account = await makeAccount(store.db, 100);
      expect(await put(limit)).to.equal('stored');
      account = batches[0]?.account ?? account;
      await accepter().acceptBatch(account, { id: batches[0]?._id ?? newId('bat'), total: 10 }, soon());
      expect(await put(limit)).to.equal('stored');
    });
  });
});

describe('how far a batch is', () => {
  const store = useStore();

  /** A batch of 10 entries, of which 6 are only lines in the queue. */
  const begun = async () => {
    const [account, group] = [newId('acc'), newId('grp')];
    const batch = makeBatch(account, 10, { state: 'paid', group, reserved: 6 });
    const idOf = batchMessageIds(batch._id);
    const made = Array.from({ length: 6 }, (_, i) =>
      queuedMessage(account, group, makeDraft({ _id: idOf(i), batch: batch._id })),
    );
    const documents = ownDocuments(group, made, new Date());
    await insertFirst(store.db, documents);
    const counts = async (state: BatchState) => {
      const { queued, sent, rejected, ...others } = await countBatch(store.db, { ...batch, state });
      expect(others).to.deep.equal({ delivered: 0, failed: 0, expired: 0 });
      return { queued, sent, rejected };
    };
    return { batch, made, documents, counts };
  };

  it('adds up at any moment of its lines, also while it is stopped: what may still be sent is queued', async () => {
    const { batch, made, documents, counts } = await begun();
    const moments = async () => [await counts('paid'), await counts('stopping')];
    const none = [
      { queued: 10, sent: 0, rejected: 0 },
      { queued: 6, sent: 0, rejected: 4 },
    ];
    expect(await moments()).to.deep.equal(none);

    const claim = { id: newId('clm'), carrier: 'airtel', epoch: 1, at: new Date() };
    for (const head of documents) await claimLines(store.db, claim, [{ head, to: 4 }]);
    expect(await moments()).to.deep.equal(none);

    const sent = made.slice(0, 3).map((line) => ({ ...claimedMessage(line, claim), state: 'sent' }));
    await insertNew(store.db, 'messages', sent);
    const some = [
      { queued: 7, sent: 3, rejected: 0 },
      { queued: 3, sent: 3, rejected: 4 },
    ];
    expect(await moments()).to.deep.equal(some);

    await writeOut(store.db, new Date(), { batch: batch._id });
    expect(await moments()).to.deep.equal(some);
  });
});
