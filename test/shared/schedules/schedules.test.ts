import { expect } from 'chai';
import { findPaidBatch } from '../../../gateway/sms/find-paid-batch.ts';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import type { BatchDocument } from '../../../shared/batches/batch.ts';
import { findOpen } from '../../../shared/batches/store.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { GroupAccepter } from '../../../shared/payment/accept.ts';
import { cancelSchedule } from '../../../shared/payment/cancel-schedule.ts';
import { debitEach } from '../../../shared/payment/debit.ts';
import { findBooked } from '../../../shared/payment/find-booked.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { type AccountId, type BatchId, newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import {
  type Booking,
  bookedSchedule,
  REDO_MS,
  type ScheduleDocument,
  scheduledBatchId,
  scheduledMessageId,
} from '../../../shared/schedules/schedule.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { pruneUnpaid } from '../../../workers/maintenance/pruning/unpaid-batches.ts';
import { releaseDue } from '../../../workers/schedules/release.ts';
import { makeBatch, storeBatch } from '../../support/batches.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { makeBooking } from '../../support/schedules.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const START = new Date('2026-11-21T10:00:00Z');
const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1_000);

describe('schedules', () => {
  let store: TestStore;
  let clock: ManualClock;
  before(async () => {
    store = await openTestStore();
  });
  beforeEach(async () => {
    clock = new ManualClock(START);
    await schedules().deleteMany({});
  });
  after(() => store.close());

  const schedules = () => store.db.collection<ScheduleDocument>('schedules');
  const messages = () => store.db.collection<MessageDocument>('messages');
  const accounts = () => store.db.collection<AccountDocument>('accounts');
  const accepter = () => new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });

  async function book(account: AccountId, ...bookings: Booking[]): Promise<void> {
    const booker = accepter();
    const outcomes = await Promise.all(bookings.map((booking) => booker.book(account, booking)));
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(bookings.map(() => 'accepted'));
  }
  const release = () => releaseDue(store.db, clock, clock.now());
  const balanceOf = async (account: AccountId) => (await accounts().findOne({ _id: account }))?.balance;
  const messagesOf = (account: AccountId) => messages().find({ account }).toArray();
  const expectWholeLedger = async (account: AccountId, balance: number) =>
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance, problems: [] });

  describe('booking', () => {
    it('debits at once, stores the schedule and makes no message', async () => {
      const account = await makeAccount(store.db, 3);
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
      const account = await makeAccount(store.db, 100);
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
      const account = await makeAccount(store.db, 5);
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

    it('is finished by the sweep when the gateway died after the debit', async () => {
      const account = await makeAccount(store.db, 2);
      const booking = makeBooking(at(60));
      await payOnly(account, booking);

      await finishPending(store.db, new ManualClock(new Date(Date.now() + 3_600_000)));

      expect(await schedules().findOne({ _id: booking._id })).to.deep.include({ account, state: 'scheduled' });
      expect(await accounts().findOne({ _id: account })).not.to.have.property('pending');
      await expectWholeLedger(account, 1);
    });

    it('is found by its id, and can be cancelled, while only the debit has happened', async () => {
      const account = await makeAccount(store.db, 2);
      const booking = makeBooking(at(60));
      await payOnly(account, booking);

      const found = await findBooked(store.db, account, booking._id);
      const cancelled = await cancelSchedule(store.db, clock, account, booking._id);
      await finishPending(store.db, new ManualClock(new Date(Date.now() + 3_600_000)));

      expect(found).to.deep.include({ _id: booking._id, scheduledFor: booking.scheduledFor });
      expect(cancelled).to.include({ kind: 'cancelled' });
      expect(await schedules().findOne({ _id: booking._id })).to.include({ state: 'cancelled' });
      await expectWholeLedger(account, 2);
    });

    it('is cancelled and refunded although nobody has stored it yet', async () => {
      const account = await makeAccount(store.db, 2);
      const booking = makeBooking(at(60));
      await payOnly(account, booking);

      const cancelled = await cancelSchedule(store.db, clock, account, booking._id);
      await finishPending(store.db, new ManualClock(new Date(Date.now() + 3_600_000)));

      expect(cancelled).to.deep.equal({ kind: 'cancelled', credits: 1, again: false });
      expect(await schedules().findOne({ _id: booking._id })).to.include({ state: 'cancelled' });
      await expectWholeLedger(account, 2);
    });

    it('is not found by another account, nor when it was never paid', async () => {
      const [account, other] = [await makeAccount(store.db, 1), await makeAccount(store.db, 1)];
      const booking = makeBooking(at(60));
      await book(account, booking);

      expect(await findBooked(store.db, other, booking._id)).to.equal(undefined);
      expect(await findBooked(store.db, account, newId('sch'))).to.equal(undefined);
    });

    /** The debit of a gateway that dies right after it. */
    async function payOnly(account: AccountId, booking: Booking): Promise<void> {
      const group = newId('grp');
      const paid = [bookedSchedule(account, group, booking)];
      await debitEach(store.db, [{ account, group, messages: [], schedules: paid, today: '2026-11-21', done: [] }]);
    }
  });

  describe('release', () => {
    it("makes a queued message of what is due, in the booking's words, with the id fixed at booking", async () => {
      const account = await makeAccount(store.db, 2);
      const words = { lane: 3, path: 'promotional', route: 'promotional', reference: 'order 7' } as const;
      const booking = makeBooking(at(60), words);
      await book(account, booking, makeBooking(at(61)));

      clock.turn(60_000);
      const { released } = await release();

      expect(released).to.equal(1);
      const [message, ...others] = await messagesOf(account);
      expect(others).to.deep.equal([]);
      expect(message).to.deep.include({
        ...words,
        _id: scheduledMessageId(booking),
        account,
        to: '919876543210',
        sender: 'HARKRA',
        text: 'hello',
        state: 'queued',
      });
      const schedule = await schedules().findOne({ _id: booking._id });
      expect(schedule).to.include({ state: 'sent' });
      expect(schedule).to.not.have.any.keys('due', 'content');
      await expectWholeLedger(account, 0);
    });

    it('does nothing before its time', async () => {
      const account = await makeAccount(store.db, 1);
      await book(account, makeBooking(at(60)));

      clock.turn(59_999);

      expect(await release()).to.deep.equal({ found: 0, released: 0 });
      expect(await messagesOf(account)).to.deep.equal([]);
    });

    it('counts the validity from the release, or ends it when the caller said', async () => {
      const account = await makeAccount(store.db, 2);
      await book(account, makeBooking(at(60), { validUntil: at(7_200) }), makeBooking(at(60)));

      clock.turn(3_600_000);
      await release();

      const ends = (await messagesOf(account)).map(({ validUntil }) => validUntil.toISOString());
      expect(ends).to.have.members([at(7_200).toISOString(), at(3_600 + 48 * 3_600).toISOString()]);
    });

    it('releases what was paid for also when the account is suspended since', async () => {
      const account = await makeAccount(store.db, 1);
      await book(account, makeBooking(at(1)));
      await accounts().updateOne({ _id: account }, { $set: { status: 'suspended' } });

      clock.turn(60_000);
      await release();

      expect(await messagesOf(account)).to.have.length(1);
    });

    it('releases a group that several workers find at the same moment once', async () => {
      const account = await makeAccount(store.db, 600);
      await book(account, ...Array.from({ length: 600 }, () => makeBooking(at(60))));

      clock.turn(60_000);
      const workers = await Promise.all(Array.from({ length: 4 }, () => releaseAll()));

      expect(workers.reduce((sum, released) => sum + released, 0)).to.equal(600);
      expect(await messagesOf(account)).to.have.length(600);
      expect(await schedules().countDocuments({ account, state: 'sent' })).to.equal(600);
      await expectWholeLedger(account, 0);
    });

    it('does again what a worker left between claim and message, and writes the same', async () => {
      const account = await makeAccount(store.db, 2);
      const [before, after] = [makeBooking(at(1)), makeBooking(at(1))];
      await book(account, before, after);
      clock.turn(60_000);
      await release();
      const made = await messagesOf(account);
      await messages().deleteOne({ _id: scheduledMessageId(before) });
      const left = {
        state: 'sending',
        releasedAt: clock.now(),
        due: new Date(clock.now().getTime() + REDO_MS),
      } as const;
      for (const { _id, content } of [before, after]) {
        await schedules().updateOne({ _id }, { $set: { ...left, content } });
      }

      expect(await release()).to.deep.equal({ found: 0, released: 0 });
      clock.turn(REDO_MS);
      await release();

      expect(await messagesOf(account)).to.have.deep.members(made);
      expect(await schedules().countDocuments({ account, state: 'sent' })).to.equal(2);
      await expectWholeLedger(account, 0);
    });

    async function releaseAll(): Promise<number> {
      let sum = 0;
      for (;;) {
        const { found, released } = await release();
        if (found === 0) return sum;
        sum += released;
      }
    }
  });

  describe('of a bulk request', () => {
    const batches = () => store.db.collection<BatchDocument>('batches');
    const chunks = () => store.db.collection('batch_chunks');

    async function bookBatch(account: AccountId, total: number): Promise<Booking & { readonly batch: BatchId }> {
      const { content: _, ...booking } = makeBooking(at(60));
      const batch = scheduledBatchId(booking);
      await storeBatch(store.db, makeBatch(account, total, { _id: batch }));
      const content = { kind: 'batch', total, validity: { validForMs: 3_600_000 } } as const;
      await book(account, { ...booking, content });
      return { ...booking, content, batch };
    }

    it('debits all recipients at once; the batch waits, and no worker or sweep touches it', async () => {
      const account = await makeAccount(store.db, 1_500);
      const { _id, batch } = await bookBatch(account, 1_200);

      expect(await batches().findOne({ _id: batch })).to.not.have.property('unpaid');
      await pruneUnpaid(store.db, new ManualClock(at(40 * 86_400)));

      expect(await batches().findOne({ _id: batch })).to.include({ state: 'booked' });
      expect(await findOpen(store.db, 10)).to.deep.equal([]);
      expect(await findPaidBatch(store.db, account, batch)).to.equal(undefined);
      expect(await schedules().findOne({ _id })).to.include({ credits: 1_200, batch });
      await expectWholeLedger(account, 300);
    });

    it('hands the batch on at its time, to be sent as if it was paid then', async () => {
      const account = await makeAccount(store.db, 1_200);
      const { _id, batch } = await bookBatch(account, 1_200);

      clock.turn(60_000);
      await release();
      await release();

      const schedule = await schedules().findOne({ _id });
      expect(schedule).to.include({ state: 'sent', batch });
      const open = await findOpen(store.db, 10);
      expect(open).to.have.length(1);
      expect(open[0]).to.deep.include({ _id: batch, state: 'paid', group: schedule?.group, validUntil: at(3_660) });
      await batches().deleteMany({});
      await chunks().deleteMany({});
    });

    it('is refunded as a whole when it is cancelled, and its recipients are forgotten', async () => {
      const account = await makeAccount(store.db, 1_200);
      const { _id, batch } = await bookBatch(account, 1_200);

      const cancelled = await cancelSchedule(store.db, clock, account, _id);
      await cancelSchedule(store.db, clock, account, _id);
      clock.turn(60_000);
      await release();

      expect(cancelled).to.deep.equal({ kind: 'cancelled', credits: 1_200, again: false });
      expect(await batches().findOne({ _id: batch })).to.equal(null);
      expect(await chunks().countDocuments({})).to.equal(0);
      await expectWholeLedger(account, 1_200);
    });
  });

  describe('cancel', () => {
    it('refunds once, however often it is asked', async () => {
      const account = await makeAccount(store.db, 1);
      const booking = makeBooking(at(60));
      await book(account, booking);

      const first = await cancelSchedule(store.db, clock, account, booking._id);
      const second = await cancelSchedule(store.db, clock, account, booking._id);

      expect(first).to.deep.equal({ kind: 'cancelled', credits: 1, again: false });
      expect(second).to.deep.equal({ kind: 'cancelled', credits: 1, again: true });
      await expectWholeLedger(account, 1);
      const refunds = await store.db.collection('ledger').find({ account, reason: 'refund' }).toArray();
      expect(refunds).to.have.length(1);
      expect(refunds[0]).to.include({ reference: booking._id, change: `ref_${booking._id}`, amount: 1 });
      expect(await schedules().findOne({ _id: booking._id })).to.not.have.any.keys('due', 'content');
    });

    it('refunds once when many ask at the same moment', async () => {
      const account = await makeAccount(store.db, 1);
      const booking = makeBooking(at(60));
      await book(account, booking);

      const answers = await Promise.all(
        Array.from({ length: 10 }, () => cancelSchedule(store.db, clock, account, booking._id)),
      );

      expect(answers.map(({ kind }) => kind)).to.deep.equal(answers.map(() => 'cancelled'));
      expect(answers.filter((answer) => answer.kind === 'cancelled' && !answer.again)).to.have.length(1);
      await expectWholeLedger(account, 1);
    });

    it('is never released afterwards', async () => {
      const account = await makeAccount(store.db, 1);
      const booking = makeBooking(at(60));
      await book(account, booking);
      await cancelSchedule(store.db, clock, account, booking._id);

      clock.turn(3_600_000);

      expect(await release()).to.deep.equal({ found: 0, released: 0 });
      expect(await messagesOf(account)).to.deep.equal([]);
    });

    it('is too late once it is released', async () => {
      const account = await makeAccount(store.db, 1);
      const booking = makeBooking(at(60));
      await book(account, booking);
      clock.turn(60_000);
      await release();

      expect(await cancelSchedule(store.db, clock, account, booking._id)).to.deep.equal({ kind: 'released' });
      await expectWholeLedger(account, 0);
    });

    it('knows no schedule of another account', async () => {
      const [account, other] = [await makeAccount(store.db, 1), await makeAccount(store.db, 1)];
      const booking = makeBooking(at(60));
      await book(account, booking);

      expect(await cancelSchedule(store.db, clock, other, booking._id)).to.deep.equal({ kind: 'unknown' });
      expect(await cancelSchedule(store.db, clock, account, newId('sch'))).to.deep.equal({ kind: 'unknown' });
      expect(await schedules().findOne({ _id: booking._id })).to.include({ state: 'scheduled' });
    });

    for (const done of [false, true]) {
      it(`is finished by the worker when its gateway died ${done ? 'after' : 'before'} the refund: refunded once`, async () => {
        const account = await makeAccount(store.db, 1);
        const booking = makeBooking(at(60));
        await book(account, booking);
        if (done) await cancelSchedule(store.db, clock, account, booking._id);
        const due = new Date(clock.now().getTime() + REDO_MS);
        await schedules().updateOne({ _id: booking._id }, { $set: { state: 'cancelled', due } });

        clock.turn(REDO_MS);
        expect(await release()).to.deep.equal({ found: 1, released: 0 });

        expect(await release()).to.deep.equal({ found: 0, released: 0 });
        await expectWholeLedger(account, 1);
      });
    }

    it('and release at the same moment, 300 times: each is either sent or refunded', async function () {
      this.timeout(60_000);
      const rounds = 300;
      const account = await makeAccount(store.db, rounds);
      const bookings = Array.from({ length: rounds }, (_, i) => makeBooking(at(i + 1)));
      await book(account, ...bookings);

      let refunded = 0;
      for (const [i, booking] of bookings.entries()) {
        clock.turn(1_000);
        // A release asks the store twice, a cancel once: it starts now level with the one, now with the other.
        const cancel = async () => {
          for (let lead = i % 4; lead > 0; lead--) await store.db.command({ ping: 1 });
          return cancelSchedule(store.db, clock, account, booking._id);
        };
        const [answer] = await Promise.all([cancel(), release()]);
        const sent = (await messages().findOne({ _id: scheduledMessageId(booking) })) !== null;

        expect(sent, `round ${i}`).to.equal(answer.kind === 'released');
        if (!sent) refunded++;
        if (i % 50 === 0) await expectWholeLedger(account, refunded);
      }

      expect(refunded, 'both won some').to.be.within(1, rounds - 1);
      expect(await schedules().countDocuments({ account, state: 'sent' })).to.equal(rounds - refunded);
      expect(await schedules().countDocuments({ account, due: { $exists: true } })).to.equal(0);
      await expectWholeLedger(account, refunded);
    });
  });
});
