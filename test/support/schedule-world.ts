import type { MessageDocument } from '../../shared/messages/document/message.ts';
import type { Booking, ScheduleDocument } from '../../shared/messages/schedule.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../shared/money/payment/accept.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { DueTurns, releaseDue } from '../../workers/schedules/release.ts';
import { balanceOf } from './balance.ts';
import { ManualClock } from './manual-clock.ts';
import { writeOutAll } from './queue.ts';
import { silentLog } from './silent-log.ts';
import { useStore } from './store.ts';

export const START = new Date('2026-11-21T10:00:00Z');
export const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1_000);

/** A `describe`'s store and clock; schedules are removed before each test. */
export function scheduleWorld() {
  const store = useStore();
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock(START);
    await schedules().deleteMany({});
  });

  const schedules = () => store.db.collection<ScheduleDocument>('schedules');
  const messages = () => store.db.collection<MessageDocument>('messages');
  const accounts = () => store.db.collection<AccountDocument>('accounts');
  const accepter = () => new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });

  async function book(account: AccountId, ...bookings: Booking[]): Promise<void> {
    const booker = accepter();
    const outcomes = await Promise.all(bookings.map((booking) => booker.book(account, booking)));
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(bookings.map(() => 'accepted'));
  }
  const release = (turns = new DueTurns(store.db)) => releaseDue({ db: store.db, clock, turns }, clock.now());
  const messagesOf = async (account: AccountId) => {
    await writeOutAll(store.db);
    return messages().find({ account }).toArray();
  };
  const expectWholeLedger = async (account: AccountId, balance: number) =>
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance, problems: [] });
  return {
    get store() {
      return store;
    },
    get clock() {
      return clock;
    },
    schedules,
    messages,
    accounts,
    accepter,
    book,
    release,
    balanceOf: (account: AccountId) => balanceOf(store.db, account),
    messagesOf,
    expectWholeLedger,
  };
}
