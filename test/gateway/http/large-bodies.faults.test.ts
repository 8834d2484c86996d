import { connect, type Socket } from 'node:net';
import { accountAtGateway } from '../../support/account-gateway.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';

const BYTES = 4_000_000;

describe('large bodies', () => {
  const site = accountAtGateway(10);

  /** Announces a body with `Expect: 100-continue`; the answer shows when the gateway wants to read it. */
  function announce(key: string): { readonly socket: Socket; said(): string } {
    const socket = connect(Number(new URL(site.url).port), '127.0.0.1');
    let said = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      said += text;
    });
    socket.on('error', () => {});
    const head = ['POST /v2/send-bulk HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`, 'Expect: 100-continue'];
    socket.write(`${[...head, 'Content-Type: application/json', `Content-Length: ${BYTES}`].join('\r\n')}\r\n\r\n`);
    return { socket, said: () => said };
  }

  it('an account has four at a time; the next is read when one of them is answered or gone', async () => {
    const key = await makeKey(site.db, site.account, ['send'], undefined, 1_000_000);
    const strangers = await makeKey(site.db, await makeAccount(site.db, 10), ['send'], undefined, 1_000_000);
    const isRead = ({ said }: { said(): string }) => said().startsWith('HTTP/1.1 100 Continue');
    const mine = Array.from({ length: 6 }, () => announce(key));
    const read = (count: number) => eventually(() => mine.filter(isRead).length === count, `${count} bodies are read`);
    await read(4);

    const others = announce(strangers);
    await eventually(() => isRead(others), "another account's body is read");
    expect(mine.filter(isRead)).to.have.length(4);

    const [answered, gone] = mine.filter(isRead);
    answered?.socket.write(' '.repeat(BYTES));
    await eventually(() => answered?.said().includes('HTTP/1.1 400'), 'the answer');
    await read(5);
    gone?.socket.destroy();
    await read(6);
    for (const { socket } of [...mine, others]) socket.destroy();
  });
});
