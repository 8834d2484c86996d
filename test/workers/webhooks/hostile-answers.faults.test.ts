import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import { Poster, type PostResult } from '../../../shared/events/webhooks/post.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { flood, type HostileServer, openHostileServer } from '../../support/hostile-server.ts';
import { openReceiver } from './receiver.ts';

/** The most that a server may write before it is cut off: the 16 KiB that are read, and data in transit. */
const BYTES_MAX = 65_536;

describe('webhooks worker: answers without an end', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let poster: Poster;

  beforeEach(() => {
    const guard = new AddressGuard({ allowHttp: true, allowSubnets: ['127.0.0.0/8'] });
    poster = new Poster({ guard, clock: systemClock, timeoutMs: 20_000 });
    closing.push(() => poster.close());
  });

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function hostile(...args: Parameters<typeof openHostileServer>): Promise<HostileServer> {
    const made = await openHostileServer(...args);
    closing.push(() => made.close());
    return made;
  }

  function post(origin: string): Promise<PostResult> {
    return poster.post({ origin, path: '/', headers: ['content-type', 'application/json'], body: Buffer.from('{}') });
  }

  const OK = 'HTTP/1.1 200 OK\r\n';
  const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
  for (const [what, head, unit, result] of [
    ['headers', OK, 'a:\r\n', 'answer_too_long'],
    ['a header', `${OK}a: `, 'b', 'answer_too_long'],
    ['102', '', 'HTTP/1.1 102 Processing\r\n\r\n', 'too_many_interim_answers'],
    ['103', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n', 'too_many_interim_answers'],
    ['103 with a header', 'HTTP/1.1 103 Early Hints\r\nLink: ', 'a', 'answer_too_long'],
    ['a body in crumbs', `${OK}${CHUNKED}`, '1\r\na\r\n', 200],
    ['a body in crumbs, of a failure', `HTTP/1.1 500 No\r\n${CHUNKED}`, '1\r\na\r\n', 500],
    ['trailers', `${OK}${CHUNKED}1\r\na\r\n0\r\n`, 'a:\r\n', 200],
  ] as const) {
    it(`${what} for ever: the connection is cut off soon, and others are posted to meanwhile`, async () => {
      const server = await hostile((socket) => flood(socket, head, unit));
      const other = await openReceiver();
      closing.push(() => other.close());

      const [bad, good] = await Promise.all([post(server.url), post(other.url)]);

      expect(bad).to.include({ result });
      expect(good).to.include({ result: 200 });
      await eventually(() => server.closed.length === 1, 'the connection is closed');
      expect(server.closed[0]?.bytesWritten).to.be.below(BYTES_MAX);
    });
  }

  it('a handful of interim answers is no harm', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(8);
    const server = await hostile((socket) => socket.write(`${early}${OK}Content-Length: 0\r\n\r\n`));

    expect(await post(server.url)).to.include({ result: 200 });
  });

  it('every answer of a kept connection may be long, also when they come by turns', async () => {
    const other = await openReceiver((_, res) => res.writeHead(500).end('x'.repeat(15_000)));
    closing.push(() => other.close());

    const results: PostResult[] = [];
    for (let i = 0; i < 5; i++) results.push(await post(other.url));

    expect(results.map(({ result }) => result)).to.deep.equal([500, 500, 500, 500, 500]);
    expect(other.connections).to.be.at.most(2);
  });
});
