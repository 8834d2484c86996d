import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { eventually } from '../support/eventually.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from '../support/gateway.ts';
import { makeAccount } from '../support/make.ts';
import { exchange, openTls, type ProxyProcess, startProxy, statusesIn } from '../support/proxy.ts';
import { openTestStore } from '../support/store.ts';
import { use } from '../support/use.ts';

const NEIGHBOUR = '127.0.0.1';
const CALLER = '127.0.0.21';
const GUESSER = '127.0.0.22';
const FLOODER = '127.0.0.23';
const BODY = '{"to":"919876543210","message":"x","sender":"HARKRA"}';

for (const kind of ['nginx', 'haproxy'] as const) {
  describe(`a gateway behind ${kind}`, () => {
    const store = use(openTestStore);
    let gateway: TestGateway;
    let proxy: ProxyProcess;
    let account: AccountId;
    let key: string;
    before(async () => {
      const config = { ...TEST_CONFIG, trustProxy: ['127.0.0.1'], authFailuresPerMinute: 3 };
      gateway = await openGateway(store.db, { config });
      proxy = await startProxy(kind, gateway.port);
      account = await makeAccount(store.db, 1_000);
      key = await makeKey(store.db, account);
    });
    after(async () => {
      await proxy?.close();
      await gateway?.close();
    });

    const head = (path = '/v2/send'): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const send = (more = ''): string => `${head()}${more}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
    const messages = (): Promise<number> => store.db.collection('messages').countDocuments({ account });
    const ask = async (from: string, bytes: string): Promise<number[]> =>
      statusesIn(await exchange(proxy.port, from, bytes));
    const balance = (authorization: string, more = ''): string =>
      `GET /v2/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${authorization}\r\n${more}Connection: close\r\n\r\n`;

    /** A neighbour sends several requests on one connection, as customers do (waits: docs/performance.md). */
    async function neighbourIsAnswered(): Promise<void> {
      const socket = openTls(proxy.port, NEIGHBOUR);
      const closed = once(socket, 'close').then(() => ['closed without an answer']);
      for (let i = 0; i < 10; i++) {
        socket.write(`GET /v2/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
        const [answer] = await Promise.race([once(socket, 'data'), closed]);
        expect(String(answer)).to.match(/^HTTP\/1\.1 200 /);
      }
      socket.destroy();
    }

    it('a send passes', async () => {
      const before = await messages();

      expect(await ask(CALLER, send('Connection: close\r\n'))).to.deep.equal([200]);

      expect(await messages()).to.equal(before + 1);
    });

    it('the rate limit sees the address of the caller, whatever the caller says of it', async () => {
      const guess = (i: number): string => balance('hk_live_x', `X-Forwarded-For: 10.0.0.${i}\r\n`);
      const statuses: number[] = [];
      for (let i = 0; i < 5; i++) statuses.push(...(await ask(GUESSER, guess(i))));

      expect(statuses).to.deep.equal([401, 401, 401, 429, 429]);
      expect(await ask(CALLER, balance('hk_live_x'))).to.deep.equal([401]);
    });

    it('metrics are not there', async () => {
      expect(await ask(CALLER, 'GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).to.deep.equal([404]);
    });

    it('half a head, and half a body, are ended', async () => {
      const [halfHead, halfBody] = await Promise.all([
        exchange(proxy.port, FLOODER, 'POST /v2/send HTTP/1.1\r\nHost: x\r\nX-'),
        exchange(proxy.port, FLOODER, `${head()}Content-Length: 1000\r\n\r\n{"to":`),
      ]);

      expect(statusesIn(halfHead).filter((status) => status !== 408)).to.deep.equal([]);
      expect(statusesIn(halfBody).filter((status) => status !== 408)).to.deep.equal([]);
    });

    it('a body above the limit is refused long before it is there', async () => {
      const statuses = await Promise.all(
        [
          ['/v2/send', 65_537],
          ['/chatapp/callback/x', 3_145_729],
          ['/v2/send-bulk', 10_485_761],
        ].map(([path, bytes]) =>
          ask(CALLER, `${head(String(path))}Content-Length: ${bytes}\r\n\r\n${' '.repeat(20_000)}`),
        ),
      );

      expect(statuses).to.deep.equal([[413], [413], [413]]);
    });

    it('a body in chunks of one byte reaches the gateway in larger ones', async () => {
      const sockets = new Set<Socket>();
      gateway.server.http.on('request', ({ socket }) => sockets.add(socket));
      const blanks = '1\r\n \r\n'.repeat(5_000);
      const body = `${blanks}${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

      const statuses = await ask(CALLER, `${head()}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body}`);

      expect(statuses).to.deep.equal([200]);
      expect(sockets.size).to.equal(1);
      for (const { bytesRead } of sockets) expect(bytesRead).to.be.within(5_000, 10_000); // of 30,000
    });

    it('of 300 connections of one address the surplus is turned away, and a neighbour is answered', async () => {
      const sockets: TLSSocket[] = [];
      const held = new Set<TLSSocket>();
      for (let i = 0; i < 300; i++) {
        const socket = openTls(proxy.port, FLOODER);
        socket.once('secureConnect', () => held.add(socket));
        socket.on('data', (answer) => String(answer).startsWith('HTTP/1.1 429 ') && held.delete(socket));
        // Each sends an incomplete request, which the proxy holds until its time-out.
        socket.write(`${head()}Content-Length: 1000\r\n\r\n{"to":`);
        sockets.push(socket);
      }

      await neighbourIsAnswered();

      await eventually(() => sockets.every(({ closed }) => closed), 'all have ended');
      expect(held.size).to.be.within(1, 100);
    });

    it('of a flood of requests of one address the surplus is turned away, and a neighbour is answered', async () => {
      const flood = Promise.all(
        Array.from({ length: 20 }, () =>
          exchange(
            proxy.port,
            FLOODER,
            `${'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100)}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
          ),
        ),
      );

      await neighbourIsAnswered();
      const statuses = (await flood).flatMap(statusesIn);

      expect(statuses).to.include(200).and.include(429);
    });

    describe('request smuggling', () => {
      const hidden = (): string => send('X-Hidden: yes\r\n');
      const SHAPES: readonly (readonly [what: string, headers: string, body: string])[] = [
        ['length and chunks', `Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked\r\n`, '0\r\n\r\n'],
        ['chunks and length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n'],
        ['two lengths', `Content-Length: 0\r\nContent-Length: ${BODY.length}\r\n`, ''],
        ['a list of lengths', `Content-Length: 0, ${BODY.length}\r\n`, ''],
        ['a length with a sign', 'Content-Length: +0\r\n', ''],
        ['an unknown coding', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
        ['identity', 'Transfer-Encoding: identity\r\n', '0\r\n\r\n'],
        ['chunked, then identity', 'Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'],
        ['a blank before the colon', 'Transfer-Encoding : chunked\r\n', '0\r\n\r\n'],
        ['a vertical tab before the coding', 'Transfer-Encoding:\x0bchunked\r\n', '0\r\n\r\n'],
        ['a chunk with a sign', 'Transfer-Encoding: chunked\r\n', '-1\r\n'],
        ['a chunk beyond 64 bits', 'Transfer-Encoding: chunked\r\n', 'FFFFFFFFFFFFFFFFF\r\n'],
      ];
      for (const [what, headers, body] of SHAPES) {
        it(`is refused: ${what}`, async () => {
          const before = await messages();

          const statuses = await ask(CALLER, `${head()}${headers}\r\n${body}${hidden()}`);

          expect(statuses.filter((status) => status < 400)).to.deep.equal([]);
          expect(statuses).to.have.lengthOf.at.most(1);
          expect(await messages()).to.equal(before);
        });
      }
    });
  });
}
