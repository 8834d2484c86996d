import type { ChildProcess } from 'node:child_process';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { type Booking, type ScheduleDocument, scheduledMessageId } from '../../../shared/messages/schedule.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../shared/money/payment/accept.ts';
import { cancelSchedule } from '../../../shared/money/payment/cancel-schedule.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { makeAccount } from '../../support/make.ts';
import { makeBooking } from '../../support/schedules.ts';
import { silentLog } from '../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';
import { ended, WorkerProcesses } from '../../support/worker-processes.ts';

const DAY_MS = 24 * 3_600_000;

describe('schedules worker: process', () => {
  const workers = new WorkerProcesses('background');
  let store: TestStore;

  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(async () => {
    await workers.killAll();
    await store.close();
  });

  const schedules = () => store.db.collection<ScheduleDocument>('schedules');
  const messages = () => store.db.collection<MessageDocument>('messages');
  const inMs = (ms: number): Date => new Date(Date.now() + ms);
  /** A full second, so that all is due at one alarm. */
  const secondFromNow = (seconds: number): Date => new Date((Math.floor(Date.now() / 1_000) + seconds) * 1_000);

  const startProcess = (): Promise<ChildProcess> => workers.start(store);

  async function stop(child: ChildProcess): Promise<void> {
    child.kill('SIGINT');
    await ended(child);
    expect(child.exitCode).to.equal(0);
  }

  async function book(credits: number, bookings: readonly Booking[]): Promise<AccountId> {
    const account = await makeAccount(store.db, credits);
    const booker = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
    const outcomes = await Promise.all(bookings.map((booking) => booker.book(account, booking)));
    expect(outcomes.every(({ kind }) => kind === 'accepted')).to.equal(true);
    return account;
  }
  const sent = (account: AccountId) => schedules().countDocuments({ account, state: 'sent' });

  async function expectEachOnce(account: AccountId, bookings: readonly Booking[]): Promise<void> {
    const made = await messages().find({ account }).toArray();
    expect(made.map(({ _id }) => _id)).to.have.members(bookings.map(scheduledMessageId));
    expect(await sent(account)).to.equal(bookings.length);
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 0, problems: [] });
  }

  it('releases each at its time, not before, and stops on SIGINT with nothing left in hand', async () => {
    const bookings = [makeBooking(inMs(2_500)), makeBooking(secondFromNow(4)), makeBooking(inMs(200))];
    const account = await book(4, [...bookings, makeBooking(inMs(34 * DAY_MS))]);

    const child = await startProcess();
    await eventually(async () => (await sent(account)) === 3, 'the three are sent');

    for (const { at, releasedAt } of await schedules().find({ account, state: 'sent' }).toArray()) {
      expect(Number(releasedAt)).to.be.at.least(at.getTime() - 1);
    }
    await eventually(async () => (await store.db.collection('alarms').countDocuments({})) === 0, 'no alarm is left');
    await stop(child);
    expect(await messages().countDocuments({ account })).to.equal(3);
    expect(await schedules().countDocuments({ account, state: 'scheduled' })).to.equal(1);
  });

  it('releases after its restart what came due while it was down', async () => {
    const child = await startProcess();
    child.kill('SIGKILL');
    await ended(child);
    const bookings = Array.from({ length: 20 }, () => makeBooking(inMs(200)));
    const account = await book(20, bookings);
    await eventually(() => bookings.every(({ at }) => at < new Date()), 'their time has come');
    expect(await sent(account)).to.equal(0);

    await startProcess();
    await eventually(async () => (await sent(account)) === 20, 'they are sent');

    await expectEachOnce(account, bookings);
  });

  it('two processes release none twice', async () => {
    const at = secondFromNow(6);
    const bookings = Array.from({ length: 1_500 }, () => makeBooking(at));
    const [one, two] = await Promise.all([startProcess(), startProcess()]);
    const account = await book(1_500, bookings);

    await eventually(async () => (await sent(account)) === 1_500, 'all are sent');

    await expectEachOnce(account, bookings);
    await Promise.all([stop(one), stop(two)]);
  });

  it('kill -9 in the middle of a release, again and again: none is lost, none is doubled', async () => {
    const account = await book(
      3_000,
      Array.from({ length: 3_000 }, () => makeBooking(inMs(100))),
    );
    const bookings = await schedules().find({ account }).toArray();

    for (let kills = 0; kills < 3; kills++) {
      const before = await messages().countDocuments({ account });
      const child = await startProcess();
      await eventually(async () => (await messages().countDocuments({ account })) > before, 'releasing');
      child.kill('SIGKILL');
      await ended(child);
    }
    await startProcess();
    await eventually(async () => (await sent(account)) === 3_000, 'all are sent');

    const made = await messages().find({ account }).toArray();
    expect(made.map(({ _id }) => _id)).to.have.members(bookings.map(scheduledMessageId));
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 0, problems: [] });
  });

  it('cancels while two processes release: each is sent, or its credit is back', async () => {
    const at = secondFromNow(6);
    const bookings = Array.from({ length: 500 }, () => makeBooking(at));
    await Promise.all([startProcess(), startProcess()]);
    const account = await book(500, bookings);
    await eventually(async () => (await sent(account)) > 0, 'releasing');

    const answers = await Promise.all(
      bookings.toReversed().map(({ _id }) => cancelSchedule(store.db, systemClock, account, _id)),
    );

    const cancelled = answers.filter(({ kind }) => kind === 'cancelled').length;
    await eventually(async () => (await sent(account)) === 500 - cancelled, 'the others are sent');
    expect(await messages().countDocuments({ account })).to.equal(500 - cancelled);
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: cancelled, problems: [] });
  });
});
