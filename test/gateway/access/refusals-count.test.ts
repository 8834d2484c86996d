import { once } from 'node:events';
import { connect } from 'node:net';
import { createKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { openGateway, TEST_CONFIG, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { expectProblem } from '../../support/problem.ts';
import { parseAnswer, type RawAnswer, rawRequest } from '../../support/raw-http.ts';
import { useStore } from '../../support/store.ts';
import { use } from '../../support/use.ts';

const JSON_TYPE = 'Content-Type: application/json';
const LONG = 'x'.repeat(70_000);

/** Every way to refuse a request with a good key: by request line, other headers, or body. */
const REFUSALS: readonly [why: string, code: string, line: string, headers: readonly string[], body?: string][] = [
  ['an unknown path', 'not_found', 'GET /v2/nowhere', []],
  ['an unknown path elsewhere', 'not_found', 'GET /v3/send', []],
  ['an unknown path, posted to', 'not_found', 'POST /v2/nowhere', [JSON_TYPE], '{}'],
  ['a path that cannot be decoded', 'not_found', 'GET /v2/status/%ff', []],
  ['a wrong method', 'method_not_allowed', 'GET /v2/send', []],
  ['a wrong method of a path with two', 'method_not_allowed', 'PUT /v2/schedule/sch_1', []],
  ['a wrong method of a path without keys', 'method_not_allowed', 'POST /healthz', [JSON_TYPE], '{}'],
  ['nothing of that id', 'message_not_found', 'GET /v2/status/msg_1', []],
  ['a bad query', 'invalid_request', 'GET /v2/messages?limit=none', []],
  ['malformed JSON', 'malformed_body', 'POST /v2/send', [JSON_TYPE], '{"to":'],
  ['a bad field', 'invalid_request', 'POST /v2/send', [JSON_TYPE], '{"to":1}'],
  ['too large a body', 'body_too_large', 'POST /v2/send', [JSON_TYPE], LONG],
  ['another type of body', 'unsupported_media_type', 'POST /v2/send', ['Content-Type: text/plain'], 'x'],
  ['a scope that the key has not', 'scope_missing', 'DELETE /v2/batches/bat_1', []],
  ['a body that breaks on its way', 'malformed_request', 'POST /v2/send', [JSON_TYPE, 'Transfer-Encoding: chunked']],
];

describe('what is refused to a good key', () => {
  const store = useStore();
  const gateway = use(() => openGateway(store.db));
  let guessed: TestGateway;
  let account: AccountId;
  before(async () => {
    const config = { ...TEST_CONFIG, authFailuresPerMinute: 2, trustProxy: ['127.0.0.1'] };
    guessed = await openGateway(store.db, { config });
    account = await makeAccount(store.db, 5);
  });
  after(async () => {
    await guessed.close();
  });

  async function keyOf(perMinute: number, ...scopes: ('send' | 'read')[]): Promise<string> {
    return (await createKey(store.db, systemClock, { account, name: 'x', scopes, perMinute })).key;
  }

  function ask(line: string, key: string, headers: readonly string[] = [], body = ''): Promise<RawAnswer> {
    const length = headers.some((one) => one.startsWith('Transfer-')) ? [] : [`Content-Length: ${body.length}`];
    const all = ['Host: x', 'Connection: close', `Authorization: Bearer ${key}`, ...headers, ...length];
    return rawRequest(gateway.port, [`${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`]);
  }

  for (const [why, code, line, headers, body] of REFUSALS) {
    it(`tells what the key has left: ${why}`, async () => {
      const scope = code === 'scope_missing' ? ['read' as const] : (['send', 'read'] as const);
      const key = await keyOf(50, ...scope);
      const broken = headers.some((one) => one.startsWith('Transfer-'));

      const answer = broken ? await askBroken(line, key, headers) : await ask(line, key, headers, body);

      expect(JSON.parse(answer.body)).to.include({ code });
      expect(answer.headers['ratelimit-policy']).to.equal('"default";q=50;w=60');
      expect(answer.headers.ratelimit).to.match(/^"default";r=49;t=\d+$/);
    });
  }

  /** Sends an invalid body once the key has been counted, which "100 Continue" shows. */
  async function askBroken(line: string, key: string, headers: readonly string[]): Promise<RawAnswer> {
    const all = ['Host: x', `Authorization: Bearer ${key}`, ...headers, 'Expect: 100-continue'];
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(`${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`);
    await once(socket, 'data');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    socket.write('no chunk\r\n');
    await once(socket, 'close');
    return parseAnswer(Buffer.concat(received).toString('utf8'));
  }

  for (const line of ['GET /v2/nowhere', 'GET /v2/send', 'GET /v2/status/%ff']) {
    it(`costs what others cost: ${line} is rate_limited beyond the limit`, async () => {
      const key = await keyOf(1, 'read');

      const first = await ask(line, key);
      const second = await ask(line, key);

      expect(first.status).to.be.oneOf([404, 405]);
      expectRefusal(second, 'rate_limited');
      expectRefusal(await ask('GET /v2/balance', key), 'rate_limited');
    });
  }

  it('is no way to try keys: a bad one counts as a failed authentication, whatever the path', async () => {
    const guess = (path: string, key = 'hk_live_wrong') =>
      fetch(guessed.url + path, { headers: { Authorization: `Bearer ${key}`, 'X-Forwarded-For': '203.0.113.60' } });

    const [one, two, three] = [await guess('/v2/nowhere'), await guess('/v2/status/%ff'), await guess('/v2/send')];
    const good = await guess('/v2/nowhere', await keyOf(5, 'read'));
    const none = await fetch(`${guessed.url}/v2/nowhere`, { headers: { 'X-Forwarded-For': '203.0.113.60' } });

    expect([one.status, two.status, three.status]).to.deep.equal([404, 404, 429]);
    for (const { headers } of [one, two, three, none]) expect(headers.get('ratelimit')).to.equal(null);
    expect([good.status, none.status]).to.deep.equal([404, 404]);
  });
});

function expectRefusal(answer: RawAnswer, code: Parameters<typeof expectProblem>[1]): void {
  expectProblem({ status: answer.status, headers: answer.headers, body: JSON.parse(answer.body) }, code);
}
