import { expect } from 'chai';
import { type Booking, bookedSchedule } from '../../../shared/messages/schedule.ts';
import { cancelSchedule } from '../../../shared/money/payment/cancel-schedule.ts';
import { debitEach } from '../../../shared/money/payment/debit.ts';
import { findBooked } from '../../../shared/money/payment/find-booked.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { at, scheduleWorld } from '../../support/schedule-world.ts';
import { makeBooking } from '../../support/schedules.ts';

describe('schedules: booking', () => {
  const world = scheduleWorld();
  const { schedules, accounts, accepter, book, balanceOf, messagesOf, expectWholeLedger } = world;

  it('debits at once, stores the schedule and makes no message', async () => {
    const account = await makeAccount(world.store.db, 3);
    const booking = makeBooking(at(60));

    await book(account, booking);

    expect(await balanceOf(account)).to.equal(2);
    expect(await schedules().findOne({ _id: booking._id })).to.deep.include({
      account,
      state: 'scheduled',
      at: booking.at,
      due: booking.at,
      credits: 1,
      content: booking.content,
    });
    expect(await messagesOf(account)).to.deep.equal([]);
    await expectWholeLedger(account, 2);
  });

  it('goes in one debit with messages and other bookings, each paid once', async () => {
    const account = await makeAccount(world.store.db, 100);
    const both = accepter();

    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        i % 2 === 0 ? both.book(account, makeBooking(at(60))) : both.accept(account, [makeDraft()]),
      ),
    );

    expect(await schedules().countDocuments({ account, state: 'scheduled' })).to.equal(20);
    expect(await messagesOf(account)).to.have.length(20);
    await expectWholeLedger(account, 60);
  });

  it('spends the last credit once, on a message or a booking', async () => {
    const account = await makeAccount(world.store.db, 5);
    const both = accepter();

    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0 ? both.book(account, makeBooking(at(60))) : both.accept(account, [makeDraft()]),
      ),
    );

    expect(outcomes.filter(({ kind }) => kind === 'accepted')).to.have.length(5);
    expect(outcomes.filter(({ kind }) => kind === 'insufficient_credits')).to.have.length(15);
    const stored = (await messagesOf(account)).length + (await schedules().countDocuments({ account }));
    expect(stored).to.equal(5);
    await expectWholeLedger(account, 0);
  });

  it('is finished by the maintenance when the gateway died after the debit', async () => {
    const account = await makeAccount(world.store.db, 2);
    const booking = makeBooking(at(60));
    await payOnly(account, booking);

    await finishPending(world.store.db, new ManualClock(new Date(Date.now() + 3_600_000)));

    expect(await schedules().findOne({ _id: booking._id })).to.deep.include({ account, state: 'scheduled' });
    expect(await accounts().findOne({ _id: account })).not.to.have.property('pending');
    await expectWholeLedger(account, 1);
  });

  it('is found by its id, and can be cancelled, while only the debit has happened', async () => {
    const account = await makeAccount(world.store.db, 2);
    const booking = makeBooking(at(60));
    await payOnly(account, booking);

    const found = await findBooked(world.store.db, account, booking._id);
    const cancelled = await cancelSchedule(world.store.db, world.clock, account, booking._id);
    await finishPending(world.store.db, new ManualClock(new Date(Date.now() + 3_600_000)));

    expect(found).to.deep.include({ _id: booking._id, scheduledFor: booking.scheduledFor });
    expect(cancelled).to.include({ kind: 'cancelled' });
    expect(await schedules().findOne({ _id: booking._id })).to.include({ state: 'cancelled' });
    await expectWholeLedger(account, 2);
  });

  it('is cancelled and refunded although nobody has stored it yet', async () => {
    const account = await makeAccount(world.store.db, 2);
    const booking = makeBooking(at(60));
    await payOnly(account, booking);

    const cancelled = await cancelSchedule(world.store.db, world.clock, account, booking._id);
    await finishPending(world.store.db, new ManualClock(new Date(Date.now() + 3_600_000)));

    expect(cancelled).to.deep.equal({ kind: 'cancelled', credits: 1, again: false });
    expect(await schedules().findOne({ _id: booking._id })).to.include({ state: 'cancelled' });
    await expectWholeLedger(account, 2);
  });

  it('is not found by another account, nor when it was never paid', async () => {
    const [account, other] = [await makeAccount(world.store.db, 1), await makeAccount(world.store.db, 1)];
    const booking = makeBooking(at(60));
    await book(account, booking);

    expect(await findBooked(world.store.db, other, booking._id)).to.equal(undefined);
    expect(await findBooked(world.store.db, account, newId('sch'))).to.equal(undefined);
  });

  /** Stores what a gateway leaves behind when it dies right after the debit. */
  async function payOnly(account: AccountId, booking: Booking): Promise<void> {
    const group = newId('grp');
    const paid = [bookedSchedule(account, group, booking)];
    await debitEach(world.store.db, [{ account, group, messages: [], schedules: paid, today: '2026-11-21', done: [] }]);
  }
});
