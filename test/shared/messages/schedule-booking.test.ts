import { findPaidBatch } from '../../../gateway/endpoints/sms/paid-batch-store.ts';
import type { BatchDocument } from '../../../shared/messages/batch.ts';
import { type Booking, bookedSchedule, scheduledBatchId } from '../../../shared/messages/schedule.ts';
import { cancelSchedule } from '../../../shared/money/payment/cancel-schedule.ts';
import { debitEach } from '../../../shared/money/payment/debit.ts';
import { findBooked } from '../../../shared/money/payment/pending.ts';
import { type AccountId, type BatchId, newId } from '../../../shared/platform/runtime/ids.ts';
import { openBatches } from '../../../workers/batches/turns.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { pruneUnpaid } from '../../../workers/maintenance/prune-messages.ts';
import { makeBatch, storeBatch } from '../../support/batches.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { at, scheduleWorld } from '../../support/schedule-world.ts';
import { makeBooking } from '../../support/schedules.ts';

describe('schedules: booking', () => {
  const world = scheduleWorld();
  const { schedules, accounts, accepter, book, messagesOf, expectWholeLedger } = world;

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

  /** As a gateway leaves it that dies right after the debit. */
  async function payOnly(account: AccountId, booking: Booking): Promise<void> {
    const group = newId('grp');
    const paid = [bookedSchedule(account, group, booking)];
    await debitEach(world.store.db, [{ account, group, messages: [], schedules: paid, today: '2026-11-21', done: [] }]);
  }
});

describe('schedules: of a bulk request', () => {
  const world = scheduleWorld();
  const { schedules, book, release, expectWholeLedger } = world;

  const batches = () => world.store.db.collection<BatchDocument>('batches');
  const chunks = () => world.store.db.collection('batch_chunks');

  async function bookBatch(account: AccountId, total: number): Promise<Booking & { readonly batch: BatchId }> {
    const { content: _, ...booking } = makeBooking(at(60));
    const batch = scheduledBatchId(booking);
    await storeBatch(world.store.db, makeBatch(account, total, { _id: batch }));
    const order = { sender: 'HARKRA', route: 'transactional' } as const;
    const content = { kind: 'batch', total, validity: { validForMs: 3_600_000 }, ...order } as const;
    await book(account, { ...booking, content });
    return { ...booking, content, batch };
  }

  it('debits all recipients at once; the batch waits, and no worker and no maintenance touches it', async () => {
    const account = await makeAccount(world.store.db, 1_500);
    const { _id, batch } = await bookBatch(account, 1_200);

    expect(await batches().findOne({ _id: batch })).to.not.have.property('unpaid');
    await pruneUnpaid(world.store.db);

    expect(await batches().findOne({ _id: batch })).to.include({ state: 'booked' });
    expect(await openBatches(world.store.db, { account: '' }).toArray()).to.deep.equal([]);
    expect(await findPaidBatch(world.store.db, account, batch)).to.equal(undefined);
    expect(await schedules().findOne({ _id })).to.include({ credits: 1_200, batch });
    await expectWholeLedger(account, 300);
  });

  it('hands the batch on at its time, to be sent as if it was paid then', async () => {
    const account = await makeAccount(world.store.db, 1_200);
    const { _id, batch } = await bookBatch(account, 1_200);

    world.clock.turn(60_000);
    await release();
    await release();

    const schedule = await schedules().findOne({ _id });
    expect(schedule).to.include({ state: 'sent', batch });
    const open = await openBatches(world.store.db, { account: '' }).toArray();
    expect(open).to.have.length(1);
    expect(open[0]).to.deep.include({ _id: batch, state: 'paid', group: schedule?.group, validUntil: at(3_660) });
    await batches().deleteMany({});
    await chunks().deleteMany({});
  });

  it('is refunded as a whole when it is cancelled, and its recipients are forgotten', async () => {
    const account = await makeAccount(world.store.db, 1_200);
    const { _id, batch } = await bookBatch(account, 1_200);

    const cancelled = await cancelSchedule(world.store.db, world.clock, account, _id);
    await cancelSchedule(world.store.db, world.clock, account, _id);
    world.clock.turn(60_000);
    await release();

    expect(cancelled).to.deep.equal({ kind: 'cancelled', credits: 1_200, again: false });
    expect(await batches().findOne({ _id: batch })).to.equal(null);
    expect(await chunks().countDocuments({})).to.equal(0);
    await expectWholeLedger(account, 1_200);
  });
});
