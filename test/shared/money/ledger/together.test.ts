import { queuedMessage } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument, ChangeId } from '../../../../shared/money/accounts/account.ts';
import {
  enterInLedger,
  enterTogether,
  ledgerCollection,
  ledgerEntryOf,
  readEntries,
  readStatement,
} from '../../../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { debitAgain } from '../../../../shared/money/payment/debit.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId, GroupId } from '../../../../shared/platform/runtime/ids.ts';
import { balanceOf } from '../../../support/balance.ts';
import { holdInserts } from '../../../support/held-inserts.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

describe('debits that follow each other', () => {
  const store = useStore();
  const SEQS = [7, 6, 5, 4, 3, 2, 1];
  const stored = (account: AccountId) => ledgerCollection(store.db).find({ account }).toArray();
  const statement = (account: AccountId, before = 1_000) => readStatement(store.db, account, before, 100);

  /** Six debits, paid and not entered: seq 2 to 7. */
  async function paid() {
    const account = await makeAccount(store.db, 100);
    const { db } = holdInserts(store.db, 'ledger');
    const accepter = new GroupAccepter({ db, clock: systemClock, log: silentLog });
    for (let i = 0; i < 6; i++) await accepter.accept(account, [makeDraft()]);
    const { pending = {} } = (await store.db.collection<AccountDocument>('accounts').findOne({ _id: account })) ?? {};
    const entries = Object.entries(pending).map(([change, one]) => ledgerEntryOf(account, change as ChangeId, one));
    return { account, entries: entries.toSorted((a, b) => a.seq - b.seq) };
  }

  it('are one document of the ledger, and the statement shows each, on every page', async () => {
    const account = await makeAccount(store.db, 100);
    const accepter = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
    for (let i = 0; i < 6; i++) await accepter.accept(account, [makeDraft()]);
    await accepter.settled();

    expect((await stored(account)).length).to.be.lessThan(SEQS.length);
    const entries = await statement(account);
    expect(entries.map(({ seq }) => seq)).to.deep.equal(SEQS);
    expect(entries.map(({ balanceAfter }) => balanceAfter)).to.deep.equal([94, 95, 96, 97, 98, 99, 100]);
    for (const { seq } of entries) {
      expect((await statement(account, seq)).map((entry) => entry.seq)).to.deep.equal(SEQS.filter((one) => one < seq));
    }
    expect(await verifyLedger(store.db, account)).to.deep.include({ entries: 7, problems: [] });
  });

  it('are found one by one, by the change that a message names', async () => {
    const { account, entries } = await paid();
    await enterTogether(store.db, entries);
    await store.db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $unset: { pending: '' } });

    for (const entry of entries) expect(await readEntries(store.db, account, [entry.change])).to.deep.equal([entry]);
    expect(await stored(account)).to.have.length(2);
  });

  for (const [which, first, last] of [
    ['the first', 0, 1],
    ['one in the middle', 2, 3],
    ['all', 0, 6],
  ] as const) {
    it(`are whole when the maintenance has entered ${which} of them before`, async () => {
      const { account, entries } = await paid();
      await enterInLedger(store.db, entries.slice(first, last));

      for (let tries = 0; tries < 2; tries++) await enterTogether(store.db, entries);

      await store.db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $unset: { pending: '' } });
      expect((await statement(account)).map(({ seq }) => seq)).to.deep.equal(SEQS);
      expect(await verifyLedger(store.db, account)).to.deep.include({ problems: [] });
      for (const { change, seq } of entries) {
        expect((await readEntries(store.db, account, [change])).map((entry) => entry.seq)).to.deep.equal([seq]);
      }
    });
  }

  it('are not paid again by a repeat that comes when they are no longer pending', async () => {
    const { account, entries } = await paid();
    await enterTogether(store.db, entries);
    await store.db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $unset: { pending: '' } });

    for (const { change } of entries) {
      const group = change as GroupId;
      const messages = [queuedMessage(account, group, makeDraft())];
      const again = await debitAgain(store.db, { account, group, messages, today: '2026-11-21', done: [] });
      expect(again).to.deep.equal({ kind: 'paid' });
    }
    expect(await balanceOf(store.db, account)).to.equal(94);
  });

  it('are a broken chain when one of them says something else', async () => {
    const { account, entries } = await paid();
    await enterTogether(store.db, entries);
    await ledgerCollection(store.db).updateMany({ account, seq: 2 }, { $set: { 'then.2.amount': -2 } });

    expect((await verifyLedger(store.db, account)).problems).to.have.length(1);
  });
});
