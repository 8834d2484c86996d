import request from 'supertest';
import type { RateDocument } from '../../../gateway/access/window.ts';
import { createKey } from '../../../shared/people/keys/store.ts';
import { msAfter } from '../../../shared/platform/mongo/store-time.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { ManyRequests } from '../../support/many-requests.ts';
import { expectProblem } from '../../support/problem.ts';
import { openTestStore } from '../../support/store.ts';
import { use } from '../../support/use.ts';

describe('the rate limit', () => {
  const store = use(openTestStore);
  const one = use(() => openGateway(store.db));
  const two = use(() => openGateway(store.db));

  async function limitedKey(perMinute: number, scopes: readonly ('send' | 'read')[] = ['read']): Promise<string> {
    const account = await makeAccount(store.db, 5);
    return (await createKey(store.db, systemClock, { account, name: 'limited', scopes, perMinute })).key;
  }

  const balance = (gateway: TestGateway, key: string): request.Test =>
    request(gateway.url).get('/v2/balance').set('Authorization', `Bearer ${key}`);

  it('lets exactly 1,000 of 1,500 requests pass that come to two gateways in one window', async () => {
    const key = await makeKey(store.db, await makeAccount(store.db, 0));
    const headers = { Authorization: `Bearer ${key}` };
    const many = new ManyRequests(50);

    const answers = await Promise.all(
      Array.from({ length: 1_500 }, (_, i) =>
        many.send({ url: `${i % 2 === 0 ? one.url : two.url}/v2/balance`, method: 'GET', headers }),
      ),
    );
    many.close();

    expect(answers.filter(({ status }) => status === 200)).to.have.length(1_000);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(500);
    for (const { headers } of refused) expect(Number(headers['retry-after'])).to.be.within(1, 60);
  });

  it('counts a read that costs the store much as several, and refuses it when fewer are left', async () => {
    const key = await limitedKey(12);
    const ask = (path: string) => request(one.url).get(path).set('Authorization', `Bearer ${key}`);
    const told: string[] = [];
    for (const path of ['/v2/events', '/v2/events?limit=500', '/v2/messages?limit=500', '/v2/ledger?limit=251']) {
      const { status, headers } = await ask(path);
      told.push(`${status} ${String(headers.ratelimit).replace(/;t=\d+$/, '')}`);
    }

    const refused = await ask('/v2/events?limit=500');

    expect(told).to.deep.equal(['200 "default";r=11', '200 "default";r=6', '200 "default";r=4', '200 "default";r=2']);
    expectProblem(refused, 'rate_limited');
    expect(refused.body.detail).to.include('counts as 5');
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
    expectProblem(await balance(one, key), 'rate_limited');
  });

  it('counts no read as more than the key may make in a minute: else such a key could never make it', async () => {
    for (const perMinute of [1, 3]) {
      const key = await limitedKey(perMinute);
      const events = () => request(one.url).get('/v2/events?limit=500').set('Authorization', `Bearer ${key}`);

      const first = await events();

      expect(`${first.status} ${first.headers.ratelimit}`).to.match(/^200 "default";r=0;t=\d+$/);
      expectProblem(await events(), 'rate_limited');
    }
  });

  it('counts a body as one request for each 16 KB, before it is read and whatever is wrong with it', async () => {
    const account = await makeAccount(store.db, 5);
    const key = (await createKey(store.db, systemClock, { account, name: 'x', scopes: ['send'], perMinute: 20 })).key;
    const good = '{"to":"919876543210","message":"x","sender":"HARKRA"}';
    const sent: readonly (readonly [path: string, body: string, chunked?: 'chunked'])[] = [
      ['/v2/send', good.padEnd(16_384)],
      ['/v2/send', good.padEnd(16_385)],
      ['/v2/send', 'x'.repeat(65_536)],
      ['/v2/send', 'x'.repeat(65_537)],
      ['/v2/send', '{'.repeat(30_000), 'chunked'],
      ['/v2/send', '{'.repeat(200_000), 'chunked'],
      ['/v2/send-bulk', '{}'.padEnd(100_000)],
      ['/v2/send', good],
    ];
    const told: string[] = [];
    for (const [path, body, chunked] of sent) {
      const answer = await fetch(one.url + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(chunked ? { body: new Blob([body]).stream(), duplex: 'half' as const } : { body }),
      });
      await answer.text();
      told.push(`${answer.status} ${String(answer.headers.get('ratelimit')).replace(/;t=\d+$/, '')}`);
    }

    expect(told).to.deep.equal([
      '200 "default";r=19',
      '200 "default";r=17',
      '400 "default";r=13',
      '413 "default";r=12',
      '400 "default";r=10',
      '413 "default";r=6',
      '429 "default";r=0',
      '429 "default";r=0',
    ]);
  });

  it('tells on every answer what is left, and counts what is refused for other reasons', async () => {
    const key = await limitedKey(6);
    const ask = () => request(one.url);
    const asked = [
      balance(one, key),
      ask().get('/v2/status/msg_1').set('Authorization', `Bearer ${key}`),
      ask().post('/v2/send').set('Authorization', `Bearer ${key}`).send({}),
      ask().get('/v2/balance').set('Authorization', `Bearer ${key}`),
      balance(two, key),
    ];

    const told: string[] = [];
    for (const request of asked) {
      const { status, headers } = await request;
      told.push(`${status} ${headers['ratelimit-policy']} ${String(headers.ratelimit).replace(/t=\d+$/, '')}`);
      expect(headers.ratelimit).to.match(/;t=(60|5\d)$/);
      expect(headers).not.to.have.property('retry-after');
    }

    expect(told).to.deep.equal([
      '200 "default";q=6;w=60 "default";r=5;',
      '404 "default";q=6;w=60 "default";r=4;',
      '403 "default";q=6;w=60 "default";r=3;',
      '200 "default";q=6;w=60 "default";r=2;',
      '200 "default";q=6;w=60 "default";r=1;',
    ]);
  });

  it('tells it also when the body is refused', async () => {
    const key = await limitedKey(5, ['send']);

    const answer = await request(one.url).post('/v2/send').set('Authorization', `Bearer ${key}`).type('text').send('x');

    expectProblem(answer, 'unsupported_media_type');
    expect(answer.headers.ratelimit).to.match(/^"default";r=4;t=\d+$/);
  });

  it('rate_limited: nothing is processed, Retry-After is not shorter than the rest of the window', async () => {
    const account = await makeAccount(store.db, 5);
    const made = await createKey(store.db, systemClock, { account, name: 'x', scopes: ['send'], perMinute: 1 });
    const body = { to: '919876543210', message: 'hello', sender: 'HARKRA' };
    const send = () => request(one.url).post('/v2/send').set('Authorization', `Bearer ${made.key}`).send(body);

    const first = await send();
    const second = await send();

    expect(first.status).to.equal(200);
    expectProblem(second, 'rate_limited');
    const [, rest] = /^"default";r=0;t=(\d+)$/.exec(String(second.headers.ratelimit)) ?? [];
    expect(Number(second.headers['retry-after'])).to.be.within(Number(rest), 60);
    expect(await store.db.collection('messages').countDocuments({ account })).to.equal(1);
  });

  it('lets a key pass again when its minute is over', async () => {
    const key = await limitedKey(1);
    await balance(one, key);
    expectProblem(await balance(two, key), 'rate_limited');

    const id = `key:${key.split('_')[2]}`;
    await store.db
      .collection<RateDocument>('rate')
      .updateOne({ _id: id }, [{ $set: { 'window.start': msAfter('$window.start', -60_000) } }]);

    // A third gateway: the others remember the window before the shift, with nothing left for the key.
    const three = await openGateway(store.db);
    expect((await balance(three, key)).status).to.equal(200);
    await three.close();
  });

  it('counts each key by itself', async () => {
    const account = await makeAccount(store.db, 0);
    const keys = await Promise.all(
      [1, 2].map(() => createKey(store.db, systemClock, { account, name: 'x', scopes: ['read'], perMinute: 1 })),
    );

    const answers = await Promise.all(keys.map(({ key }) => balance(one, key)));

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('counts neither health nor what has no good key, and tells those nothing', async () => {
    for (const asked of [request(one.url).get('/healthz'), request(one.url).get('/v2/balance')]) {
      const { headers } = await asked;
      expect(headers).not.to.have.property('ratelimit');
      expect(headers).not.to.have.property('ratelimit-policy');
    }
  });

  it('is 503, not a free pass, when the store cannot count', async () => {
    const own = await openTestStore();
    const gateway = await openGateway(own.db, { config: { ...TEST_CONFIG, keyCacheMs: 60_000 } });
    const account = await makeAccount(own.db, 5);
    // Too low for allowances, whose events are counted already and would pass without the store.
    const few = { account, name: 'few', scopes: ['send' as const], perMinute: 50 };
    const { key } = await createKey(own.db, systemClock, few);
    // Has an invalid body, so that only the key and the count need the store.
    const send = () => request(gateway.url).post('/v2/send').set('Authorization', `Bearer ${key}`).send({});
    expectProblem(await send(), 'invalid_request');

    await own.close();
    const answer = await send();

    expectProblem(answer, 'store_unavailable');
    expect(answer.headers['retry-after']).to.match(/^\d+$/);
    await gateway.close();
  });
});

describe('requests without a good key', () => {
  const store = use(openTestStore);
  const proxied = { config: { ...TEST_CONFIG, authFailuresPerMinute: 3, trustProxy: ['127.0.0.1'] } };

  const guess = (gateway: TestGateway, from: string, key = 'wrong'): request.Test =>
    request(gateway.url).get('/v2/balance').set('X-Forwarded-For', from).set('Authorization', `Bearer ${key}`);

  it('get 429 with Retry-After after so many in a minute, over all gateways; a good key from there does not', async () => {
    const gateways = [await openGateway(store.db, proxied), await openGateway(store.db, proxied)] as const;
    const good = await makeKey(store.db, await makeAccount(store.db, 1));

    const failures = [];
    for (const i of [0, 1, 0] as const) failures.push(await guess(gateways[i], '203.0.113.7'));
    const limited = await Promise.all(gateways.map((gateway) => guess(gateway, '203.0.113.7')));
    const missing = await request(gateways[0].url).get('/v2/balance').set('X-Forwarded-For', '203.0.113.7');
    const fine = await guess(gateways[0], '203.0.113.7', good);
    const elsewhere = await guess(gateways[0], '203.0.113.8');

    for (const answer of failures) expectProblem(answer, 'key_invalid');
    for (const answer of [...limited, missing]) {
      expectProblem(answer, 'auth_failures_limited');
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
      expect(answer.headers).not.to.have.property('ratelimit');
    }
    expect(fine.status).to.equal(200);
    expectProblem(elsewhere, 'key_invalid');
    for (const gateway of gateways) await gateway.close();
  });

  it('count together for one IPv6 network of 64 bits', async () => {
    const gateway = await openGateway(store.db, proxied);

    for (const last of ['1', '2', 'ffff']) {
      expectProblem(await guess(gateway, `2001:db8:1:2:3:4:5:${last}`), 'key_invalid');
    }

    expectProblem(await guess(gateway, '2001:db8:1:2:ffff::9'), 'auth_failures_limited');
    expectProblem(await guess(gateway, '2001:db8:1:3::1'), 'key_invalid');
    await gateway.close();
  });

  it('cannot choose another address by a header that no trusted proxy wrote', async () => {
    const direct = await openGateway(store.db, { config: { ...proxied.config, trustProxy: [] } });

    for (const from of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) {
      expectProblem(await guess(direct, from), 'key_invalid');
    }

    expectProblem(await guess(direct, '198.51.100.4'), 'auth_failures_limited');
    await direct.close();
  });
});
