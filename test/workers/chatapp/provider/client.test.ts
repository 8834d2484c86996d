import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { PROVIDER_DEFAULTS } from '../../../../shared/carriers/providers/provider.ts';
import { judgeSend } from '../../../../workers/chatapp/provider/answer.ts';
import { ProviderClient } from '../../../../workers/chatapp/provider/client.ts';
import { graphError, json, openProvider, type ProviderServer } from '../provider-server.ts';

/** Enough for the client to connect on a busy machine: without a connection nothing would have been sent. */
const ANSWER_MS = 6_000;
const PAYLOAD = Buffer.from(JSON.stringify({ to: '919999999999', biz_opaque_callback_data: 'msg_1' }));

describe('ProviderClient', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function provider(): Promise<ProviderServer> {
    const made = await openProvider();
    closing.push(() => made.close());
    return made;
  }

  function client(baseUrl: string, timeoutMs = 5_000): ProviderClient {
    const made = new ProviderClient({
      provider: { ...PROVIDER_DEFAULTS, baseUrl, phoneNumberId: '1055', businessId: '2066', timeoutMs },
      token: 'secret-token',
    });
    closing.push(() => made.close());
    return made;
  }

  it('posts the payload as it is to the number, with the token, and brings the answer back', async () => {
    const server = await provider();

    const exchange = await client(server.url).send(PAYLOAD);

    expect(judgeSend(exchange)).to.include({ kind: 'accepted', upstreamId: 'wamid.1' });
    const [send] = server.sends;
    expect(send?.path).to.equal('/v23.0/1055/messages');
    expect(send?.headers).to.include({
      authorization: 'Bearer secret-token',
      'content-type': 'application/json',
      'content-length': String(PAYLOAD.length),
    });
    expect(send?.body).to.deep.equal(JSON.parse(PAYLOAD.toString()));
  });

  it('keeps its connection', async () => {
    const ports = new Set<unknown>();
    const server = await provider();
    server.answer = (_, res, accept) => {
      ports.add(res.socket?.remotePort);
      accept();
    };
    const ours = client(server.url);

    for (let i = 0; i < 5; i++) await ours.send(PAYLOAD);

    expect(ports.size).to.equal(1);
  });

  it('an error is an answer, with how long the provider wants to be left alone', async () => {
    const server = await provider();
    server.answer = (_, res) => {
      res.setHeader('retry-after', '3');
      json(res, 429, graphError(130_429));
    };

    expect(judgeSend(await client(server.url).send(PAYLOAD))).to.include({ kind: 'back_off', retryAfterMs: 3_000 });
  });

  it('understands an answer that is packed although nobody asked for it', async () => {
    const server = await provider();
    server.answer = (_, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"messages":[{"id":"wamid.Z"}]}'));
    };

    const [exchange, send] = [await client(server.url).send(PAYLOAD), server.sends[0]];

    expect(judgeSend(exchange)).to.deep.equal({ kind: 'accepted', upstreamId: 'wamid.Z' });
    expect(send?.headers['accept-encoding']).to.equal('identity');
  });

  it('follows no redirect: the token stays here', async () => {
    const elsewhere = await provider();
    const server = await provider();
    server.answer = (_, res) => res.writeHead(307, { location: `${elsewhere.url}/1055/messages` }).end();

    expect(judgeSend(await client(server.url).send(PAYLOAD)).kind).to.equal('stop');
    expect(elsewhere.sends).to.deep.equal([]);
  });

  it('uses no proxy from the environment', async () => {
    const server = await provider();
    const before = { ...process.env };
    closing.push(() => {
      process.env = before;
    });
    process.env.http_proxy = 'http://127.0.0.1:9';
    process.env.HTTP_PROXY = 'http://127.0.0.1:9';

    expect(judgeSend(await client(server.url).send(PAYLOAD)).kind).to.equal('accepted');
  });

  it('a port that nobody listens on: nothing was sent', async () => {
    const server = await provider();
    await server.close();

    const exchange = await client(server.url).send(PAYLOAD);

    expect(exchange).to.include({ kind: 'not_sent', code: 'ECONNREFUSED' });
  });

  it('a name that does not exist: nothing was sent', async () => {
    const nowhere = new ProviderClient({
      provider: { ...PROVIDER_DEFAULTS, baseUrl: 'http://provider.invalid', phoneNumberId: '1', businessId: '2' },
      token: 't',
      resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
    });
    closing.push(() => nowhere.close());

    expect(await nowhere.send(PAYLOAD)).to.include({ kind: 'not_sent', code: 'ENOTFOUND' });
  });

  it('a server that speaks no TLS where TLS is meant: nothing was sent', async () => {
    const server = await provider();

    const exchange = await client(server.url.replace('http:', 'https:')).send(PAYLOAD);

    expect(exchange.kind).to.equal('not_sent');
  });

  it('a look-up that never ends is nothing sent, after the time limit', async () => {
    const hanging = new ProviderClient({
      provider: {
        ...PROVIDER_DEFAULTS,
        baseUrl: 'http://slow.test',
        phoneNumberId: '1',
        businessId: '2',
        timeoutMs: 50,
      },
      token: 't',
      resolve: () => new Promise(() => {}),
    });
    closing.push(() => hanging.close());

    expect(await hanging.send(PAYLOAD)).to.deep.equal({ kind: 'not_sent', code: 'timeout' });
  });

  const LOST: readonly (readonly [what: string, answer: ProviderServer['answer']])[] = [
    ['no answer within the time limit', () => {}],
    ['an answer that never ends', (_, res) => res.writeHead(200, { 'content-length': '100' }).write('{')],
    ['a reset before the answer', (_, res) => res.socket?.resetAndDestroy()],
    ['an end before the answer', (_, res) => res.socket?.destroy()],
    [
      'a reset in the middle of the answer',
      (_, res) => {
        res.writeHead(200, { 'content-length': '100' });
        res.write('{"messages":', () => res.socket?.resetAndDestroy());
      },
    ],
    ['an answer that is no HTTP', (_, res) => res.socket?.end('HELLO\r\n\r\n')],
    [
      'a small answer that unpacks to a larger one than any can be',
      (_, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(30_000_000, 32))),
    ],
    ['an answer larger than any can be', (_, res) => res.writeHead(200).end(Buffer.alloc(3_000_000, 32))],
  ];
  for (const [what, answer] of LOST) {
    it(`${what}: nobody knows`, async () => {
      const server = await provider();
      server.answer = answer;

      const exchange = await client(server.url, ANSWER_MS).send(PAYLOAD);

      expect(judgeSend(exchange).kind).to.equal('unknown');
      expect(server.sends).to.have.length(1);
    });
  }

  it('a kept connection that was closed under the request: nobody knows', async () => {
    const server = await provider();
    const ours = client(server.url);
    await ours.send(PAYLOAD);
    server.answer = (_, res) => res.socket?.destroy();

    expect((await ours.send(PAYLOAD)).kind).to.equal('no_answer');
  });

  it('a server that takes the connection and reads nothing: nobody knows', async () => {
    const silent = createTcpServer((socket) => socket.pause());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    closing.push(() => silent.close());
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;

    expect(await client(`http://127.0.0.1:${port}`, ANSWER_MS).send(PAYLOAD)).to.deep.equal({
      kind: 'no_answer',
      code: 'timeout',
    });
  });

  it('closing cuts off what is under way', async () => {
    const server = await provider();
    const ours = client(server.url);
    const arrived = new Promise<void>((resolve) => {
      server.answer = () => resolve();
    });
    const exchange = ours.send(PAYLOAD);
    await arrived;

    ours.close();

    expect((await exchange).kind).to.equal('no_answer');
  });

  it('asks for a page of templates behind the cursor', async () => {
    const server = await provider();

    await client(server.url).templates(undefined);
    await client(server.url).templates('a b');

    const [first = '', second = ''] = server.lists.map((path) => path);
    expect(first).to.match(/^\/v23\.0\/2066\/message_templates\?fields=[\w%]+&limit=50$/);
    expect(second).to.match(/&after=a\+b$/);
  });
});
