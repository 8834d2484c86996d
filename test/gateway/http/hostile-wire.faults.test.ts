import { openHostileGateway, statusesOf } from '../../support/hostile-gateway.ts';
import { use } from '../../support/use.ts';

const BODY = '{"to":"919876543210","message":"x","sender":"HARKRA"}';
const HEX = BODY.length.toString(16);
const CHUNKS = `${HEX}\r\n${BODY}\r\n0\r\n\r\n`;

describe('hostile HTTP: what arrives over the wire', () => {
  const gateway = use(openHostileGateway);

  const whole = (): string => `${beginning()}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const beginning = (): string =>
    `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`;
  /**
   * Fills placeholders. `<begin>`: the start of a good POST. `<auth>`: the headers of a good GET. `<whole>`: a whole
   * POST that the server must not handle as a separate request.
   */
  const bytesOf = (row: string): string =>
    row
      .replace('<begin>', beginning)
      .replace('<auth>', () => `Host: x\r\nAuthorization: Bearer ${gateway.key}\r\nConnection: close\r\n`)
      .replace('<whole>', whole);

  const REFUSED: readonly (readonly [what: string, bytes: string, statuses: readonly number[]])[] = [
    // The body's end is ambiguous (request smuggling): the second request must never be handled.
    [
      'length and chunks',
      `<begin>Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n<whole>`,
      [400],
    ],
    ['chunks and length', `<begin>Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n<whole>`, [400]],
    ['two different lengths', `<begin>Content-Length: 0\r\nContent-Length: ${BODY.length}\r\n\r\n<whole>`, [400]],
    [
      'two equal lengths',
      `<begin>Content-Length: ${BODY.length}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
      [400],
    ],
    ['a list of lengths', `<begin>Content-Length: ${BODY.length}, ${BODY.length}\r\n\r\n${BODY}`, [400]],
    ['a length with a sign', `<begin>Content-Length: +${BODY.length}\r\n\r\n${BODY}`, [400]],
    ['a negative length', `<begin>Content-Length: -1\r\n\r\n${BODY}`, [400]],
    ['a hexadecimal length', `<begin>Content-Length: 0x${HEX}\r\n\r\n${BODY}`, [400]],
    ['an empty length', `<begin>Content-Length: \r\n\r\n${BODY}`, [400]],
    ['a length beyond 64 bits', `<begin>Content-Length: 99999999999999999999999\r\n\r\n${BODY}`, [400]],
    ['a length beyond exact numbers', `<begin>Content-Length: 9007199254740993\r\n\r\n${BODY}`, [413]],
    [
      'a length that is one too short',
      `<begin>Connection: close\r\nContent-Length: ${BODY.length - 1}\r\n\r\n${BODY}`,
      [400],
    ],
    ['an unknown coding', `<begin>Transfer-Encoding: xchunked\r\n\r\n${CHUNKS}`, [400]],
    ['identity', `<begin>Transfer-Encoding: identity\r\n\r\n${CHUNKS}<whole>`, [400]],
    ['chunked twice', `<begin>Transfer-Encoding: chunked, chunked\r\nConnection: close\r\n\r\n${CHUNKS}`, [400]],
    ['chunked, then identity', `<begin>Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n<whole>`, [400]],
    ['gzip, then chunked', `<begin>Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n${CHUNKS}`, [400]],
    ['two codings', `<begin>Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n<whole>`, [400]],
    ['a blank before the colon', `<begin>Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n<whole>`, [400]],
    ['a vertical tab behind it', `<begin>Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n<whole>`, [400]],
    ['a folded header', `<begin>Content-Length: ${BODY.length}\r\nX: a\r\n b\r\n\r\n${BODY}`, [400]],
    ['a folded coding', `<begin>Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n<whole>`, [400]],
    ['a bare LF', `<begin>X: a\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`, [400]],
    ['bare LFs only', 'GET /healthz HTTP/1.1\nHost: x\n\n', [400]],
    ['a bare CR', `<begin>X: a\rContent-Length: ${BODY.length}\r\n\r\n${BODY}`, [400]],
    ['a negative chunk', `<begin>Transfer-Encoding: chunked\r\n\r\n-1\r\n${BODY}\r\n0\r\n\r\n`, [400]],
    ['a chunk with 0x', `<begin>Transfer-Encoding: chunked\r\n\r\n0x${HEX}\r\n${BODY}\r\n0\r\n\r\n`, [400]],
    [
      'a chunk beyond 64 bits',
      `<begin>Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n${BODY}\r\n0\r\n\r\n`,
      [400],
    ],
    ['a chunk without its end', `<begin>Transfer-Encoding: chunked\r\n\r\n${HEX}\r\n${BODY}0\r\n\r\n`, [400]],
    ['chunks with bare LFs', `<begin>Transfer-Encoding: chunked\r\n\r\n${HEX}\n${BODY}\n0\n\n<whole>`, [400]],
    [
      'an extension with a bare LF',
      `<begin>Transfer-Encoding: chunked\r\n\r\n${HEX};a\n${BODY}\r\n0\r\n\r\n<whole>`,
      [400],
    ],
    [
      'extensions of 20 KB',
      `<begin>Transfer-Encoding: chunked\r\n\r\n${HEX};${'a'.repeat(20_000)}\r\n${BODY}\r\n0\r\n\r\n`,
      [413],
    ],
    [
      'a length among the trailers',
      `<begin>Transfer-Encoding: chunked\r\n\r\n${HEX}\r\n${BODY}\r\n0\r\nContent-Length: 5\r\n\r\n`,
      [400],
    ],
    [
      'trailers of 40 KB',
      `<begin>Transfer-Encoding: chunked\r\n\r\n${HEX}\r\n${BODY}\r\n0\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
      [431],
    ],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n', [400]],
    ['a blank in a name', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX Y: a\r\n\r\n', [400]],
    ['a name that is not ASCII', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX\xe9: a\r\n\r\n', [400]],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n', [400]],
    ['20 KB of one header', `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, [431]],
    [
      '5,000 headers',
      `GET /healthz HTTP/1.1\r\nHost: x\r\n${'A: 1\r\n'.repeat(5_000)}Connection: close\r\n\r\n`,
      [431],
    ],
    [
      'a key beside an operator',
      'GET /v2/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {"$gt":""}\r\nConnection: close\r\n\r\n',
      [401],
    ],
    ['HTTP/0.9 with a version line', 'GET /healthz\r\n\r\n', [400]],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['HTTP/1.2', 'GET /healthz HTTP/1.2\r\nHost: x\r\n\r\n', [400]],
    ['HTTP/9.9', 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n', [400]],
    ['CONNECT', 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n', []],
    ['TRACE', 'TRACE / HTTP/1.1\r\n<auth>\r\n', [404]],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\n<auth>\r\n', [404]],
    [
      'an absolute form without a key',
      'GET http://u:p@[:9/v2/balance HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      [401],
    ],
    ['an absolute form that is no address', 'GET http://[::1/ HTTP/1.1\r\n<auth>\r\n', [404]],
    ['an absolute form without a path', 'GET http://evil.example HTTP/1.1\r\n<auth>\r\n', [404]],
    ['a path without a slash', 'GET v2/balance HTTP/1.1\r\n<auth>\r\n', [400]],
    ['two slashes', 'GET //v2/balance HTTP/1.1\r\n<auth>\r\n', [404]],
    ['dots', 'GET /v2/x/../balance HTTP/1.1\r\n<auth>\r\n', [404]],
    ['encoded dots', 'GET /v2/status/%2e%2e%2fbalance HTTP/1.1\r\n<auth>\r\n', [404]],
    ['%00 in a path', 'GET /v2/status/%00 HTTP/1.1\r\n<auth>\r\n', [404]],
    ['a NUL in a path', 'GET /v2/status/\0 HTTP/1.1\r\n<auth>\r\n', [400]],
    ['%ff in a path', 'GET /v2/status/%ff HTTP/1.1\r\n<auth>\r\n', [404]],
    ['half an escape in a path', 'GET /v2/status/% HTTP/1.1\r\n<auth>\r\n', [404]],
    ['a line break in a path', 'GET /v2/status/%0d%0aX:1 HTTP/1.1\r\n<auth>\r\n', [404]],
    ['15 KB of path', `GET /v2/status/${'a'.repeat(15_000)} HTTP/1.1\r\n<auth>\r\n`, [404]],
    ['20 KB of path', `GET /v2/status/${'a'.repeat(20_000)} HTTP/1.1\r\n<auth>\r\n`, [431]],
    ['7,000 parameters', `GET /v2/messages?${'a&'.repeat(7_000)} HTTP/1.1\r\n<auth>\r\n`, [400]],
  ];
  for (const [what, row, statuses] of REFUSED) {
    it(`${statuses.join() || 'closed'}: ${what}`, async () => {
      const before = await gateway.totals();

      expect(await statusesOf(gateway.port, bytesOf(row))).to.deep.equal(statuses);

      expect(await gateway.totals()).to.deep.equal(before);
      await gateway.servesOthers();
    });
  }

  it('400: chunks in HTTP/1.0, which a proxy of that version passes on unseen', async () => {
    const before = await gateway.totals();
    const old = beginning().replace('HTTP/1.1', 'HTTP/1.0');

    expect(await statusesOf(gateway.port, `${old}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`)).to.deep.equal([400]);

    expect(await gateway.totals()).to.deep.equal(before);
  });

  it('200: an absolute form, whatever host it names', async () => {
    const bytes = bytesOf('GET http://evil.example:1/v2/balance HTTP/1.1\r\n<auth>\r\n');

    expect(await statusesOf(gateway.port, bytes)).to.deep.equal([200]);
  });

  it('a request in the body of a GET is a body', async () => {
    const before = await gateway.totals();
    const body = whole();

    const bytes = bytesOf(`GET /v2/balance HTTP/1.1\r\n<auth>Content-Length: ${body.length}\r\n\r\n`) + body;
    expect(await statusesOf(gateway.port, bytes)).to.deep.equal([200]);

    expect(await gateway.totals()).to.deep.equal(before);
  });

  it('33 requests sent before the first answer is read are answered in order, each charged once', async () => {
    const before = await gateway.totals();
    const some = 12;
    const bytes = [
      ...Array.from(
        { length: 20 },
        (_, i) => `GET /${i % 2 === 0 ? 'healthz' : 'nowhere'} HTTP/1.1\r\nHost: x\r\n\r\n`,
      ),
      ...Array.from({ length: some }, () => whole()),
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ].join('');

    const statuses = await statusesOf(gateway.port, bytes);

    expect(statuses.slice(0, 20).every((status, i) => status === (i % 2 === 0 ? 200 : 404))).to.equal(true);
    expect(statuses.slice(20)).to.deep.equal(Array.from({ length: some + 1 }, () => 200));
    expect((await gateway.totals()).balance).to.equal(before.balance - some);
  });
});
