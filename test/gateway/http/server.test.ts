import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { GatewayServer } from '../../../gateway/http/server.ts';
import { StartError } from '../../../shared/platform/runtime/lifecycle.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { expectProblem } from '../../support/problem.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { useStore } from '../../support/store.ts';

const BODY = '{"to":"919876543210","message":"x","sender":"HARKRA"}';

async function open(port: number): Promise<{ socket: Socket; received: () => string; closed: () => boolean }> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {}); // a reset shows as `closed`
  await once(socket, 'connect');
  return { socket, received: () => received, closed: () => socket.closed };
}

describe('the HTTP server', () => {
  const store = useStore();
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await openGateway(store.db);
  });
  afterEach(() => gateway.server.http.closeAllConnections());

  function halfSend(key: string): string {
    return (
      `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 10)}`
    );
  }

  describe('when it stops', () => {
    it('answers what was asked before, and closes that connection', async () => {
      const key = await makeKey(store.db, await makeAccount(store.db, 1));
      const { socket, received, closed } = await open(gateway.port);
      socket.write(halfSend(key));
      const asked = new Promise<void>((resolve) => gateway.server.http.once('request', () => resolve()));
      await asked;

      const stopped = gateway.close();
      socket.write(BODY.slice(10));
      await stopped;

      await eventually(closed, 'the connection is closed');
      expect(received()).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expect(received()).to.match(/\r\nConnection: close\r\n/i);
    });

    it('closes connections that are idle or never asked for anything', async () => {
      const idle = await open(gateway.port);
      idle.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => idle.received().includes('"ok"'), 'the first answer came');
      const silent = await open(gateway.port);
      await eventually(() => connections(gateway), 'both are accepted');

      const stopped = gateway.close();

      await eventually(() => idle.closed() && silent.closed(), 'both are closed');
      await stopped;
    });

    it('closes who waits for no answer, and answers who waits for one, however long that takes', async () => {
      let answer: (() => void) | undefined;
      const slow = new GatewayServer((_req, res) => {
        answer = () => res.end('late');
      });
      const port = await slow.listen('127.0.0.1', 0);
      const asking = await open(port);
      asking.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      await eventually(() => answer !== undefined, 'it is asked');
      const silent = await open(port);

      const stopped = slow.drain();
      await eventually(silent.closed, 'the silent one is closed');
      answer?.();
      await stopped;
      await gateway.close();

      await eventually(asking.closed, 'the other is closed');
      expect(asking.received()).to.match(/^HTTP\/1\.1 200 OK\r\n(.|\r|\n)*late/);
    });

    it('sends an answer to its end, however slowly it is read', async () => {
      const text = 'x'.repeat(32 * 1_048_576);
      const large = new GatewayServer((_req, res) => res.end(text));
      let accepted: Socket | undefined;
      large.http.on('connection', (socket) => {
        accepted = socket;
      });
      const { socket, received, closed } = await open(await large.listen('127.0.0.1', 0));
      socket.pause();
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => (accepted?.bytesWritten ?? 0) > text.length, 'the answer is written');

      const stopped = large.drain();
      setImmediate(() => socket.resume());
      await stopped;
      await gateway.close();
      await eventually(closed, 'the connection is closed');

      expect(received()).to.have.lengthOf.above(text.length);
    });

    it('accepts nobody any more', async () => {
      await gateway.close();

      const error = await open(gateway.port).catch((reason: unknown) => reason);

      expect(error).to.have.property('code', 'ECONNREFUSED');
    });
  });

  it('answers 408 to a request that never becomes whole', async () => {
    const times = { keepAliveMs: 60_000, headersMs: 50, requestMs: 50, checkMs: 20 };
    const hasty = new GatewayServer(() => {}, times);
    const port = await hasty.listen('127.0.0.1', 0);

    const answer = await rawRequest(port, ['POST /v2/send HTTP/1.1\r\nHost: x\r\nContent-Le']);

    expectProblem({ ...answer, body: JSON.parse(answer.body) }, 'request_timeout');
    await gateway.close();
    await hasty.drain();
  });

  it('says in one sentence that its port is busy', async () => {
    const second = new GatewayServer(() => {});

    const error = await second.listen('127.0.0.1', gateway.port).catch((reason: unknown) => reason);
    await gateway.close();

    expect(error).to.be.instanceOf(StartError);
    expect(error)
      .to.have.property('message')
      .that.equals(
        `127.0.0.1:${gateway.port} is in use by another program. Stop it, or set HARKARA_PORT to another port.`,
      );
  });

  it('says in one sentence that its address is not of this machine', async () => {
    const second = new GatewayServer(() => {});

    const error = await second.listen('192.0.2.1', 0).catch((reason: unknown) => reason);
    await gateway.close();

    expect(error).to.be.instanceOf(StartError);
    expect(error)
      .to.have.property('message')
      .that.matches(/192\.0\.2\.1 is not an address of this machine/);
  });
});

function connections(gateway: TestGateway): Promise<boolean> {
  return new Promise((resolve) => gateway.server.http.getConnections((_error, count) => resolve(count === 2)));
}
