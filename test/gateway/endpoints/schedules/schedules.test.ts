import request from 'supertest';
import { type ScheduleDocument, scheduledMessageId } from '../../../../shared/messages/schedule.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import type { KeyScope } from '../../../../shared/people/keys/key.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime, newId, type ScheduleId } from '../../../../shared/platform/runtime/ids.ts';
import { DueTurns, releaseDue } from '../../../../workers/schedules/release.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey, useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { expectProblem } from '../../../support/problem.ts';
import { makeBooking, paySchedule } from '../../../support/schedules.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

describe('/v2/schedule/{schedule_id}', () => {
  const store = useStore();
  const gateway = useGateway(store);

  const inAnHour = () => new Date(Math.floor(Date.now() / 1_000) * 1_000 + 3_600_000);

  /** An account without remaining credits, its key, and its schedule in an hour. */
  async function booked(scopes: readonly KeyScope[] = ['send', 'read']) {
    const account = await makeAccount(store.db, 1);
    const booking = makeBooking(inAnHour());
    const outcome = await new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog }).book(
      account,
      booking,
    );
    expect(outcome.kind).to.equal('accepted');
    return { account, booking, id: booking._id, key: await makeKey(store.db, account, scopes) };
  }
  const releaseAll = async (): Promise<void> => {
    const later = new Date(Date.now() + 2 * 3_600_000);
    const deps = { db: store.db, clock: new ManualClock(later), turns: new DueTurns(store.db) };
    while ((await releaseDue(deps, later)).found > 0);
  };
  const cancel = (key: string, id: string) =>
    request(gateway.url).delete(`/v2/schedule/${id}`).set('Authorization', `Bearer ${key}`);
  const state = (key: string, id: string) =>
    request(gateway.url).get(`/v2/schedule/${id}`).set('Authorization', `Bearer ${key}`);
  const expectBalance = async (account: AccountId, balance: number) =>
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance, problems: [] });
  const storedState = async (id: ScheduleId) =>
    (await store.db.collection<ScheduleDocument>('schedules').findOne({ _id: id }))?.state;

  describe('DELETE', () => {
    it('200: cancels and refunds; exactly the two fields', async () => {
      const { account, id, key } = await booked();

      const answer = await cancel(key, id);

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({
        status: 'success',
        message: 'The schedule is cancelled; 1 credit was refunded.',
      });
      expect(await storedState(id)).to.equal('cancelled');
      await expectBalance(account, 1);
    });

    it('200 again on a cancelled one, without a second refund', async () => {
      const { account, id, key } = await booked();
      await cancel(key, id);

      const answers = [await cancel(key, id), await cancel(key, id)];

      for (const answer of answers) {
        expect(answer.status).to.equal(200);
        expect(answer.body).to.have.all.keys('status', 'message');
        expect(answer.body).to.include({ status: 'success' });
      }
      await expectBalance(account, 1);
    });

    it('409 when it is sent: no refund', async () => {
      const { account, id, key } = await booked();
      await releaseAll();

      expectProblem(await cancel(key, id), 'schedule_released');
      expect(await storedState(id)).to.equal('sent');
      await expectBalance(account, 0);
    });

    it('409 while it is being sent', async () => {
      const { account, id, key } = await booked();
      const sending = { state: 'sending', releasedAt: new Date() } as const;
      await store.db.collection<ScheduleDocument>('schedules').updateOne({ _id: id }, { $set: sending });

      expectProblem(await cancel(key, id), 'schedule_released');
      await expectBalance(account, 0);
    });

    it('404 of an unknown one, of another account, and of what is no id', async () => {
      const { account, id, key } = await booked();
      const other = await booked();

      for (const wrong of [other.id, newId('sch'), newId('msg'), 'x', `${id}x`, '%00', '..%2f', '$ne']) {
        expectProblem(await cancel(key, wrong), 'schedule_not_found');
      }
      expect(await storedState(other.id)).to.equal('scheduled');
      await expectBalance(account, 0);
    });
  });

  describe('GET', () => {
    it('200: what is booked, before its time', async () => {
      const { booking, id, key } = await booked();

      const answer = await state(key, id);

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({
        schedule_id: id,
        state: 'scheduled',
        scheduled_for: booking.scheduledFor,
        created_at: `${idTime(id).toISOString().slice(0, 19)}+00:00`,
        credits: 1,
        kind: 'message',
        to: '919876543210',
        sender: 'HARKRA',
        route: 'transactional',
      });
    });

    it('has the message_id after its time, and the status knows it', async () => {
      const { booking, id, key } = await booked();
      await releaseAll();

      const answer = await state(key, id);

      expect(answer.body).to.include({ state: 'sent', message_id: scheduledMessageId(booking) });
      const status = await request(gateway.url)
        .get(`/v2/status/${answer.body.message_id}`)
        .set('Authorization', `Bearer ${key}`);
      expect(status.body).to.include({ status: 'queued', to: '919876543210' });
      expect(status.body.timeline[0]).to.deep.equal({ status: 'queued', at: booking.scheduledFor });
    });

    it('says that it is cancelled, and for whom it was; its text is gone', async () => {
      const { id, key } = await booked();
      const before = await store.db.collection<ScheduleDocument>('schedules').findOne({ _id: id });
      await cancel(key, id);

      const answer = await state(key, id);
      const after = await store.db.collection<ScheduleDocument>('schedules').findOne({ _id: id });

      expect(answer.body).to.include({ state: 'cancelled', to: '919876543210' });
      expect(answer.body).to.not.have.any.keys('message_id', 'batch_id');
      expect(before?.content).to.have.nested.property('message.text');
      expect(after?.content).not.to.have.nested.property('message.text');
    });

    it('404 of an unknown one, of another account, and of what is no id', async () => {
      const { key } = await booked();
      const other = await booked();

      for (const wrong of [other.id, newId('sch'), newId('bat'), 'x']) {
        expectProblem(await state(key, wrong), 'schedule_not_found');
      }
    });
  });
});

const HOUR_MS = 3_600_000;

describe('GET /v2/schedules', () => {
  const site = accountAtGateway(100);

  const ask = (query = '', as = site.key): request.Test =>
    request(site.url).get(`/v2/schedules${query}`).set('Authorization', `Bearer ${as}`);
  const book = async (hours: number, to: string | string[] = '919876543210'): Promise<string> => {
    const answer = await request(site.url)
      .post('/v2/schedule')
      .set('Authorization', `Bearer ${site.key}`)
      .send({ to, message: 'hello', sender: 'HARKRA', schedule_time: new Date(start + hours * HOUR_MS).toISOString() });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body.schedule_id;
  };
  const start = Math.floor(Date.now() / 1_000) * 1_000;
  const idsOf = ({ body }: request.Response): unknown[] =>
    body.data.map((entry: { schedule_id: string }) => entry.schedule_id);
  const walk = async (query: string): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: request.Response = await ask(`${query}${cursor && `&cursor=${cursor}`}`);
      seen.push(...idsOf(page));
      cursor = page.body.next_cursor;
    }
    return seen;
  };
  const cancel = (id: string) =>
    request(site.url).delete(`/v2/schedule/${id}`).set('Authorization', `Bearer ${site.key}`);

  it('all, the newest booking first, with what each holds', async () => {
    const message = await book(5);
    const batch = await book(3, ['919876543210', '919876543211']);

    const { body } = await ask();

    expect(idsOf({ body } as request.Response)).to.deep.equal([batch, message]);
    expect(body.data[0]).to.include({ state: 'scheduled', kind: 'batch', total: 2, sender: 'HARKRA', credits: 2 });
    await cancel(batch).expect(200);
    const { body: after } = await ask();
    expect(after.data[0]).to.include({ state: 'cancelled', kind: 'batch', total: 2, sender: 'HARKRA' });
    expect(body.data[1]).to.include({ kind: 'message', to: '919876543210', sender: 'HARKRA', credits: 1 });
    expect(JSON.stringify(body)).not.to.include('hello');
  });

  it('what waits, the next first, in pages, also when many have the same time', async () => {
    const late = await book(9);
    const same = [await book(5), await book(5), await book(5)];
    const soon = await book(2);
    await cancel(await book(1));
    const expected = [soon, ...same, late];

    expect(idsOf(await ask('?state=scheduled'))).to.deep.equal(expected);
    expect(await walk('?state=scheduled&limit=2')).to.deep.equal(expected);
    expect(idsOf(await ask())).to.have.length(6);
  });

  it('what is paid for and not stored yet in its place, and stores nothing', async () => {
    const pay = (hours: number) => paySchedule(site.db, site.account, new Date(start + hours * HOUR_MS));
    const ids = [await pay(5), await book(5), await pay(5), await book(2), await pay(9), await pay(1)];
    const [a, b, c, soon, late, first] = ids;
    const cancelled = await pay(3);
    await cancel(cancelled);

    for (const limit of [1, 2, 3, 50]) {
      expect(await walk(`?state=scheduled&limit=${limit}`)).to.deep.equal([first, soon, a, b, c, late]);
      expect(await walk(`?limit=${limit}`)).to.deep.equal([cancelled, ...ids.toReversed()]);
    }
    expect((await ask('?limit=1')).body.data[0]).to.include({ state: 'cancelled' });
    const unstored = { _id: { $in: [a, c, late, first].map(String) } };
    expect(await site.db.collection<{ _id: string }>('schedules').countDocuments(unstored)).to.equal(0);
  });

  it("never another account's", async () => {
    await book(1);
    const stranger = await makeKey(site.db, await makeAccount(site.db, 0));

    for (const query of ['', '?state=scheduled']) expect(idsOf(await ask(query, stranger))).to.deep.equal([]);
  });

  it('400: another state, a cursor of the other list', async () => {
    await book(1);
    await book(2);
    const { next_cursor: cursor } = (await ask('?limit=1')).body;

    for (const query of ['?state=sent', `?state=scheduled&cursor=${cursor}`, '?x=1']) {
      expectProblem(await ask(query), 'invalid_request');
    }
  });
});
