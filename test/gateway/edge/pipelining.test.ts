import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { GatewayServer } from '../../../gateway/http/server.ts';
import { eventually } from '../../support/eventually.ts';
import { openWire, statusesOf, type Wire } from '../../support/hostile-gateway.ts';

describe('requests sent ahead of the answers to those before them', () => {
  it('requests sent in one packet are handled one after the other, and another connection has its turn between them', async () => {
    const handled: string[] = [];
    let open = 0;
    let most = 0;
    const server = new GatewayServer((req, res) => {
      handled.push(req.url ?? '');
      most = Math.max(most, ++open);
      res.once('close', () => {
        open -= 1;
      });
      setImmediate(() => res.end());
    });
    const port = await server.listen('127.0.0.1', 0);
    const flood = openWire(port);
    const alone = openWire(port);
    await Promise.all([once(flood.socket, 'connect'), once(alone.socket, 'connect')]);
    flood.socket.write('GET /many HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(33));
    alone.socket.write('GET /alone HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await alone.closed;
    await eventually(() => handled.length === 34, 'all are handled');
    flood.socket.end();
    await server.drain();

    expect(alone.received()).to.match(/^HTTP\/1\.1 200 /);
    expect(most).to.be.at.most(2);
    expect(handled.indexOf('/alone')).to.be.below(33);
  });

  it('requests with a body, answered at once, come one a turn too', async () => {
    let turn = 0;
    const turns: number[] = [];
    const server = new GatewayServer((req, res) => {
      if (req.url === '/many') turns.push(turn);
      res.end();
    });
    const countTurns = (): void => {
      turn += 1;
      if (turns.length < 33 && turn < 1_000_000) setImmediate(countTurns);
    };
    const port = await server.listen('127.0.0.1', 0);
    const flood = openWire(port);
    await once(flood.socket, 'connect');
    countTurns();
    flood.socket.write('GET /many HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'.repeat(33));
    await eventually(() => turns.length === 33, 'all are handled');
    flood.socket.end();
    await server.drain();

    // Two requests share a number when the counter has not run between their turns.
    const most = Math.max(...turns.map((one) => turns.filter((other) => other === one).length));
    expect(most).to.be.at.most(2);
  });

  it('a connection that sends thousands without waiting for any answer is closed, and others are served', async () => {
    let handled = 0;
    const server = new GatewayServer((_req, res) => {
      handled += 1;
      res.end();
    });
    const port = await server.listen('127.0.0.1', 0);
    const flood = openWire(port);
    await once(flood.socket, 'connect');
    flood.socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(100_000));
    await flood.closed;
    const alone = openWire(port);
    alone.socket.write('GET /alone HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await alone.closed;
    await server.drain();

    expect(handled).to.be.below(50_000);
    expect(alone.received()).to.match(/^HTTP\/1\.1 200 /);
  });

  it('what such a connection sent beyond that is not even read as requests', async () => {
    const server = new GatewayServer((_req, res) => res.end());
    let parsed = 0;
    server.http.on('request', () => {
      parsed += 1;
    });
    const port = await server.listen('127.0.0.1', 0);
    const flood = openWire(port);
    await once(flood.socket, 'connect');
    flood.socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_600)); // one packet
    await flood.closed;
    await server.drain();

    expect(parsed).to.be.within(1, 40);
  });

  it('many connections that each send many requests ahead in the same turn are not read far, and are closed', async () => {
    let accepted = 0;
    let parsed = 0;
    const server = new GatewayServer(() => {
      // Answers nothing, so all later requests of a connection wait.
    });
    server.http
      .on('connection', () => {
        accepted += 1;
      })
      .on('request', () => {
        parsed += 1;
      });
    const port = await server.listen('127.0.0.1', 0);
    const floods = Array.from({ length: 20 }, () => openWire(port));
    await eventually(() => accepted === floods.length, 'all are accepted');
    for (const { socket } of floods) socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(400));
    const closed = (): number => floods.filter(({ socket }) => socket.closed).length;
    await eventually(() => closed() === floods.length, 'all are closed').finally(() => {
      for (const { socket } of floods) socket.destroy();
    });
    await server.drain();

    // Of each connection: the request that is never answered, the 32 that may wait behind it, and the one that is too many.
    expect(parsed).to.be.within(1, 20 * 34);
  });

  describe('while others send many requests ahead and read no answer', () => {
    let parsed: number;
    let held: Set<ServerResponse>;
    let server: GatewayServer;
    let port: number;
    let floods: Wire[];
    beforeEach(async () => {
      parsed = 0;
      held = new Set();
      floods = [];
      server = new GatewayServer((req, res) => {
        if (req.url === '/held') held.add(res);
        else res.end();
      });
      server.http.on('request', () => {
        parsed += 1;
      });
      port = await server.listen('127.0.0.1', 0);
    });
    afterEach(async () => {
      for (const { socket } of floods) socket.destroy();
      await server.drain();
    });

    /** Opens connections that each send `ahead` requests without waiting. One connection at a time, so that no turn has many requests. */
    async function flood(connections: number, ahead: number): Promise<void> {
      for (let i = 0; i < connections; i++) {
        const wire = openWire(port);
        wire.closed.catch(() => {});
        floods.push(wire);
        const before = parsed;
        wire.socket.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(ahead + 1));
        await eventually(() => parsed === before + ahead + 1, 'all of it is read');
      }
    }
    const ask = (): Promise<number[]> =>
      statusesOf(
        port,
        `${'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(4)}GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );

    it('a few requests ahead on another connection are answered, all of them', async () => {
      await flood(7, 32);

      expect(await ask()).to.deep.equal([200, 200, 200, 200, 200]);
      expect(held.size).to.equal(7);
    });
  });
});
