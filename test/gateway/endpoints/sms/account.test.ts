import request from 'supertest';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { importTemplates } from '../../../../shared/templates/sms/import-csv.ts';
import { createTemplate, decideTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { makeKey, useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { useStore } from '../../../support/store.ts';

describe('GET /v2/balance', () => {
  const store = useStore();
  const gateway = useGateway(store);

  it('answers exactly the three fields of the specification', async () => {
    const account = await makeAccount(store.db, 42, { currency: 'EUR', expiryDate: '2027-06-30' });

    const answer = await request(gateway.url)
      .get('/v2/balance')
      .set('Authorization', `Bearer ${await makeKey(store.db, account)}`);

    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ balance: 42, currency: 'EUR', expiry_date: '2027-06-30' });
  });

  it('still answers a suspended account', async () => {
    const account = await makeAccount(store.db, 7, { status: 'suspended' });

    const answer = await request(gateway.url)
      .get('/v2/balance')
      .set('Authorization', `Bearer ${await makeKey(store.db, account)}`);

    expect(answer.body.balance).to.equal(7);
  });
});

describe('GET /v2/templates', () => {
  const store = useStore();
  const gateway = useGateway(store);

  const read = (key: string): request.Test =>
    request(gateway.url).get('/v2/templates').set('Authorization', `Bearer ${key}`);

  it('answers id, name and content of the account’s approved templates, by id, and nothing else', async () => {
    const account = await makeAccount(store.db, 0);
    const other = await makeAccount(store.db, 0);
    const content = 'Hi {#var#}\nyour order {#numeric#} — नमस्ते';
    const second = makeTemplate({ dltId: '1107160000000000002', name: 'Order', content, senders: ['A', 'B'] });
    for (const template of [second, makeTemplate()]) await createTemplate(store.db, systemClock, account, template);
    const submitted = makeTemplate({ dltId: '1107160000000000003', status: 'submitted' });
    await createTemplate(store.db, systemClock, account, submitted);
    await createTemplate(store.db, systemClock, other, makeTemplate({ dltId: '1107160000000000004' }));

    const answer = await read(await makeKey(store.db, account, ['read']));

    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({
      templates: [
        { id: '1107160000000000001', name: 'Greeting', content: 'Hi {#var#}' },
        { id: '1107160000000000002', name: 'Order', content },
      ],
    });
  });

  it('with `limit` it answers page by page; whole it counts as one request for each 500', async () => {
    const account = await makeAccount(store.db, 0);
    const key = await makeKey(store.db, account);
    const ids = Array.from({ length: 501 }, (_, n) => String(1_107_160_000_000_000 + n));
    const all = ids.map((dltId) => makeTemplate({ dltId }));
    await importTemplates(store.db, systemClock, account, all);
    const auth = (query: string) =>
      request(gateway.url).get(`/v2/templates${query}`).set('Authorization', `Bearer ${key}`);
    const left = ({ headers }: { headers: Record<string, string> }) =>
      Number(/r=(\d+)/.exec(headers.ratelimit ?? '')?.[1]);

    const page = await auth('?limit=400').expect(200);
    expect(page.body.templates.map(({ id }: { id: string }) => id)).to.deep.equal(ids.slice(0, 400));
    expect(page.body.has_more).to.equal(true);
    const rest = await auth(`?cursor=${page.body.next_cursor}&limit=101`).expect(200);
    expect(rest.body.templates.map(({ id }: { id: string }) => id)).to.deep.equal(ids.slice(400));
    expect(rest.body).to.include({ has_more: false, next_cursor: null });
    const whole = await auth('').expect(200);
    expect(Object.keys(whole.body)).to.deep.equal(['templates']);
    expect(whole.body.templates).to.have.length(501);
    expect(left(rest) - left(whole)).to.equal(2);
    for (const bad of ['?limit=0', '?limit=501', '?cursor=abc', '?page=2']) {
      expectProblem(await auth(bad), 'invalid_request');
    }
  });

  it('shows an approval and a rejection at once', async () => {
    const account = await makeAccount(store.db, 0);
    const key = await makeKey(store.db, account);
    await createTemplate(store.db, systemClock, account, makeTemplate({ status: 'submitted' }));
    const ids = async (): Promise<string[]> => (await read(key)).body.templates.map((one: { id: string }) => one.id);

    expect(await ids()).to.deep.equal([]);
    await decideTemplate(store.db, systemClock, account, '1107160000000000001', 'approved');
    expect(await ids()).to.deep.equal(['1107160000000000001']);
    await decideTemplate(store.db, systemClock, account, '1107160000000000001', 'rejected');
    expect(await ids()).to.deep.equal([]);
  });
});
