import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { makeKey, openGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { useStore } from '../../support/store.ts';
import { use } from '../../support/use.ts';
import { wrote } from '../../support/wrote.ts';

const CUSTOMER = '919876543210';
/** They make an answer of 6 MB. */
const MESSAGES = 500;

describe('large answers that nobody reads', function () {
  this.timeout(60_000);
  const store = useStore();
  const gateway = use(() => openGateway(store.db));
  const unread: Socket[] = [];
  after(async () => {
    for (const socket of unread) socket.destroy();
  });

  it('keep the lists of their account waiting, and those of no other', async () => {
    const [greedy, other] = [await makeAccount(store.db, 0), await makeAccount(store.db, 0)];
    for (let i = 0; i < MESSAGES; i++)
      await wrote(store.db, greedy, { customer: CUSTOMER, body: 'नम'.repeat(2_048), minutesAgo: i });
    const [key, otherKey] = [
      await makeKey(store.db, greedy, ['read'], undefined, 100_000),
      await makeKey(store.db, other),
    ];
    for (let i = 0; i < 6; i++) {
      const socket = connect(gateway.port, '127.0.0.1');
      unread.push(socket);
      // Each asks for another page and stops reading at the answer's start.
      const path = `/v2/account/inbox/${CUSTOMER}?limit=${MESSAGES - i}`;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    }
    await Promise.all(unread.map((socket) => once(socket, 'readable')));
    const answered = { greedy: 0, other: 0 };
    const ask = async (who: keyof typeof answered, token: string) => {
      const answer = await fetch(`${gateway.url}/v2/messages`, { headers: { Authorization: `Bearer ${token}` } });
      await answer.text();
      answered[who] += answer.status === 200 ? 1 : 0;
    };
    const mine = ask('greedy', key);
    // Longer than an account's longest pause between reads.
    for (const beganMs = performance.now(); performance.now() - beganMs < 1_000; ) await ask('other', otherKey);
    expect(answered.other).to.be.above(1);
    expect(answered.greedy).to.equal(0);
    for (const socket of unread) socket.destroy();
    await mine;

    expect(answered.greedy).to.equal(1);
  });
});
