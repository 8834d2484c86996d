import { once } from 'node:events';
import { connect } from 'node:net';
import request from 'supertest';
import type { ProblemSlug } from '../../../gateway/http/problem.ts';
import { makeKey, useGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { expectProblem } from '../../support/problem.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { useStore } from '../../support/store.ts';

const GOOD = '{"to":"919876543210","message":"Grüße","sender":"HARKRA"}';
const JSON_TYPE = 'application/json';
const FIVE_MB = 5 * 1024 * 1024;

describe('request bodies', () => {
  const store = useStore();
  const gateway = useGateway(store);
  let key: string;
  before(async () => {
    key = await makeKey(store.db, await makeAccount(store.db, 100));
  });

  async function messages(): Promise<number> {
    return (await store.db.collection('messages').find().toArray()).length;
  }

  /** Sends unchanged bytes; an undefined header is left out. */
  async function post(body: string | Buffer, headers: Record<string, string | undefined> = {}) {
    const all = {
      Host: 'x',
      Authorization: `Bearer ${key}`,
      'Content-Type': JSON_TYPE,
      'Content-Length': String(Buffer.byteLength(body)),
      Connection: 'close',
      ...headers,
    };
    const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
    const answer = await rawRequest(gateway.port, [`POST /v2/send HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, body]);
    return { ...answer, body: JSON.parse(answer.body) };
  }

  const accepted: readonly [string, string | Buffer, Record<string, string | undefined>][] = [
    ['as it should be', GOOD, {}],
    ['with a charset', GOOD, { 'Content-Type': 'application/json; charset=utf-8' }],
    ['with a charset in capitals and quotes', GOOD, { 'Content-Type': 'Application/JSON;charset="UTF-8"' }],
    ['with blanks around', ` \r\n\t${GOOD}\n`, {}],
  ];
  for (const [what, body, headers] of accepted) {
    it(`200: JSON ${what}`, async () => {
      expect((await post(body, headers)).status).to.equal(200);
    });
  }

  it('200: JSON in chunks that cut a character in two', async () => {
    const bytes = Buffer.from(GOOD);
    const cut = bytes.indexOf(0xc3) + 1; // inside the two octets of ü
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
    const chunked = pieces.map((piece) =>
      Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
    );
    const whole = Buffer.concat([...chunked, Buffer.from('0\r\n\r\n')]);

    const answer = await post(whole, { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' });

    expect(answer.status).to.equal(200);
    const stored = await store.db.collection('messages').findOne({ _id: answer.body.message_id });
    expect(stored?.text).to.equal('Grüße');
  });

  const chunked = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${JSON_TYPE}\r\n` +
    'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n';

  it('200: JSON in chunks of one byte', async () => {
    const pieces = [...GOOD.replace('üß', 'ue')].map((letter) => `1\r\n${letter}\r\n`).join('');

    expect((await rawRequest(gateway.port, [`${chunked('/v2/send')}${pieces}0\r\n\r\n`])).status).to.equal(200);
  });

  it('200: a long body in small chunks', async () => {
    const piece = ' '.repeat(20);
    const blanks = `14\r\n${piece}\r\n`.repeat(2_000);
    const body = `${blanks}${Buffer.byteLength(GOOD).toString(16)}\r\n${GOOD}\r\n0\r\n\r\n`;

    expect((await rawRequest(gateway.port, [chunked('/v2/send'), body])).status).to.equal(200);
  });

  it('413: a body too large in chunks, told once', async () => {
    const piece = `400\r\n${' '.repeat(1_024)}\r\n`.repeat(64);
    const pieces = Array.from({ length: 200 }, () => piece);

    const answer = await rawRequest(gateway.port, [chunked('/v2/send-bulk'), ...pieces]);

    expect(answer.status).to.equal(413);
  });

  it('200: says "100 Continue" to a caller who asks first', async () => {
    const answer = await rawRequest(gateway.port, [
      `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${JSON_TYPE}\r\n` +
        `Content-Length: ${Buffer.byteLength(GOOD)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
      GOOD,
    ]);

    expect(answer.status).to.equal(100);
    expect(answer.bytes).to.include('HTTP/1.1 200 OK');
  });

  for (const [size, padding] of [
    ['small', 0],
    ['large', 70_000],
  ] as const) {
    it(`400: names the byte order mark of a ${size} body, which nobody sees in a quote`, async () => {
      const body = `\ufeff${JSON.stringify({ to: ['919876543210'], message: 'x', sender: 'HARKRA' })}${' '.repeat(padding)}`;

      const answer = await request(gateway.url)
        .post('/v2/send-bulk')
        .set({ Authorization: `Bearer ${key}`, 'Content-Type': JSON_TYPE })
        .send(body);

      expectProblem(answer, 'malformed_body');
      expect(answer.body.detail).to.include('Send UTF-8 without it');
    });
  }

  it('400: a large list is told that it must be an object, not that it is too large', async () => {
    const entry = { to: '919876543210', message: 'x', sender: 'HARKRA' };

    const answer = await request(gateway.url)
      .post('/v2/send-bulk')
      .set({ Authorization: `Bearer ${key}`, 'Content-Type': JSON_TYPE })
      .send(JSON.stringify(Array.from({ length: 2_000 }, () => entry)));

    expectProblem(answer, 'malformed_body');
    expect(answer.body.detail).to.equal('The body must be one JSON object, not an array.');
  });

  const refused: readonly [string, string | Buffer, Record<string, string | undefined>, ProblemSlug][] = [
    ['nothing', '', {}, 'malformed_body'],
    ['nothing, without a type', '', { 'Content-Type': undefined }, 'malformed_body'],
    ['blanks', '  ', {}, 'malformed_body'],
    ['half an object', '{"to":"919876543210",', {}, 'malformed_body'],
    ['text', 'hello', {}, 'malformed_body'],
    ['single quotes', "{'to':'919876543210'}", {}, 'malformed_body'],
    ['a comma too many', '{"to":"919876543210",}', {}, 'malformed_body'],
    ['NaN', '{"to":NaN}', {}, 'malformed_body'],
    ['two objects', '{}{}', {}, 'malformed_body'],
    ['a list', `[${GOOD}]`, {}, 'malformed_body'],
    ['null', 'null', {}, 'malformed_body'],
    ['a string', '"x"', {}, 'malformed_body'],
    ['a number', '1', {}, 'malformed_body'],
    ['60,000 brackets', '['.repeat(60_000), {}, 'malformed_body'],
    ['10,000 nested objects', '{"a":'.repeat(10_000), {}, 'malformed_body'],
    ['Latin-1', Buffer.from(GOOD, 'latin1'), {}, 'malformed_body'],
    ['a cut character', Buffer.from('{"message":"\xe0\xa4"}', 'latin1'), {}, 'malformed_body'],
    ['a surrogate in UTF-8', Buffer.from('{"message":"\xed\xa0\x80"}', 'latin1'), {}, 'malformed_body'],
    ['UTF-16', Buffer.from(GOOD, 'utf16le'), { 'Content-Type': `${JSON_TYPE}; charset=utf-16` }, 'malformed_body'],
    ['another charset', GOOD, { 'Content-Type': `${JSON_TYPE}; charset=iso-8859-1` }, 'malformed_body'],
    ['no type', GOOD, { 'Content-Type': undefined }, 'unsupported_media_type'],
    ['an empty type', GOOD, { 'Content-Type': '' }, 'unsupported_media_type'],
    ['a form', 'to=919876543210', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'unsupported_media_type'],
    ['text/plain', GOOD, { 'Content-Type': 'text/plain' }, 'unsupported_media_type'],
    ['JSON patch', GOOD, { 'Content-Type': 'application/json-patch+json' }, 'unsupported_media_type'],
    ['gzip', GOOD, { 'Content-Encoding': 'gzip' }, 'unsupported_media_type'],
    ['one byte too many', 'x'.repeat(65_537), {}, 'body_too_large'],
    ['5 MB', `{"message":"${'x'.repeat(FIVE_MB)}"}`, {}, 'body_too_large'],
  ];
  for (const [what, body, headers, slug] of refused) {
    it(`${slug}: ${what}`, async () => {
      const before = await messages();

      const answer = await post(body, headers);

      expectProblem(answer, slug);
      expect(await messages()).to.equal(before);
    });
  }

  it('body_too_large: 5 MB in chunks', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;

    const answer = await post(`${chunk.repeat(80)}0\r\n\r\n`, {
      'Content-Length': undefined,
      'Transfer-Encoding': 'chunked',
    });

    expectProblem(answer, 'body_too_large');
    expect(answer.headers.connection).to.equal('close');
  });

  it('body_too_large: says so before the body comes, and closes', async () => {
    const answer = await post('', { 'Content-Length': String(FIVE_MB), Connection: 'keep-alive' });

    expectProblem(answer, 'body_too_large');
    expect(answer.headers.connection).to.equal('close');
  });

  it('401: a caller without a key has no large body read, and the connection is closed', async () => {
    const answer = await post('', {
      Authorization: undefined,
      'Content-Length': String(FIVE_MB),
      Connection: 'keep-alive',
    });

    expectProblem(answer, 'key_missing');
    expect(answer.headers.connection).to.equal('close');
  });

  it('401: a caller without a key who sends 5 MB gets its answer', async () => {
    const answer = await post('x'.repeat(FIVE_MB), { Authorization: undefined });

    expectProblem(answer, 'key_missing');
  });

  it('401: who asks first is not told to continue', async () => {
    const answer = await post('', { Authorization: undefined, 'Content-Length': '10', Expect: '100-continue' });

    expectProblem(answer, 'key_missing');
    expect(answer.headers.connection).to.equal('close');
  });

  it('takes a body of exactly 64 KB', async () => {
    const body = GOOD + ' '.repeat(65_536 - Buffer.byteLength(GOOD));

    expect((await post(body)).status).to.equal(200);
  });

  it('serves on after a caller left in the middle of a body', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${JSON_TYPE}\r\n` +
        'Content-Length: 100\r\nExpect: 100-continue\r\n\r\n{',
    );
    await once(socket, 'data'); // "100 Continue": the body is being read
    socket.resetAndDestroy();

    const answer = await request(gateway.url).get('/healthz');

    expect(answer.status).to.equal(200);
  });
});
