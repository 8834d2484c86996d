import { MongoClient } from 'mongodb';
import request from 'supertest';
import type { LogFields } from '../../shared/platform/runtime/log.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { openCountingDb } from '../support/counting-db.ts';
import { makeKey, openGateway, type TestGateway } from '../support/gateway.ts';
import { makeAccount } from '../support/make.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { expectProblem } from '../support/problem.ts';
import { silentLog } from '../support/silent-log.ts';
import { useStore } from '../support/store.ts';

describe('the gateway', () => {
  const lines: { event: string; fields: LogFields }[] = [];
  const metrics = new Metrics();
  const store = useStore();
  let gateway: TestGateway;
  before(async () => {
    const record = (event: string, fields: LogFields = {}) => void lines.push({ event, fields });
    const log = { ...silentLog, info: record, warn: record, error: record };
    gateway = await openGateway(store.db, { log, metrics });
  });
  after(() => gateway.close());

  describe('404', () => {
    for (const path of [
      '/',
      '/v2',
      '/v2/',
      '/v2/send/',
      '/V2/SEND',
      '/v2//send',
      '/v1/send',
      '/v2/send%2f',
      '/favicon.ico',
      '/%ff',
      // On its own port (gateway/metrics.ts).
      '/metrics',
    ]) {
      it(`not_found: ${path}`, async () => {
        expectProblem(await request(gateway.url).get(path), 'not_found');
      });
    }
  });

  describe('405', () => {
    const rows: readonly [string, string, string][] = [
      ['GET', '/v2/send', 'POST'],
      ['PUT', '/v2/send', 'POST'],
      ['OPTIONS', '/v2/send', 'POST'],
      ['POST', '/v2/balance', 'GET, HEAD'],
      ['DELETE', '/v2/status/msg_1', 'GET, HEAD'],
      ['POST', '/healthz', 'GET, HEAD'],
    ];
    for (const [method, path, allow] of rows) {
      it(`method_not_allowed: ${method} ${path}`, async () => {
        const answer = await fetch(gateway.url + path, { method });

        const headers = Object.fromEntries(answer.headers);
        expectProblem({ status: answer.status, headers, body: await answer.json() }, 'method_not_allowed');
        expect(headers.allow).to.equal(allow);
      });
    }
  });

  describe('the request id', () => {
    it("is the caller's when it is sane", async () => {
      const answer = await request(gateway.url).get('/healthz').set('X-Request-Id', 'order-7:try_2.1');

      expect(answer.headers['x-request-id']).to.equal('order-7:try_2.1');
    });

    for (const given of ['', 'with blank', '<script>', 'x'.repeat(129), 'é', '{"a":1}']) {
      it(`is a new one instead of ${given.slice(0, 20)}`, async () => {
        const answer = await fetch(`${gateway.url}/nowhere`, {
          headers: { 'X-Request-Id': Buffer.from(given).toString('latin1') },
        });

        expect(answer.headers.get('x-request-id')).to.match(/^req_[0-9a-z]{26}$/);
      });
    }
  });

  describe('every answer', () => {
    for (const path of ['/healthz', '/nowhere', '/v2/balance']) {
      it(`carries helmet's headers and says nothing of the software: ${path}`, async () => {
        const { headers } = await request(gateway.url).get(path);

        expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
        expect(headers).to.have.property('strict-transport-security');
        expect(headers['content-security-policy']).to.include("default-src 'none'");
        for (const absent of ['x-powered-by', 'etag', 'server']) expect(headers).not.to.have.property(absent);
      });
    }

    it('has no body for HEAD', async () => {
      const answer = await request(gateway.url).head('/healthz');

      expect(answer.status).to.equal(200);
      expect(answer.text ?? '').to.equal('');
    });
  });

  describe('the access log', () => {
    it('has one line per request, without text, numbers, query or key', async () => {
      const account = await makeAccount(store.db, 1);
      const key = await makeKey(store.db, account);
      lines.length = 0;

      const answer = await request(gateway.url)
        .post('/v2/send')
        .set('Authorization', `Bearer ${key}`)
        .set('X-Request-Id', 'trace-1')
        .send({ to: '919876543210', message: 'verysecret', sender: 'HARKRA' });

      await request(gateway.url)
        .get('/v2/messages?to=447700900123&sender=verysecret')
        .set('Authorization', `Bearer ${key}`)
        .expect(200);

      expect(lines).to.have.length(2);
      const [line, list] = lines;
      expect(list?.fields).to.include({ method: 'GET', route: '/v2/messages', status: 200 });
      expect(line?.event).to.equal('request');
      expect(line?.fields).to.include({
        method: 'POST',
        route: '/v2/send',
        status: 200,
        account,
        message_id: answer.body.message_id,
        request_id: 'trace-1',
        key_id: key.split('_')[2],
      });
      expect(line?.fields.ms).to.be.a('number');
      const written = JSON.stringify(lines);
      for (const secret of ['verysecret', '919876543210', '447700900123', key.slice(-64)]) {
        expect(written).not.to.include(secret);
      }
    });

    it('names no path that matched nothing', async () => {
      lines.length = 0;

      await request(gateway.url).get('/v2/status/919876543210/919876543210');

      expect(lines.map((line) => line.fields.route)).to.deep.equal(['none']);
    });
  });

  describe('health', () => {
    it('/healthz: the process lives', async () => {
      const answer = await request(gateway.url).get('/healthz');

      expect(answer.body).to.deep.equal({ status: 'ok' });
    });

    it('/readyz: the store answers', async () => {
      const answer = await request(gateway.url).get('/readyz');

      expect(answer.body).to.deep.equal({ status: 'ready' });
    });

    it('/readyz is 503 while the store is away, /healthz is not', async () => {
      // Nothing listens on port 1. The driver looks for a server longer than readyz waits.
      const away = new MongoClient('mongodb://127.0.0.1:1/', { serverSelectionTimeoutMS: 15_000 });
      const cutOff = await openGateway(away.db('none'));

      const ready = await request(cutOff.url).get('/readyz');
      const lives = await request(cutOff.url).get('/healthz');

      expectProblem(ready, 'store_unavailable');
      expect(ready.headers['retry-after']).to.match(/^\d+$/);
      expect(lives.status).to.equal(200);
      await cutOff.close();
      await away.close();
    });

    it('/readyz asks the store a few times a second, however many ask', async () => {
      const clock = new ManualClock();
      const counted = openCountingDb(store);
      const site = await openGateway(counted.db, { clock });
      const many = () => Promise.all(Array.from({ length: 50 }, () => request(site.url).get('/readyz')));

      const answers = [...(await many()), ...(await many())];
      const first = counted.sent('update');
      clock.turn(1_000);
      await many();

      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(first).to.equal(1);
      expect(counted.sent('update')).to.equal(2);
      await site.close();
      await counted.close();
    });
  });
});
