import { type MessageDocument, type Part, queuedMessage } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { applyCredits, isRefundable, refundMessages, topUp } from '../../../../shared/money/ledger/change.ts';
import type { LedgerEntryDocument } from '../../../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

describe('credits', () => {
  const store = useStore();

  it('tops up once by id, however often and however concurrently it is asked', async () => {
    const account = await makeAccount(store.db, 0);

    const answers = await Promise.all(Array.from({ length: 8 }, () => topUp(store.db, account, 100, 'invoice-7')));

    expect(answers.filter(({ kind }) => kind === 'applied')).to.have.lengthOf(1);
    expect(await topUp(store.db, account, 100, 'invoice-7')).to.deep.equal({
      kind: 'already',
      balance: 100,
      reason: 'top_up',
      entered: 100,
    });
    expect(await verifyLedger(store.db, account)).to.deep.include({ entries: 1, balance: 100, problems: [] });
  });

  it('names the account that does not exist', async () => {
    const refusal = await topUp(store.db, newId('acc'), 1, 'x').catch((error: unknown) => error);

    expect(refusal).to.include({ code: 'unknown_account' });
  });

  it('refunds each message once, from several processes at once, while the account is being debited', async () => {
    const account = await makeAccount(store.db, 300);
    const rejected = Array.from({ length: 20 }, () => ({
      ...queuedMessage(account, newId('grp'), makeDraft()),
      state: 'rejected' as const,
    }));
    const gateways = [1, 2].map(() => new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog }));

    await Promise.all([
      ...gateways.flatMap((gateway) => Array.from({ length: 100 }, () => gateway.accept(account, [makeDraft()]))),
      ...[1, 2, 3].map(() => refundMessages(store.db, rejected)),
    ]);

    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 300 - 200 + 20, problems: [] });
    const refunds = await store.db
      .collection<LedgerEntryDocument>('ledger')
      .countDocuments({ account, reason: 'refund' });
    expect(refunds).to.equal(20);
  });

  it('refunds a message once that is named twice in one call', async () => {
    const account = await makeAccount(store.db, 10);
    const message = { ...queuedMessage(account, newId('grp'), makeDraft()), state: 'rejected' as const };

    await refundMessages(store.db, [message, { ...message }]);

    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 11, problems: [] });
  });

  it('applies again what had only been announced by a process that died before the ledger entry', async () => {
    const account = await makeAccount(store.db, 10);
    await applyCredits(store.db, account, [{ id: 'ref_msg_a', amount: 1, reason: 'refund' }]);
    // As after a crash between the account's update and the entry's insert.
    await store.db.collection<LedgerEntryDocument>('ledger').deleteOne({ account, change: 'ref_msg_a' });
    await store.db
      .collection<AccountDocument>('accounts')
      .updateOne(
        { _id: account },
        { $set: { 'pending.ref_msg_a': { seq: 2, amount: 1, balanceAfter: 11, reason: 'refund', at: new Date() } } },
      );

    const applied = await applyCredits(store.db, account, [{ id: 'ref_msg_a', amount: 1, reason: 'refund' }]);

    expect(applied).to.deep.equal([]);
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 11, problems: [] });
  });

  const parts = (...states: Part['state'][]): Part[] => states.map((state) => ({ state }));
  for (const { state, given, refundable } of [
    { state: 'rejected' as const, given: undefined, refundable: true },
    { state: 'rejected' as const, given: parts('refused', 'refused'), refundable: true },
    { state: 'rejected' as const, given: parts('rejected'), refundable: false },
    { state: 'rejected' as const, given: parts('refused', 'unknown'), refundable: false },
    { state: 'expired' as const, given: undefined, refundable: true },
    { state: 'expired' as const, given: parts('expired'), refundable: false },
    { state: 'failed' as const, given: parts('accepted', 'refused'), refundable: false },
    { state: 'delivered' as const, given: parts('delivered'), refundable: false },
  ]) {
    const told = given?.map((part) => part.state).join(', ') ?? 'no part submitted';
    it(`${refundable ? 'refunds' : 'does not refund'} ${state} with ${told}`, () => {
      const message: Pick<MessageDocument, 'state' | 'parts'> =
        given === undefined ? { state } : { state, parts: given };

      expect(isRefundable(message)).to.equal(refundable);
    });
  }

  describe('ledger verify', () => {
    it('finds a missing link', async () => {
      const account = await makeAccount(store.db, 10);
      await topUp(store.db, account, 5, 'b');
      await topUp(store.db, account, 5, 'c');
      await store.db.collection<LedgerEntryDocument>('ledger').deleteOne({ account, seq: 2 });

      const verdict = await verifyLedger(store.db, account);

      expect(verdict.problems[0]).to.equal('seq 2 is missing');
    });

    it('tells a gap as one problem, however long it is', async () => {
      const account = await makeAccount(store.db, 10);
      const pending = { seq: 500_000, amount: 1, balanceAfter: 11, reason: 'refund', at: new Date() } as const;
      await store.db
        .collection<AccountDocument>('accounts')
        .updateOne({ _id: account }, { $set: { seq: 1_000_000, balance: 11, 'pending.ref_msg_a': pending } });

      const verdict = await verifyLedger(store.db, account);

      expect(verdict.problems).to.deep.equal(['seq 2 to 499999 are missing', 'seq 500001 to 1000000 are missing']);
    });

    it('finds a balance that nobody entered', async () => {
      const account = await makeAccount(store.db, 10);
      await store.db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $inc: { balance: 1 } });

      const verdict = await verifyLedger(store.db, account);

      expect(verdict.problems).to.deep.equal(['the chain ends in 10, the balance is 11']);
    });
  });
});
