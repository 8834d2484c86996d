import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { updateAccount } from '../../../../shared/money/accounts/store.ts';
import { applyCredits } from '../../../../shared/money/ledger/change.ts';
import type { KeyCaps } from '../../../../shared/money/ledger/spending.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { type AcceptOutcome, GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

const DAY_MS = 86_400_000;

describe('spending caps', () => {
  const store = useStore();
  const gateway = (clock = new ManualClock(new Date('2026-11-28T10:00:00Z'))) =>
    new GroupAccepter({ db: store.db, clock, log: silentLog });
  const accountOf = async (_id: AccountId): Promise<AccountDocument> => {
    const found = await store.db.collection<AccountDocument>('accounts').findOne({ _id });
    if (found === null) throw new Error('no such account');
    return found;
  };
  const times = <T>(n: number, make: () => Promise<T>) => Promise.all(Array.from({ length: n }, make));
  const accepted = (outcomes: readonly AcceptOutcome[]) => outcomes.filter(({ kind }) => kind === 'accepted').length;

  it('hold exactly when four gateways send at once, and the ledger stays whole', async () => {
    const account = await makeAccount(store.db, 1_000);
    await updateAccount(store.db, account, { caps: { day: 150 } });
    const gateways = Array.from({ length: 4 }, () => gateway());

    const outcomes = (
      await Promise.all(gateways.map((one) => times(100, () => one.accept(account, [makeDraft()]))))
    ).flat();

    expect(accepted(outcomes)).to.equal(150);
    expect(outcomes.filter(({ kind }) => kind === 'spend_limit_reached')).to.have.lengthOf(250);
    expect(outcomes.find(({ kind }) => kind !== 'accepted')).to.include({
      ...{ limit: 'account_day', cap: 150, spent: 150, required: 1, from: '2026-11-29' },
    });
    const { balance, spent } = await accountOf(account);
    expect({ balance, spent }).to.deep.equal({
      balance: 850,
      spent: { day: 20261128, month: 202611, ofDay: 150, ofMonth: 150 },
    });
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  });

  it('count what was spent before they were set, and begin anew with the day and the month', async () => {
    const account = await makeAccount(store.db, 1_000);
    const clock = new ManualClock(new Date('2026-11-29T23:00:00Z'));
    const one = gateway(clock);
    const send = async (n: number) =>
      (
        await one.accept(
          account,
          Array.from({ length: n }, () => makeDraft()),
        )
      ).kind;
    await send(60);
    await updateAccount(store.db, account, { caps: { day: 100, month: 120 } });

    expect(await send(41)).to.equal('spend_limit_reached');
    expect(await send(40)).to.equal('accepted');
    clock.turn(DAY_MS);
    // A new day, but the same month.
    expect(await send(21)).to.equal('spend_limit_reached');
    expect(await send(20)).to.equal('accepted');
    // A gateway whose clock is behind counts for the day that has begun.
    expect((await gateway().accept(account, [makeDraft()])).kind).to.equal('spend_limit_reached');
    clock.turn(DAY_MS);
    expect(await send(100)).to.equal('accepted');
    expect((await accountOf(account)).spent).to.deep.equal({
      ...{ day: 20261201, month: 202612, ofDay: 100, ofMonth: 100 },
    });
  });

  it('of a key hold it alone, and count what the keys spend that it made', async () => {
    const account = await makeAccount(store.db, 1_000);
    const till: KeyCaps = { key: '01m7znjn7hdb5pft3awkb6pgv1', day: 10 };
    const made: KeyCaps = { key: '01m7znjn7hdb5pft3awkb6pgv2', day: 6 };
    const one = gateway();

    // In one debit with those of a key without caps.
    const [free, ofTill, ofBoth] = await Promise.all([
      times(20, () => one.accept(account, [makeDraft()])),
      times(6, () => one.accept(account, [makeDraft()], undefined, [till])),
      times(6, () => one.accept(account, [makeDraft()], undefined, [made, till])),
    ]);

    expect(accepted(free)).to.equal(20);
    expect(accepted([...ofTill, ...ofBoth])).to.equal(10);
    const { keysSpent } = await accountOf(account);
    expect(keysSpent?.[till.key]?.ofDay).to.equal(10);
    expect(keysSpent?.[made.key]?.ofDay).to.equal(accepted(ofBoth));
  });

  it('get back what a refund gives back, if it was paid for in the day or month that is running', async () => {
    const account = await makeAccount(store.db, 1_000);
    const key = '01m7znjn7hdb5pft3awkb6pgv3';
    const clock = new ManualClock(new Date('2026-11-28T10:00:00Z'));
    const today = gateway(clock);
    await today.accept(account, [makeDraft(), makeDraft(), makeDraft()], undefined, [{ key, day: 3 }]);
    const refund = async (by: number, amount: number) => {
      const paid = { by: newId('grp', clock.now().getTime() - by), keys: [key] };
      await applyCredits(store.db, account, [{ id: `ref_${newId('msg')}`, amount, reason: 'refund', paid }]);
    };

    await refund(40 * DAY_MS, 1);
    expect((await accountOf(account)).spent).to.include({ ofDay: 3, ofMonth: 3 });
    await refund(0, 2);
    const { spent, keysSpent } = await accountOf(account);
    expect(spent).to.include({ ofDay: 1, ofMonth: 1 });
    expect(keysSpent?.[key]).to.include({ ofDay: 1, ofMonth: 1 });
    expect((await today.accept(account, [makeDraft(), makeDraft()], undefined, [{ key, day: 3 }])).kind).to.equal(
      'accepted',
    );
  });
});
