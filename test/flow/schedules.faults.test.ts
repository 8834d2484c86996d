import type { MessageDocument } from '../../shared/messages/document/message.ts';
import { type ScheduleDocument, scheduledMessageId } from '../../shared/messages/schedule.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { batchMessageRange, type ScheduleId } from '../../shared/platform/runtime/ids.ts';
import { within } from '../../shared/platform/runtime/within.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, useProduct } from '../support/product.ts';

const SETTLED_MS = 120_000;
const SINGLE = 240;
const PER_BATCH = 300;
/** A request without an answer by then is lost: a connection on its way to a killed gateway is never answered. */
const LOST_MS = 20_000;
/** Longer than booking and cancelling take, even with a lost request each. */
const AHEAD_MS = 50_000;

const isOk = (answer: Answer | undefined): answer is Answer => answer?.status === 200;

describe('schedules while gateway and schedules worker are killed', function () {
  this.timeout(SETTLED_MS * 2);
  const product = useProduct();
  /** Undefined: the request's process was killed. */
  let booked: (Answer | undefined)[];
  let cancelled: Map<ScheduleId, number>;
  let schedules: ScheduleDocument[];
  let messages: MessageDocument[];

  before(async () => {
    const { db } = product;
    const stored = db.collection<ScheduleDocument>('schedules');
    const time = `${new Date(Date.now() + AHEAD_MS).toISOString().slice(0, 19)}Z`;
    const book = (to: string | string[]) =>
      product.post('/v2/schedule', { to, message: 'Later', sender: 'HARKRA', schedule_time: time });

    const numbers = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => `9170${String(from + i).padStart(5, '0')}000`);
    const asked = [
      ...numbers(0, SINGLE).map((to) => book(to)),
      book(numbers(1_000, PER_BATCH)),
      book(numbers(2_000, PER_BATCH)),
    ].map((answer) => within(LOST_MS, answer).catch(() => undefined));
    await eventually(() => stored.findOne({}), 'a schedule', SETTLED_MS);
    await product.kill('gateway');
    booked = await Promise.all(asked);

    // Every third schedule, with the last of the bulk ones.
    const ids = (
      await stored
        .find({}, { projection: { _id: 1 } })
        .sort({ _id: -1 })
        .toArray()
    ).map(({ _id }) => _id);
    const chosen = ids.filter((_, i) => i % 3 === 0);
    const cancels = chosen.map((id) => within(LOST_MS, product.delete(`/v2/schedule/${id}`)).catch(() => undefined));
    await eventually(() => stored.findOne({ state: 'cancelled' }), 'a cancelled schedule', SETTLED_MS);
    await product.kill('gateway');
    await Promise.all(cancels);
    // Requests without an answer are repeated; answered ones may be.
    const again = await Promise.all(chosen.map((id) => product.delete(`/v2/schedule/${id}`)));
    cancelled = new Map(chosen.map((id, i) => [id, again[i]?.status ?? 0]));

    for (let kills = 0; kills < 2; kills++) {
      const before = await stored.countDocuments({ state: { $in: ['sending', 'sent'] } });
      await eventually(
        async () =>
          (await stored.countDocuments({ state: { $in: ['sending', 'sent'] } })) > before || (await due()) === 0,
        'releasing',
        SETTLED_MS,
      );
      await product.kill('background');
    }
    await eventually(
      async () => {
        const states = ['queued', 'submitting', 'waiting', 'sent'];
        const open = await db.collection('messages').countDocuments({ state: { $in: states } });
        const batches = await db.collection('batches').countDocuments({ state: { $in: ['booked', 'paid'] } });
        // Waiting lines have no messages yet.
        const lines = await db.collection('queue').countDocuments({ removeAt: { $exists: false } });
        const left = { due: await due(), open, lines, batches, pending: await pending() };
        if (Object.values(left).every((count) => count === 0)) return true;
        throw new Error(JSON.stringify(left));
      },
      'all settled',
      SETTLED_MS,
    );
    schedules = await stored.find({}).toArray();
    messages = await db.collection<MessageDocument>('messages').find({}).toArray();

    function due(): Promise<number> {
      return stored.countDocuments({ due: { $exists: true } });
    }
    function pending(): Promise<number> {
      return db.collection('accounts').countDocuments({ pendingAt: { $exists: true } });
    }
  });

  it('nothing that was answered with 200 is lost', () => {
    const ids = new Set(schedules.map(({ _id }) => String(_id)));
    const lost = booked.filter(isOk).filter(({ body }) => !ids.has(String(body.schedule_id)));

    expect(booked.filter(isOk)).to.not.be.empty;
    expect(lost).to.deep.equal([]);
  });

  it('each is cancelled, or sent', () => {
    for (const { _id, state } of schedules) {
      const answer = cancelled.get(_id);
      expect(state, `${_id}, cancelled with ${answer}`).to.equal(answer === 200 ? 'cancelled' : 'sent');
      if (answer !== undefined) expect(answer).to.be.oneOf([200, 409]);
    }
    expect([...cancelled.values()]).to.include(200);
  });

  it('what was sent is delivered, one message for each recipient, and nothing else is a message', async () => {
    const sent = schedules.filter(({ state }) => state === 'sent');
    const wanted = sent.filter(({ batch }) => batch === undefined).map((one) => String(scheduledMessageId(one)));
    const made = messages.map(({ _id }) => String(_id));
    for (const { batch, credits } of sent) {
      if (batch === undefined) continue;
      const { $gte, $lte } = batchMessageRange(batch);
      const own = made.filter((id) => id >= $gte && id <= $lte);
      expect(own).to.have.length(credits);
      wanted.push(...own);
    }

    expect(made).to.have.members(wanted);
    expect(messages.filter(({ state }) => state !== 'delivered')).to.deep.equal([]);
    expect(new Set(messages.map(({ to }) => to)).size).to.equal(messages.length);
  });

  it('the account paid for what was sent, once, and for nothing else', async () => {
    const { db, account, credits } = product;
    const spent = schedules.filter(({ state }) => state === 'sent').reduce((sum, one) => sum + one.credits, 0);

    const now = await db.collection<AccountDocument>('accounts').findOne({ _id: account });

    expect(now?.balance).to.equal(credits - spent);
    expect(await verifyLedger(db, account)).to.deep.include({ problems: [] });
  });
});
