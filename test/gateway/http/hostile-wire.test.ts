import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { GatewayServer } from '../../../gateway/http/server.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type HostileGateway,
  openHostileGateway,
  openWire,
  statusesOf,
  type Wire,
} from '../../support/hostile-gateway.ts';

const BODY = '{"to":"919876543210","message":"x","sender":"HARKRA"}';
const HEX = BODY.length.toString(16);
const CHUNKS = `${HEX}\r\n${BODY}\r\n0\r\n\r\n`;

describe('hostile HTTP: what arrives over the wire', function () {
  this.timeout(30_000);
  let gateway: HostileGateway;
  before(async () => {
    gateway = await openHostileGateway();
  });
  after(() => gateway.close());

  const whole = (): string => `${beginning()}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const beginning = (): string =>
    `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`;
  /** `<begin>`: of a good POST. `<auth>`: headers of a good GET. `<whole>`: a request that must not be seen as one. */
  const bytesOf = (row: string): string =>
    row
      .replace('<begin>', beginning)
      .replace('<auth>', () => `Host: x\r\nAuthorization: Bearer ${gateway.key}\r\nConnection: close\r\n`)
      .replace('<whole>', whole);

  const REFUSED: readonly (readonly [what: string, bytes: string, statuses: readonly number[]])[] = [
    // Two readings of where a body ends (request smuggling): the second request must never be seen.
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
    // Chunks.
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
    // Headers.
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
    // Versions and targets.
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
      const before = await gateway.standing();

      expect(await statusesOf(gateway.port, bytesOf(row))).to.deep.equal(statuses);

      expect(await gateway.standing()).to.deep.equal(before);
      await gateway.servesOthers();
    });
  }

  it('400: chunks in HTTP/1.0, which a proxy of that version passes on unseen', async () => {
    const before = await gateway.standing();
    const old = beginning().replace('HTTP/1.1', 'HTTP/1.0');

    expect(await statusesOf(gateway.port, `${old}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`)).to.deep.equal([400]);

    expect(await gateway.standing()).to.deep.equal(before);
  });

  it('200: an absolute form, whatever host it names', async () => {
    const bytes = bytesOf('GET http://evil.example:1/v2/balance HTTP/1.1\r\n<auth>\r\n');

    expect(await statusesOf(gateway.port, bytes)).to.deep.equal([200]);
  });

  it('a request in the body of a GET is a body', async () => {
    const before = await gateway.standing();
    const body = whole();

    const bytes = bytesOf(`GET /v2/balance HTTP/1.1\r\n<auth>Content-Length: ${body.length}\r\n\r\n`) + body;
    expect(await statusesOf(gateway.port, bytes)).to.deep.equal([200]);

    expect(await gateway.standing()).to.deep.equal(before);
  });

  it('500 requests sent before the first answer is read are answered in order, each charged once', async () => {
    const before = await gateway.standing();
    const some = 20;
    const bytes = [
      ...Array.from(
        { length: 480 },
        (_, i) => `GET /${i % 2 === 0 ? 'healthz' : 'nowhere'} HTTP/1.1\r\nHost: x\r\n\r\n`,
      ),
      ...Array.from({ length: some }, () => whole()),
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ].join('');

    const statuses = await statusesOf(gateway.port, bytes);

    expect(statuses.slice(0, 480).every((status, i) => status === (i % 2 === 0 ? 200 : 404))).to.equal(true);
    expect(statuses.slice(480)).to.deep.equal(Array.from({ length: some + 1 }, () => 200));
    expect((await gateway.standing()).balance).to.equal(before.balance - some);
  });

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
    flood.socket.write('GET /many HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500));
    alone.socket.write('GET /alone HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await alone.closed;
    await eventually(() => handled.length === 501, 'all are handled');
    flood.socket.end();
    await server.drain();

    expect(alone.received()).to.match(/^HTTP\/1\.1 200 /);
    expect(most).to.be.at.most(2);
    expect(handled.indexOf('/alone')).to.be.below(500);
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

  it('requests with a body, answered at once, come one a turn too', async () => {
    let turn = 0;
    const turns: number[] = [];
    const server = new GatewayServer((req, res) => {
      if (req.url === '/many') turns.push(turn);
      res.end();
    });
    const countTurns = (): void => {
      turn += 1;
      if (turns.length < 300 && turn < 1_000_000) setImmediate(countTurns);
    };
    const port = await server.listen('127.0.0.1', 0);
    const flood = openWire(port);
    await once(flood.socket, 'connect');
    countTurns();
    flood.socket.write('GET /many HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'.repeat(300));
    await eventually(() => turns.length === 300, 'all are handled');
    flood.socket.end();
    await server.drain();

    // Two, where the count of turns has not gone on yet between them.
    const most = Math.max(...turns.map((one) => turns.filter((other) => other === one).length));
    expect(most).to.be.at.most(2);
  });

  it('requests that many connections send in the same turn are handled some at a time', async () => {
    let turn = 0;
    const turns: number[] = [];
    const server = new GatewayServer((_req, res) => {
      turns.push(turn);
      const end = performance.now() + 2;
      while (performance.now() < end); // what parsing and checking would take
      res.end();
    });
    const countTurns = (): void => {
      turn += 1;
      if (turns.length < 60 && turn < 1_000_000) setImmediate(countTurns);
    };
    const port = await server.listen('127.0.0.1', 0);
    const many = Array.from({ length: 60 }, () => openWire(port));
    await Promise.all(many.map(({ socket }) => once(socket, 'connect')));
    countTurns();
    for (const { socket } of many) socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await Promise.all(many.map(({ closed }) => closed));
    await server.drain();

    expect(many.every(({ received }) => received().startsWith('HTTP/1.1 200 '))).to.equal(true);
    // Five in 10 ms; ten, where the count of turns has not gone on yet between two of them.
    const most = Math.max(...turns.map((one) => turns.filter((other) => other === one).length));
    expect(most).to.be.within(1, 10);
  });

  it('many connections that each send many requests ahead in the same turn are not read far, and are closed', async () => {
    let accepted = 0;
    let parsed = 0;
    const server = new GatewayServer(() => {
      // Never answered: what comes behind it waits.
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
    await eventually(() => closed() >= 12, 'most are closed').finally(() => {
      for (const { socket } of floods) socket.destroy();
    });
    await server.drain();

    // Two whole ones, and of each other what brings those of a turn to a thousand: alone each would be read whole, 8,000 in all.
    expect(parsed).to.be.within(1, 5_000);
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

    /** One after the other, so that no turn of the event loop has many. */
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
      await flood(7, 450);

      expect(await ask()).to.deep.equal([200, 200, 200, 200, 200]);
      expect(held.size).to.equal(7);
    });

    it('those with the most waiting go when all together have thousands, whoever was there first', async () => {
      await flood(3, 100);
      await flood(20, 450);

      await eventually(() => floods.filter(({ socket }) => socket.closed).length >= 10, 'the surplus is closed');
      expect(floods.slice(0, 3).map(({ socket }) => socket.closed)).to.deep.equal([false, false, false]);
      expect(await ask()).to.deep.equal([200, 200, 200, 200, 200]);
    });
  });

  describe('an answer that does not fit into the buffers of the connection', () => {
    const ANSWER = Buffer.alloc(32 * 1_048_576);
    let server: GatewayServer;
    let port: number;
    let accepted: Socket | undefined;
    beforeEach(async () => {
      server = new GatewayServer((_req, res) => res.end(ANSWER), { unreadMs: 1_000 });
      server.http.on('connection', (socket) => {
        accepted = socket;
      });
      port = await server.listen('127.0.0.1', 0);
    });
    afterEach(async () => {
      server.http.closeAllConnections();
      await server.drain();
    });

    it('is given up when nobody reads it', async () => {
      const wire = openWire(port);
      wire.closed.catch(() => {});
      wire.socket.pause();
      wire.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));

      await eventually(() => accepted?.destroyed === true, 'the server has closed it');
      wire.socket.destroy();
    });

    it('is sent whole to whoever reads it slowly', async () => {
      const socket = connect(port, '127.0.0.1');
      let received = 0;
      socket.on('data', (piece) => {
        received += piece.length;
        socket.pause();
      });
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      const began = performance.now();
      const pace = setInterval(() => socket.resume(), 4);
      await once(socket, 'close').finally(() => clearInterval(pace));

      expect(received).to.be.above(ANSWER.length);
      expect(performance.now() - began).to.be.above(1_000); // else the test says nothing
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

    expect(parsed).to.be.within(1, 600);
  });

  describe('with little patience', () => {
    let hasty: GatewayServer;
    let port: number;
    before(async () => {
      hasty = new GatewayServer(gateway.app, { keepAliveMs: 500, headersMs: 150, requestMs: 300, checkMs: 20 });
      port = await hasty.listen('127.0.0.1', 0);
    });
    after(() => hasty.drain());

    /** Byte by byte, until the server has closed: never an idle connection, never a whole request. */
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
      const before = await gateway.standing();

      const received = await trickle(`${beginning()}Content-Length: 60000\r\n\r\n{"to":"`, '9'.repeat(5_000));

      expect(received).to.match(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
      expect(await gateway.standing()).to.deep.equal(before);
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

      await eventually(() => slow.every((socket) => socket.closed), 'all are closed', 15_000);
    });
  });
});
