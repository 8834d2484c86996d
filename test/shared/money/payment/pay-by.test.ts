import { type MessageDocument, queuedMessage } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { type DebitRequest, debitAnswers, debitEach, wouldRefuse } from '../../../../shared/money/payment/debit.ts';
import { findAccepted } from '../../../../shared/money/payment/pending.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { writeOutAll } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { debitWorld } from './world.ts';

describe('paying by a time', () => {
  const { store, balanceOf } = debitWorld();
  const over = (): Date => new Date(Date.now() - 1);
  const ahead = (): Date => new Date(Date.now() + 60_000);

  it('pays before it, and never after it', async () => {
    const account = await makeAccount(store.db, 5);
    const accepter = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });

    const inTime = await accepter.accept(account, [makeDraft()], ahead());
    const late = await accepter.accept(account, [makeDraft()], over());

    expect(inTime.kind).to.equal('accepted');
    expect(late).to.deep.equal({ kind: 'too_late' });
    expect(await balanceOf(account)).to.equal(4);
  });

  it('goes by the time of the store: a process whose clock stands still gains nothing', async () => {
    const account = await makeAccount(store.db, 5);
    const accepter = new GroupAccepter({ db: store.db, clock: new ManualClock(new Date(0)), log: silentLog });

    expect(await accepter.accept(account, [makeDraft()], over())).to.deep.equal({ kind: 'too_late' });
    expect(await balanceOf(account)).to.equal(5);
  });

  it('lets one that is late stop nobody who asks together with it', async () => {
    const account = await makeAccount(store.db, 5);
    const accepter = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });

    const outcomes = await Promise.all([
      accepter.accept(account, [makeDraft()]),
      accepter.accept(account, [makeDraft()], over()),
      accepter.accept(account, [makeDraft()], ahead()),
    ]);

    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['accepted', 'too_late', 'accepted']);
    expect(await balanceOf(account)).to.equal(3);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  });

  it('says what else stands in the way first', async () => {
    const accepter = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
    const poor = await makeAccount(store.db, 0);
    const suspended = await makeAccount(store.db, 1, { status: 'suspended' });

    expect((await accepter.accept(poor, [makeDraft()], over())).kind).to.equal('insufficient_credits');
    expect((await accepter.accept(suspended, [makeDraft()], over())).kind).to.equal('account_suspended');
  });

  it('knows a debit that was in time when it is asked again too late', async () => {
    const account = await makeAccount(store.db, 5);
    const group = newId('grp');
    const messages = [queuedMessage(account, group, makeDraft())];
    const request = { account, group, messages, today: '2026-11-21', done: [] };
    const debits = (requests: readonly DebitRequest[]) =>
      debitAnswers({ db: store.db, clock: systemClock, log: silentLog, capped: new Set() }, requests, {
        beganMs: systemClock.monotonicMs(),
        paid: debitEach(store.db, requests),
      });
    await debits([{ ...request, payBy: ahead() }]);

    const [again] = await debits([{ ...request, payBy: over() }]);

    expect(again?.kind).to.equal('paid');
    expect(await balanceOf(account)).to.equal(4);
  });
});

describe('what a debit would say', () => {
  const { store, balanceOf } = debitWorld();

  const rows: readonly [string, number, Partial<AccountDocument>, string | undefined][] = [
    ['nothing against it', 2, {}, undefined],
    ['too few credits', 1, {}, 'insufficient_credits'],
    ['a suspended account', 2, { status: 'suspended' }, 'account_suspended'],
    ['expired credits', 2, { expiryDate: '2026-11-20' }, 'credits_expired'],
    ['the last day of the credits', 2, { expiryDate: '2026-11-21' }, undefined],
  ];
  for (const [what, credits, overrides, kind] of rows) {
    it(`is told without a debit: ${what}`, async () => {
      const account = await makeAccount(store.db, credits, overrides);

      const refused = await wouldRefuse(store.db, account, 2, '2026-11-21');

      expect(refused?.kind).to.equal(kind);
      expect(await balanceOf(account)).to.equal(credits);
    });
  }
});

describe('finding what was accepted', () => {
  const { store, recover } = debitWorld();

  it('finds a message that is paid and not stored yet, when it is a line, and when it is stored, and for its account only', async () => {
    const account = await makeAccount(store.db, 5);
    const stranger = await makeAccount(store.db, 5);
    const group = newId('grp');
    const message = queuedMessage(account, group, makeDraft());
    const find = (who: AccountId) => findAccepted(store.db, who, message._id);
    expect(await find(account)).to.equal(undefined);

    const messages = [queuedMessage(account, group, makeDraft()), message];
    await debitEach(store.db, [{ account, group, messages, today: '2026-11-21', done: [] }]);
    const pending = await find(account);
    await recover();
    const waiting = await find(account);
    expect(await store.db.collection<MessageDocument>('messages').countDocuments({ _id: message._id })).to.equal(0);
    await writeOutAll(store.db);
    const stored = await find(account);

    expect(pending).to.include({ _id: message._id, to: message.to });
    expect(waiting).to.include({ _id: message._id, to: message.to });
    expect(stored).to.deep.equal({ _id: message._id, to: message.to });
    expect(await find(stranger)).to.equal(undefined);
  });
});
