import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { create } from '../../../gateway/dashboard/client/api/http.ts';

describe("create, the dashboard's POST that makes something", () => {
  let server: Server;
  let url: string;
  let answers: (readonly [number, object])[];
  let keys: unknown[];
  beforeEach((done) => {
    keys = [];
    server = createServer((req, res) => {
      keys.push(req.headers['idempotency-key']);
      const answer = answers.shift();
      if (answer === undefined) return void res.destroy();
      res.writeHead(answer[0], { 'Content-Type': 'application/json' }).end(JSON.stringify(answer[1]));
    }).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/send`;
      done();
    });
  });
  afterEach((done) => {
    server.close(done);
    server.closeAllConnections();
  });
  const press = () =>
    create<object>(url, { to: '919876543210' }).then(
      () => 'made',
      (problem) => problem.code,
    );

  it('after a lost answer, has the same key until one is accepted: refusals of the second press say nothing of the first', async () => {
    answers = [];
    expect(await press()).to.equal('no_connection');
    answers = [
      [409, { code: 'idempotency_in_flight' }],
      [429, { code: 'rate_limited' }],
      [503, { code: 'store_unavailable' }],
      [200, {}],
      [200, {}],
    ];

    const pressed = [await press(), await press(), await press(), await press(), await press()];

    expect(pressed).to.deep.equal(['idempotency_in_flight', 'rate_limited', 'store_unavailable', 'made', 'made']);
    expect(new Set(keys.slice(0, 5)).size).to.equal(1);
    expect(keys[5]).to.be.a('string').and.not.equal(keys[0]);
  });
});
