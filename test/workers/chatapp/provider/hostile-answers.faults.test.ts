import { gzipSync } from 'node:zlib';
import { PROVIDER_DEFAULTS } from '../../../../shared/carriers/providers/provider.ts';
import { judgeSend } from '../../../../workers/chatapp/provider/answer.ts';
import { ProviderClient } from '../../../../workers/chatapp/provider/client.ts';
import { eventually } from '../../../support/eventually.ts';
import { flood, type HostileServer, openHostileServer } from '../../../support/hostile-server.ts';
import { openProvider } from '../provider-server.ts';

const PAYLOAD = Buffer.from('{"to":"919999999999"}');
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
const GZIP = 'Content-Encoding: gzip\r\n';

describe('ProviderClient: answers that are out for harm', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  function client(baseUrl: string): ProviderClient {
    const made = new ProviderClient({
      provider: { ...PROVIDER_DEFAULTS, baseUrl, phoneNumberId: '1055', businessId: '2066', timeoutMs: 20_000 },
      token: 'secret-token',
    });
    closing.push(() => made.close());
    return made;
  }

  async function hostile(...args: Parameters<typeof openHostileServer>): Promise<HostileServer> {
    const made = await openHostileServer(...args);
    closing.push(() => made.close());
    return made;
  }

  const ENDLESS = [
    ['102', '', 'HTTP/1.1 102 Processing\r\n\r\n', 'too_many_interim_answers'],
    ['103', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n', 'too_many_interim_answers'],
    ['a body', `${OK}\r\n`, 'x'.repeat(1_000), 'answer_too_long'],
    ['a body in chunks', `${OK}${CHUNKED}`, '14\r\naaaaaaaaaaaaaaaaaaaa\r\n', 'answer_too_long'],
    ['a body in crumbs', `${OK}${CHUNKED}`, '1\r\na\r\n', 'answer_too_long'],
    ['a packed body in crumbs', `${OK}${GZIP}${CHUNKED}`, '1\r\na\r\n', 'answer_too_long'],
  ] as const;
  for (const [what, head, unit, code] of ENDLESS) {
    it(`${what} for ever: nobody knows, the connection is cut off soon, and others are sent to meanwhile`, async () => {
      const server = await hostile((socket) => flood(socket, head, unit));
      const other = await openProvider();
      closing.push(() => other.close());

      const [bad, good] = await Promise.all([client(server.url).send(PAYLOAD), client(other.url).send(PAYLOAD)]);

      expect(judgeSend(good).kind).to.equal('accepted');
      expect(judgeSend(bad).kind).to.equal('unknown');
      expect(bad).to.deep.equal({ kind: 'no_answer', code });
      await eventually(() => server.closed.length > 0, 'the connection is closed');
      expect(server.closed[0]?.bytesWritten).to.be.below(200_000);
    });
  }

  it('a page of templates for ever: it cannot be had, and the connection is cut off', async () => {
    const server = await hostile((socket) => flood(socket, `${OK}\r\n{"data":[`, '{},'.repeat(3_000)));

    expect(await client(server.url).templates(undefined)).to.deep.equal({ kind: 'no_answer', code: 'answer_too_long' });
    await eventually(() => server.closed.length > 0, 'the connection is closed');
  });

  it('a page of templates may have many times what the answer to a send may', async () => {
    const body = `{"data":[${'{},'.repeat(200_000)}{}]}`;
    const server = await hostile((socket) => socket.write(`${OK}Content-Length: ${body.length}\r\n\r\n${body}`));

    expect(await client(server.url).templates(undefined)).to.deep.include({
      kind: 'answered',
      body: Buffer.from(body),
    });
  });

  it('a page that unpacks to more than one may have cannot be had', async () => {
    const body = gzipSync(Buffer.alloc(1_500_000, 32));
    const server = await hostile((socket) => {
      socket.write(`${OK}${GZIP}Content-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });

    expect(await client(server.url).templates(undefined)).to.include({ kind: 'no_answer' });
  });

  const LONG = `{"messages":[{"id":"wamid.1"}],"more":"${'x'.repeat(20_000)}"}`;
  for (const [status, kind] of [
    [200, 'unknown'],
    [400, 'refuse'],
    [503, 'retry'],
  ] as const) {
    it(`${status} with more than any answer has is judged by its status alone: ${kind}`, async () => {
      const server = await hostile((socket) =>
        socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: ${LONG.length}\r\n\r\n${LONG}`),
      );

      expect(judgeSend(await client(server.url).send(PAYLOAD)).kind).to.equal(kind);
    });
  }
});
