import { queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { claimDue, findDue, REDO_MS, scheduledMessageId } from '../../../shared/messages/schedule.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { DueTurns } from '../../../workers/schedules/release.ts';
import { openCountingDb } from '../../support/counting-db.ts';
import { makeAccount } from '../../support/make.ts';
import { at, scheduleWorld } from '../../support/schedule-world.ts';
import { makeBooking } from '../../support/schedules.ts';

describe('schedules: release', () => {
  const world = scheduleWorld();
  const { schedules, messages, accounts, book, release, messagesOf, expectWholeLedger } = world;

  it("makes a queued message of what is due, in the booking's words, with the id fixed at booking", async () => {
    const account = await makeAccount(world.store.db, 2);
    const words = { lane: 3, path: 'promotional', route: 'promotional', reference: 'order 7' } as const;
    const booking = makeBooking(at(60), words);
    await book(account, booking, makeBooking(at(61)));

    world.clock.turn(60_000);
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
    const [queued] = await queueOf(world.store.db).find({ account }).toArray();
    expect(queued).to.deep.include({ path: 'promotional', lane: 3, open: true, written: true, first: message?._id });
    const schedule = await schedules().findOne({ _id: booking._id });
    expect(schedule).to.include({ state: 'sent' });
    expect(schedule).to.not.have.any.keys('due', 'content');
    await expectWholeLedger(account, 0);
  });

  it('does nothing before its time', async () => {
    const account = await makeAccount(world.store.db, 1);
    await book(account, makeBooking(at(60)));

    world.clock.turn(59_999);

    expect(await release()).to.deep.equal({ found: 0, released: 0 });
    expect(await messagesOf(account)).to.deep.equal([]);
  });

  it('takes only what is due by then, whatever was found before', async () => {
    const account = await makeAccount(world.store.db, 1);
    await book(account, makeBooking(at(60)));
    const found = await findDue(world.store.db, at(60), 10);

    const claim = { id: newId('clm'), now: at(0), upTo: at(59), redoAt: at(10) };
    expect(await claimDue(world.store.db, found, claim)).to.deep.equal([]);
    expect(await schedules().countDocuments({ account, state: 'scheduled' })).to.equal(1);
  });

  it('counts the validity from the release, or ends it when the caller said', async () => {
    const account = await makeAccount(world.store.db, 2);
    await book(account, makeBooking(at(60), { validUntil: at(7_200) }), makeBooking(at(60)));

    world.clock.turn(3_600_000);
    await release();

    const ends = (await messagesOf(account)).map(({ validUntil }) => validUntil.toISOString());
    expect(ends).to.have.members([at(7_200).toISOString(), at(3_600 + 48 * 3_600).toISOString()]);
  });

  it('releases what was paid for also when the account is suspended since', async () => {
    const account = await makeAccount(world.store.db, 1);
    await book(account, makeBooking(at(1)));
    await accounts().updateOne({ _id: account }, { $set: { status: 'suspended' } });

    world.clock.turn(60_000);
    await release();

    expect(await messagesOf(account)).to.have.length(1);
  });

  it('releases a group that several workers find at the same moment once', async () => {
    const account = await makeAccount(world.store.db, 600);
    await book(account, ...Array.from({ length: 600 }, () => makeBooking(at(60))));

    world.clock.turn(60_000);
    const workers = await Promise.all(Array.from({ length: 4 }, () => releaseAll()));

    expect(workers.reduce((sum, released) => sum + released, 0)).to.equal(600);
    expect(await messagesOf(account)).to.have.length(600);
    expect(await schedules().countDocuments({ account, state: 'sent' })).to.equal(600);
    await expectWholeLedger(account, 0);
  });

  it("one account's backlog does not hold up the others", async () => {
    const { db } = world.store;
    const large = await makeAccount(db, 1_000);
    await book(large, ...Array.from({ length: 1_000 }, () => makeBooking(at(60))));
    // Half of the others have only later schedules; they are more than one group reads.
    for (const seconds of [...Array<number>(30).fill(61), ...Array<number>(30).fill(99)]) {
      await book(await makeAccount(db, 1), makeBooking(at(seconds)));
    }

    world.clock.turn(61_000);
    const turns = new DueTurns(db);
    const [one, two] = [await release(turns), await release(turns)];

    expect([one, two]).to.deep.equal(Array(2).fill({ found: 250, released: 250 }));
    expect(await schedules().countDocuments({ account: { $ne: large }, state: 'sent' })).to.equal(30);
    expect(await schedules().countDocuments({ at: at(99), state: 'scheduled' })).to.equal(30);
  });

  it('finds what is due by one read, without a backlog', async () => {
    const counting = openCountingDb(world.store);
    await book(await makeAccount(world.store.db, 1), makeBooking(at(60)));

    expect(await new DueTurns(counting.db).next(at(60))).to.have.length(1);

    expect(counting.sent('find')).to.equal(1);
    await counting.close();
  });

  it('does again what a worker left between claim and message, and writes the same', async () => {
    const account = await makeAccount(world.store.db, 2);
    const [before, after] = [makeBooking(at(1)), makeBooking(at(1))];
    await book(account, before, after);
    world.clock.turn(60_000);
    await release();
    const made = await messagesOf(account);
    await messages().deleteOne({ _id: scheduledMessageId(before) });
    const left = {
      state: 'sending',
      releasedAt: world.clock.now(),
      due: new Date(world.clock.now().getTime() + REDO_MS),
    } as const;
    for (const { _id, content } of [before, after]) {
      await schedules().updateOne({ _id }, { $set: { ...left, content } });
    }

    expect(await release()).to.deep.equal({ found: 0, released: 0 });
    world.clock.turn(REDO_MS);
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
