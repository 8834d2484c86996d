import request from 'supertest';
import { openHostileGateway } from '../../support/hostile-gateway.ts';
import { use } from '../../support/use.ts';

const GOOD = { to: '919876543210', message: 'x', sender: 'HARKRA' };
const BULK = { to: ['919876543210'], message: 'x', sender: 'HARKRA' };
const BOOKING = { ...GOOD, scheduled_for: '2099-01-01T00:00:00Z' };
const PATHS = ['/v2/send', '/v2/send-bulk', '/v2/schedule'] as const;

/** Values that would change a careless query. */
const OPERATORS: readonly unknown[] = [
  { $gt: '' },
  { $ne: null },
  { $regex: '.*' },
  { $where: 'sleep(10000)' },
  { $function: { body: 'while(1);', args: [], lang: 'js' } },
  { toString: 'x', length: 12 },
  { __proto__: null, constructor: 'x' },
  ['919876543210', { $gt: '' }],
  [[]],
  null,
  true,
  1e21,
];

/** Not valid JSON, or not one object: `JSON.stringify` could not write them. */
const MALFORMED: readonly (readonly [what: string, body: string | Buffer])[] = [
  ['cut after a name', '{"to"'],
  ['cut after a colon', '{"to":'],
  ['cut in a text', '{"to":"9198'],
  ['cut in an escape', '{"to":"\\u00'],
  ['cut in a number', '{"to":-'],
  ['cut in a word', '{"dry_run":tru'],
  ['a byte order mark', `\ufeff${JSON.stringify(GOOD)}`],
  ['a byte order mark of UTF-16', Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00])],
  ['NaN', '{"to":NaN}'],
  ['Infinity', '{"to":-Infinity}'],
  ['undefined', '{"to":undefined}'],
  ['a hexadecimal number', '{"to":0x5}'],
  ['a number with a zero before', '{"to":0919}'],
  ['a number with a sign', '{"to":+91}'],
  ['a number that ends in a point', '{"to":1.}'],
  ['a comment', '{/* */"to":"919876543210"}'],
  ['a name without quotes', '{to:"919876543210"}'],
  ['a line break in a text', '{"message":"a\nb"}'],
  ['a NUL', '{"to":"9198\0"}'],
  ['an escape that is none', '{"to":"\\x41"}'],
  ['an overlong slash', Buffer.from('{"message":"\xc0\xaf"}', 'latin1')],
  ['five bytes', Buffer.from('{"message":"\xf8\x88\x80\x80\x80"}', 'latin1')],
  ['beyond Unicode', Buffer.from('{"message":"\xf4\x90\x80\x80"}', 'latin1')],
  ['a byte that goes on with nothing', Buffer.from('{"message":"\x80"}', 'latin1')],
  ['something behind its end', `${JSON.stringify(GOOD)}{`],
  ['60,000 brackets', '['.repeat(60_000)],
  ['12,000 objects in objects', '{"a":'.repeat(12_000)],
];

/** Bodies of up to ten megabytes, for /v2/send-bulk. */
const LARGE: readonly (readonly [what: string, body: string])[] = [
  ['100,000 levels of lists, closed', `{"to":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['100,000 levels of objects', '{"to":'.repeat(100_000)],
  ['10 MB of opening brackets', '['.repeat(10_485_760)],
  ['10 MB of closing brackets', ']'.repeat(10_485_760)],
  ['10 MB of opening braces', '{'.repeat(10_485_760)],
  ['10 MB of blanks', ' '.repeat(10_485_760)],
  ['10 MB of one text', `"${'x'.repeat(10_485_758)}"`],
  ['five million numbers', `{"to":[${'1,'.repeat(5_000_000)}1]}`],
  ['three million objects', `{"to":[${'{},'.repeat(3_000_000)}{}]}`],
  ['400,000 texts', `{"to":[${'"",'.repeat(400_000)}""]}`],
  ['100,000 names', `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join()}}`],
  ['200,000 digits', `{"to":${'9'.repeat(200_000)}}`],
];

describe('hostile HTTP: bodies, paths and queries', () => {
  const gateway = use(openHostileGateway);

  async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
    return request(gateway.url)
      .post(path)
      .set({ Authorization: `Bearer ${gateway.key}`, 'Content-Type': 'application/json', ...headers })
      .serialize((sent) => sent)
      .send(body as string); // superagent sends a Buffer unchanged
  }

  /** The answer is 400, nothing was done, and other requests are served meanwhile. */
  async function expectRefused(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<void> {
    const before = await gateway.totals();

    const [answer] = await Promise.all([post(path, body, headers), gateway.servesOthers()]);

    expect(answer.status, answer.text).to.equal(400);
    expect(answer.body.code).to.be.oneOf(['malformed_body', 'invalid_request']);
    expect(answer.body.detail).to.be.a('string').with.length.below(1_000);
    expect(await gateway.totals()).to.deep.equal(before);
  }

  for (const [what, body] of MALFORMED) {
    it(`400: ${what}`, async () => {
      await Promise.all(PATHS.map((path) => expectRefused(path, body)));
    });
  }

  for (const [what, body] of LARGE) {
    it(`400: ${what}`, async () => {
      await expectRefused('/v2/send-bulk', body, { 'Idempotency-Key': `large ${what}`.replaceAll(' ', '-') });
    });
  }

  const FIELDS: Readonly<Record<(typeof PATHS)[number], readonly [good: object, fields: readonly string[]]>> = {
    '/v2/send': [GOOD, ['to', 'message', 'sender', 'route', 'reference', 'valid_until', 'priority', 'template_id']],
    '/v2/send-bulk': [BULK, ['message', 'sender', 'route', 'reference', 'template_id', 'recipients', 'params']],
    '/v2/schedule': [BOOKING, ['scheduled_for', 'message', 'sender', 'route', 'reference', 'valid_until']],
  };
  for (const [path, [good, fields]] of Object.entries(FIELDS)) {
    for (const field of fields) {
      it(`400: an operator, or anything that is no text, as ${field} of ${path}`, async () => {
        for (const value of OPERATORS) await expectRefused(path, JSON.stringify({ ...good, [field]: value }));
      });
    }
  }

  it('400: an operator among the recipients of a bulk', async () => {
    for (const value of OPERATORS) {
      await expectRefused('/v2/send-bulk', JSON.stringify({ ...BULK, to: ['919876543210', value] }));
      const recipients = [{ to: value, params: [value] }];
      const order = { sender: 'HARKRA', template_id: '1', recipients };
      await expectRefused('/v2/send-bulk', JSON.stringify(order));
    }
  });

  for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '$where', 'a.b', '']) {
    it(`400: a member "${name}", at the top and below, and no object learns from it`, async () => {
      const poison = `{"polluted":true,"isAdmin":true,"dry_run":true}`;
      const member = `${JSON.stringify(name)}:${poison}`;
      const inner = JSON.stringify(GOOD).slice(1, -1);
      const list = Array.from({ length: 9_000 }, () => '"919876543210"').join(); // long enough to be parsed in slices

      await expectRefused('/v2/send', `{${inner},${member}}`);
      await expectRefused('/v2/send', `{${member},${inner}}`, { 'Idempotency-Key': 'poison' });
      await expectRefused('/v2/send', `{${inner},"constructor":{"prototype":${poison}}}`);
      await expectRefused('/v2/send-bulk', `{"message":"x","sender":"HARKRA","to":[${list}],${member}}`);
      await expectRefused(
        '/v2/send-bulk',
        `{"sender":"HARKRA","template_id":"1","recipients":[{"to":"919876543210","params":[],${member}}]}`,
      );

      expect({}).not.to.have.any.keys('polluted', 'isAdmin', 'dry_run');
      expect(Object.prototype).not.to.have.property('polluted');
    });
  }

  it('400: required fields that stand in "__proto__" only', async () => {
    await expectRefused('/v2/send', `{"__proto__":${JSON.stringify(GOOD)}}`);
  });

  for (const [what, text] of [
    ['a lone high surrogate', '\\ud800'],
    ['a lone low surrogate', 'x\\udc00x'],
    ['surrogates the wrong way round', '\\udc00\\ud800'],
  ] as const) {
    it(`400: ${what} in every text`, async () => {
      for (const field of ['message', 'to', 'sender', 'reference', 'route', 'valid_until']) {
        const body = JSON.stringify({ ...GOOD, [field]: '?' }).replace('"?"', `"${text}"`);
        await expectRefused('/v2/send', body);
      }
    });
  }

  it('of a name that is there twice the last counts, once', async () => {
    const before = await gateway.totals();

    const answer = await post(
      '/v2/send',
      `{"to":"1","message":"a","sender":"HARKRA","to":"919876543210","message":"b"}`,
    );

    expect(answer.status).to.equal(200);
    const stored = await gateway.store.db.collection('messages').findOne({ _id: answer.body.message_id });
    expect(stored).to.include({ to: '919876543210', text: 'b' });
    expect((await gateway.totals()).balance).to.equal(before.balance - 1);
  });

  for (const place of [
    '/v2/status/{"$gt":""}',
    '/v2/status/%7B%22%24gt%22%3A%22%22%7D',
    '/v2/status/[$ne]=x',
    '/v2/status/__proto__',
    '/v2/status/msg_%00',
    `/v2/status/${'%F0%9F%98%80'.repeat(1_000)}`,
    '/v2/messages/{"$regex":"^msg"}',
    '/v2/batches/{"$gt":""}',
    '/v2/batches/constructor',
    '/v2/schedule/{"$ne":null}',
    '/v2/schedule/toString',
  ]) {
    it(`404: ${place.slice(0, 60)}`, async () => {
      const answer = await request(gateway.url + encodeURI(place).replaceAll('%25', '%'))
        .get('')
        .set('Authorization', `Bearer ${gateway.key}`);

      expect(answer.status, answer.text).to.equal(404);
    });
  }

  for (const query of [
    'to[$gt]=',
    'to={"$gt":""}',
    'to=919876543210&to[$ne]=1',
    'to=919876543210&to=919876543211',
    'state[$ne]=x',
    'state={"$ne":null}',
    'state=__proto__',
    'batch_id[$exists]=true',
    'batch_id={"$gt":""}',
    'created_from={"$gt":""}',
    'limit={"$gt":0}',
    'limit=1e9',
    'limit=-1',
    'limit=NaN',
    'cursor={"$gt":""}',
    'cursor=eyIkZ3QiOiIifQ',
    'cursor=%ff%fe',
    '__proto__=x',
    '__proto__[to]=x',
    'constructor=x',
    '$where=sleep(10000)',
    'to=%ff',
  ]) {
    it(`400: /v2/messages?${query}`, async () => {
      const answer = await request(`${gateway.url}/v2/messages?${query}`)
        .get('')
        .set('Authorization', `Bearer ${gateway.key}`);

      expect(answer.status, answer.text).to.equal(400);
      expect(answer.body.code).to.equal('invalid_request');
    });
  }

  it('an operator as reference finds messages with these very characters: none', async () => {
    for (const reference of ['{"$gt":""}', '[object Object]', '.*', '__proto__']) {
      const answer = await request(`${gateway.url}/v2/messages`)
        .get('')
        .query({ reference })
        .set('Authorization', `Bearer ${gateway.key}`);

      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.data).to.deep.equal([]);
    }
  });

  for (const authorization of [
    'Bearer {"$gt":""}',
    'Bearer [object Object]',
    'Bearer hk_live_.*',
    `Bearer hk_live_${'_'.repeat(9_000)}`,
    'Bearer',
    'bearer  ',
    'Basic __proto__',
  ]) {
    it(`401: Authorization: ${authorization.slice(0, 40)}`, async () => {
      const answer = await request(gateway.url).get('/v2/balance').set('Authorization', authorization);

      expect(answer.status).to.equal(401);
    });
  }
});
