import request from 'supertest';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { paySchedule } from '../../../support/schedules.ts';

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
