import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { GatewayServer } from '../../../gateway/http/server.ts';
import { eventually } from '../../support/eventually.ts';
import { openHostileGateway, openWire, statusesOf } from '../../support/hostile-gateway.ts';
import { use } from '../../support/use.ts';

describe('callers who are slow', () => {
  const gateway = use(openHostileGateway);

  const beginning = (): string =>
    `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`;

  describe('an answer that does not fit into the buffers of the connection', () => {
    const ANSWER = Buffer.alloc(32 * 1_048_576);
    let server: GatewayServer;
    let accepted: Socket | undefined;
    const open = (unreadMs: number): Promise<number> => {
      server = new GatewayServer((_req, res) => res.end(ANSWER), { unreadMs });
      server.http.on('connection', (socket) => {
        accepted = socket;
      });
      return server.listen('127.0.0.1', 0);
    };
    afterEach(async () => {
      server.http.closeAllConnections();
      await server.drain();
    });

    it('is given up when nobody reads it', async () => {
      const wire = openWire(await open(1_000));
      wire.closed.catch(() => {});
      wire.socket.pause();
      wire.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));

      await eventually(() => accepted?.destroyed === true, 'the server has closed it');
      wire.socket.destroy();
    });

    it('is sent whole to whoever reads it slowly', async () => {
      const unreadMs = 5_000;
      const socket = connect(await open(unreadMs), '127.0.0.1');
      let received = 0;
      socket.on('data', (piece) => {
        received += piece.length;
        socket.pause();
      });
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      const began = performance.now();
      const pace = setInterval(() => socket.resume(), 12);
      await once(socket, 'close').finally(() => clearInterval(pace));

      expect(received).to.be.above(ANSWER.length);
      expect(performance.now() - began).to.be.above(unreadMs); // otherwise the test proves nothing
    });
  });

  it('an app that takes longer to answer than a caller may take to read is waited for', async () => {
    const server = new GatewayServer(
      (_req, res) => {
        setTimeout(() => res.end(), 200);
      },
      { unreadMs: 50 },
    );
    const port = await server.listen('127.0.0.1', 0);

    expect(await statusesOf(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).to.deep.equal([200]);
    await server.drain();
  });
  describe('with little patience', () => {
    let hasty: GatewayServer;
    let port: number;
    before(async () => {
      hasty = new GatewayServer(gateway.app, { keepAliveMs: 500, headersMs: 150, requestMs: 300, checkMs: 20 });
      port = await hasty.listen('127.0.0.1', 0);
    });
    after(() => hasty.drain());

    /** Sends `rest` byte by byte until the server closes: never idle, never complete. */
    async function trickle(head: string, rest: string): Promise<string> {
      const wire = openWire(port);
      wire.socket.write(head);
      let sent = 0;
      const pace = setInterval(() => {
        if (wire.socket.writable && sent < rest.length) wire.socket.write(rest.charAt(sent++));
      }, 20);
      await wire.closed.finally(() => clearInterval(pace));
      expect(sent).to.be.below(rest.length);
      return wire.received();
    }

    it('408: headers byte by byte', async () => {
      const received = await trickle('GET /healthz HTTP/1.1\r\nHost: x\r\n', `X: ${'a'.repeat(5_000)}`);

      expect(received).to.match(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    });

    it('408: a body byte by byte', async () => {
      const before = await gateway.totals();

      const received = await trickle(`${beginning()}Content-Length: 60000\r\n\r\n{"to":"`, '9'.repeat(5_000));

      expect(received).to.match(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
      expect(await gateway.totals()).to.deep.equal(before);
    });

    it('408: chunks of one byte', async () => {
      const received = await trickle(`${beginning()}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n{\r\n'.repeat(1_000));

      expect(received).to.match(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    });

    it('one line of HTTP/0.9 is not waited for', async () => {
      const wire = openWire(port);
      wire.socket.write('GET /healthz\r\n');

      await wire.closed;

      expect(wire.received()).to.match(/^(HTTP\/1\.1 408 .*)?$/s);
    });

    it('300 connections that say half a request keep nobody from being answered, and are closed', async () => {
      const patient = new GatewayServer(gateway.app, {
        keepAliveMs: 500,
        headersMs: 5_000,
        requestMs: 6_000,
        checkMs: 20,
      });
      const port = await patient.listen('127.0.0.1', 0);
      const slow = await Promise.all(
        Array.from({ length: 300 }, async () => {
          const socket = connect(port, '127.0.0.1').on('error', () => {});
          await once(socket, 'connect');
          socket.write('POST /v2/send HTTP/1.1\r\nHost: x\r\nX-');
          socket.resume();
          return socket;
        }),
      );

      expect(await statusesOf(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).to.deep.equal([
        200,
      ]);

      await eventually(() => slow.every((socket) => socket.closed), 'all are closed');
      await patient.drain();
    });
  });
});
