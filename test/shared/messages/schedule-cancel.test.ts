import { REDO_MS, scheduledMessageId } from '../../../shared/messages/schedule.ts';
import { cancelSchedule } from '../../../shared/money/payment/cancel-schedule.ts';
import { makeAccount } from '../../support/make.ts';
import { at, scheduleWorld } from '../../support/schedule-world.ts';
import { makeBooking } from '../../support/schedules.ts';

describe('schedules: cancel', () => {
  const world = scheduleWorld();
  const { schedules, messages, book, release, messagesOf, expectWholeLedger } = world;

  it('refunds once, however often it is asked', async () => {
    const account = await makeAccount(world.store.db, 1);
    const booking = makeBooking(at(60));
    await book(account, booking);

    const first = await cancelSchedule(world.store.db, world.clock, account, booking._id);
    const second = await cancelSchedule(world.store.db, world.clock, account, booking._id);

    expect(first).to.deep.equal({ kind: 'cancelled', credits: 1, again: false });
    expect(second).to.deep.equal({ kind: 'cancelled', credits: 1, again: true });
    await expectWholeLedger(account, 1);
    const refunds = await world.store.db.collection('ledger').find({ account, reason: 'refund' }).toArray();
    expect(refunds).to.have.length(1);
    expect(refunds[0]).to.include({ reference: booking._id, change: `ref_${booking._id}`, amount: 1 });
    const stored = await schedules().findOne({ _id: booking._id });
    expect(stored).to.not.have.any.keys('due');
    expect(stored).not.to.have.nested.property('content.message.text');
  });

  it('refunds once when many ask at the same moment', async () => {
    const account = await makeAccount(world.store.db, 1);
    const booking = makeBooking(at(60));
    await book(account, booking);

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => cancelSchedule(world.store.db, world.clock, account, booking._id)),
    );

    expect(answers.map(({ kind }) => kind)).to.deep.equal(answers.map(() => 'cancelled'));
    expect(answers.filter((answer) => answer.kind === 'cancelled' && !answer.again)).to.have.length(1);
    await expectWholeLedger(account, 1);
  });

  it('is never released afterwards', async () => {
    const account = await makeAccount(world.store.db, 1);
    const booking = makeBooking(at(60));
    await book(account, booking);
    await cancelSchedule(world.store.db, world.clock, account, booking._id);

    world.clock.turn(3_600_000);

    expect(await release()).to.deep.equal({ found: 0, released: 0 });
    expect(await messagesOf(account)).to.deep.equal([]);
  });

  for (const done of [false, true]) {
    it(`is finished by the worker when its gateway died ${done ? 'after' : 'before'} the refund: refunded once`, async () => {
      const account = await makeAccount(world.store.db, 1);
      const booking = makeBooking(at(60));
      await book(account, booking);
      if (done) await cancelSchedule(world.store.db, world.clock, account, booking._id);
      const due = new Date(world.clock.now().getTime() + REDO_MS);
      await schedules().updateOne({ _id: booking._id }, { $set: { state: 'cancelled', due } });

      world.clock.turn(REDO_MS);
      expect(await release()).to.deep.equal({ found: 1, released: 0 });

      expect(await release()).to.deep.equal({ found: 0, released: 0 });
      await expectWholeLedger(account, 1);
    });
  }

  it('and release at the same moment, 300 times: each is either sent or refunded', async () => {
    const rounds = 300;
    const account = await makeAccount(world.store.db, rounds);
    const bookings = Array.from({ length: rounds }, (_, i) => makeBooking(at(i + 1)));
    await book(account, ...bookings);

    let refunded = 0;
    for (const [i, booking] of bookings.entries()) {
      world.clock.turn(1_000);
      // A release sends two commands, a cancel one. With 0 to 3 pings before it, the cancel meets either of them.
      const cancel = async () => {
        for (let lead = i % 4; lead > 0; lead--) await world.store.db.command({ ping: 1 });
        return cancelSchedule(world.store.db, world.clock, account, booking._id);
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
