import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { isStoreTrouble } from '../../../../shared/platform/mongo/errors.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { holdInserts } from '../../../support/held-inserts.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { linesOf } from '../../../support/queue.ts';
import { makeBooking } from '../../../support/schedules.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { debitWorld } from './world.ts';

/** The most open groups of one account, including the one that waits for room. */
const OPEN_MAX = 65;

describe('an accept whose messages the store does not take yet', () => {
  const { store, accounts, balanceOf, problemsOf, recover } = debitWorld();
  const storedOf = async (account: AccountId) => (await linesOf(store.db, account)).length;
  const pendingOf = async (account: AccountId): Promise<number> =>
    Object.keys((await accounts().findOne({ _id: account }))?.pending ?? {}).length;
  const open = () => {
    const { db, release } = holdInserts(store.db, 'queue');
    return { accepter: new GroupAccepter({ db, clock: systemClock, log: silentLog }), release };
  };

  it('is answered as soon as it is paid; the messages follow', async () => {
    const account = await makeAccount(store.db, 5);
    const { accepter, release } = open();

    expect(await accepter.accept(account, [makeDraft()])).to.deep.equal({ kind: 'accepted', credits: 1 });
    expect({ stored: await storedOf(account), balance: await balanceOf(account) }).to.deep.equal({
      ...{ stored: 0, balance: 4 },
    });
    release();

    await accepter.settled();
    expect(await storedOf(account)).to.equal(1);
    expect(await problemsOf(account)).to.deep.equal([]);
  });

  it('loses nothing when its process dies after the answer', async () => {
    const account = await makeAccount(store.db, 5);
    await open().accepter.accept(account, [makeDraft(), makeDraft()]);

    await recover();

    expect(await storedOf(account)).to.equal(2);
    expect(await pendingOf(account)).to.equal(0);
    expect(await problemsOf(account)).to.deep.equal([]);
  });

  it('of a schedule waits: whoever cancels it next finds it', async () => {
    const account = await makeAccount(store.db, 5);
    const { db, release } = holdInserts(store.db, 'schedules');
    const accepter = new GroupAccepter({ db, clock: systemClock, log: silentLog });
    let answered = false;
    const booked = accepter.book(account, makeBooking(new Date(Date.now() + 3_600_000))).then((outcome) => {
      answered = true;
      return outcome;
    });
    await eventually(async () => (await balanceOf(account)) === 4, 'it is paid');

    expect(answered).to.equal(false);
    release();

    expect((await booked).kind).to.equal('accepted');
    expect(await store.db.collection('schedules').countDocuments({ account })).to.equal(1);
  });

  it('adds a bounded number of groups to its account, and is then refused without being paid, until there is room', async () => {
    const account = await makeAccount(store.db, 100);
    const { accepter, release } = open();
    for (let i = 1; i < OPEN_MAX; i++) await accepter.accept(account, [makeDraft()]);

    const last = accepter.accept(account, [makeDraft()]);
    await eventually(async () => (await pendingOf(account)) === OPEN_MAX, 'one more is paid');
    const beyond = await accepter.accept(account, [makeDraft()]).catch((error: unknown) => error);

    expect((await last).kind, 'it was paid').to.equal('accepted');
    expect(isStoreTrouble(beyond), 'a 503').to.equal(true);
    expect(await pendingOf(account)).to.equal(OPEN_MAX);
    expect(await balanceOf(account)).to.equal(100 - OPEN_MAX);
    const other = await makeAccount(store.db, 1);
    expect((await accepter.accept(other, [makeDraft()])).kind).to.equal('accepted');
    release();
    await accepter.settled();

    expect((await accepter.accept(account, [makeDraft()])).kind).to.equal('accepted');
    await accepter.settled();
    expect(await storedOf(account)).to.equal(OPEN_MAX + 1);
    expect(await problemsOf(account)).to.deep.equal([]);
  });
});
