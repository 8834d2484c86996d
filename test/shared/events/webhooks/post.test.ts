import { createServer, type Socket } from 'node:net';
import { posterWorld } from '../../../workers/webhooks/poster.ts';
import { openReceiver } from '../../../workers/webhooks/receiver.ts';

describe('webhooks worker: post', () => {
  const { onClose, poster, receiver, post } = posterWorld();

  async function rawServer(onSocket: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}); // The tested client may cut it off.
      onSocket(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onClose(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  it('posts the bytes and headers as they are, path and query included', async () => {
    const target = await receiver();

    const result = await post(poster(), target.url, '/hooks/sms?a=1&b=%20');

    expect(result.result).to.equal(200);
    expect(target.received).to.have.length(1);
    expect(target.received[0]).to.include({ method: 'POST', path: '/hooks/sms?a=1&b=%20', body: '{"name":"नमस्ते"}' });
    expect(target.received[0]?.headers).to.include({
      'content-type': 'application/json',
      'content-length': '29',
      'webhook-id': 'evt_1_sent',
    });
  });

  it('keeps connections for the next posts', async () => {
    const target = await receiver();
    const client = poster();

    for (let i = 0; i < 20; i++) await post(client, target.url);

    expect(target.received).to.have.length(20);
    // A second connection opens if a post follows in the turn of the event loop in which the answer ended.
    expect(target.connections).to.be.at.most(2);
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`does not follow a ${status}`, async () => {
      const elsewhere = await receiver();
      const target = await receiver((_, res) => res.writeHead(status, { location: elsewhere.url }).end());

      expect(await post(poster(), target.url)).to.include({ result: status });
      expect(elsewhere.connections).to.equal(0);
    });
  }

  it('takes no proxy from the environment', async () => {
    const proxy = await receiver();
    const target = await receiver();
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = proxy.url;
    try {
      expect(await post(poster(), target.url)).to.include({ result: 200 });
    } finally {
      names.forEach((name, i) => {
        if (before[i] === undefined) delete process.env[name];
        else process.env[name] = before[i];
      });
    }
    expect(proxy.connections).to.equal(0);
    expect(target.received).to.have.length(1);
  });

  it('keeps the beginning of a failure’s body, two kilobytes at most, and its Retry-After', async () => {
    const target = await receiver((_, res) => res.writeHead(503, { 'retry-after': '7' }).end('no '.repeat(10_000)));

    const result = await post(poster(), target.url);

    expect(result).to.include({ result: 503, retryAfter: '7' });
    expect(result.excerpt).to.equal('no '.repeat(10_000).slice(0, 2048));
  });

  it('keeps no body of a success', async () => {
    const target = await receiver((_, res) => res.end('thanks'));

    expect(await post(poster(), target.url)).not.to.have.property('excerpt');
  });

  it('keeps the body of a success for who asks for it', async () => {
    const target = await receiver((_, res) => res.end('thanks'));
    const request = { origin: target.url, path: '/', headers: [], body: Buffer.from('{}') };

    expect(await poster().post(request, 'all')).to.include({ result: 200, excerpt: 'thanks' });
  });

  it('an endless body is cut off, and the status before it counts', async () => {
    const stopped: Promise<void>[] = [];
    const target = await receiver((_, res) => {
      res.writeHead(500);
      stopped.push(new Promise((resolve) => res.on('close', resolve)));
      const write = (): void => {
        while (!res.destroyed && res.write('x'.repeat(10_000)));
      };
      res.on('drain', write);
      write();
    });

    const result = await post(poster({ timeoutMs: 20_000 }), target.url);

    expect(result.result).to.equal(500);
    expect(result.excerpt).to.have.length(2048);
    await Promise.all(stopped);
  });

  it('a body that drips for ever ends with the time of the post; its status counts', async () => {
    const target = await receiver((_, res) => {
      res.writeHead(200).write('.');
    });

    // Long enough for the answer's head to arrive, however busy the machine is.
    expect(await post(poster({ timeoutMs: 5_000 }), target.url)).to.include({ result: 200 });
  });

  it('a receiver that never answers is a timeout, and its connection is closed', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const url = await rawServer((socket) => {
      closed = new Promise((resolve) => socket.on('close', resolve));
      socket.resume();
    });

    expect(await post(poster({ timeoutMs: 150 }), url)).to.include({ result: 'timeout' });
    await closed;
  });

  it('headers that drip for ever are a timeout', async () => {
    const url = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-more: 1\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });

    expect(await post(poster({ timeoutMs: 200 }), url)).to.include({ result: 'timeout' });
  });

  it('a name that takes for ever to resolve is a timeout', async () => {
    const client = poster({ timeoutMs: 100, resolve: () => new Promise(() => {}) });

    expect(await post(client, 'http://slow.example')).to.include({ result: 'timeout' });
  });

  it('nothing is posted after the time is over, also when the connection comes late', async () => {
    const target = await receiver();
    let answer: (addresses: readonly string[]) => void = () => {};
    const resolving = new Promise<readonly string[]>((resolve) => {
      answer = resolve;
    });
    const client = poster({ timeoutMs: 100, resolve: () => resolving });
    const port = new URL(target.url).port;

    const late = await post(client, `http://late.example:${port}`);
    answer(['127.0.0.1']);
    const next = await poster().post({ origin: target.url, path: '/next', headers: [], body: Buffer.from('') });

    expect(late).to.include({ result: 'timeout' });
    expect(next.result).to.equal(200);
    expect(target.received.map(({ path }) => path)).to.deep.equal(['/next']);
  });

  it('a connection that is reset is connection_lost', async () => {
    const url = await rawServer((socket) => socket.on('data', () => socket.resetAndDestroy()));

    expect(await post(poster(), url)).to.include({ result: 'connection_lost' });
  });

  it('a connection that ends without an answer is connection_lost', async () => {
    const url = await rawServer((socket) => socket.on('data', () => socket.end()));

    expect(await post(poster(), url)).to.include({ result: 'connection_lost' });
  });

  it('a port that nobody listens on is connect_failed', async () => {
    const gone = await openReceiver();
    await gone.close();

    expect(await post(poster(), gone.url)).to.include({ result: 'connect_failed' });
  });

  for (const [name, text] of [
    ['nonsense', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a false length', 'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n'],
  ] as const) {
    it(`${name} instead of HTTP is bad_answer`, async () => {
      const url = await rawServer((socket) => socket.on('data', () => socket.write(text)));

      expect(await post(poster(), url)).to.include({ result: 'bad_answer' });
    });
  }

  it('an upgrade to another protocol is a failure', async () => {
    const url = await rawServer((socket) =>
      socket.on('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
      ),
    );

    const { result } = await post(poster(), url);

    expect(result).to.be.oneOf(['bad_answer', 'connection_lost']);
  });

  it('TLS that does not speak TLS is a failure of its own', async () => {
    const url = await rawServer((socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')));

    expect(await post(poster(), url.replace('http:', 'https:'))).to.include({ result: 'tls_failed' });
  });
});
