import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../../../scripts/bench/free-port.ts';

describe('a free port', () => {
  it('is one that can be listened on, given once, and none that a connection could get', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));

    expect(new Set(ports).size).to.equal(50);
    for (const port of ports) expect(port).to.be.within(10_000, 31_999);
    const server = createServer();
    await once(server.listen(ports[0], '127.0.0.1'), 'listening');
    await once(server.close(), 'close');
  });
});
