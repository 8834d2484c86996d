import { expect } from 'chai';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { acceptOnce } from '../../../../shared/money/payment/accept-once.ts';
import { FollowUp } from '../../../../shared/money/payment/follow-up.ts';
import { systemClock as clock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { linesOf } from '../../../support/queue.ts';
import { silentLog as log } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

describe('a message that is accepted again', () => {
  const store = useStore();

  /** Each call acts as another process. */
  const accept = (account: Awaited<ReturnType<typeof makeAccount>>, draft: ReturnType<typeof makeDraft>) =>
    acceptOnce({ db: store.db, clock, followUp: new FollowUp({ db: store.db, clock, log }) }, account, draft);
  const stored = async (account: AccountId) => (await linesOf(store.db, account)).length;

  it('by many processes at the same time, is paid for and stored once', async () => {
    const account = await makeAccount(store.db, 10);
    const draft = makeDraft();

    const outcomes = await Promise.all(Array.from({ length: 8 }, () => accept(account, draft)));

    expect(outcomes).to.deep.equal(Array(8).fill({ kind: 'accepted', credits: 1 }));
    expect(await stored(account)).to.equal(1);
    await eventually(async () => {
      const { problems, balance } = await verifyLedger(store.db, account);
      expect({ problems, balance }).to.deep.equal({ problems: [], balance: 9 });
      return true;
    }, 'the ledger says so');
  });

  it('after the maintenance has finished and cleared its debit, is not paid for again', async () => {
    const account = await makeAccount(store.db, 10);
    const draft = makeDraft();
    await accept(account, draft);
    const later = { ...clock, now: () => new Date(Date.now() + 3_600_000) };
    await finishPending(store.db, later);
    const accounts = store.db.collection<AccountDocument>('accounts');
    expect((await accounts.findOne({ _id: account }))?.pending).to.equal(undefined);

    const again = await accept(account, draft);

    expect(again).to.deep.equal({ kind: 'accepted', credits: 1 });
    expect((await accounts.findOne({ _id: account }))?.balance).to.equal(9);
    expect(await stored(account)).to.equal(1);
  });

  it('without credits is refused and not stored, until there are some', async () => {
    const account = await makeAccount(store.db, 0);
    const draft = makeDraft();

    const refused = await accept(account, draft);

    expect(refused).to.include({ kind: 'insufficient_credits', required: 1 });
    expect(await stored(account)).to.equal(0);
  });
});
