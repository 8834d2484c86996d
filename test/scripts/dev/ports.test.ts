import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../../../scripts/dev/ports.ts';
import { StartError } from '../../../shared/platform/runtime/lifecycle.ts';

describe('the ports of npm start', () => {
  let taken: Server;
  let port: number;
  before(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  after(() => new Promise((resolve) => taken.close(resolve)));

  it('a busy one is told in one sentence that names the setting', async () => {
    const error: unknown = await freePort('127.0.0.1', port, 'HARKARA_PORT').catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(StartError);
    expect(error).to.have.property(
      'message',
      `Port ${port} is taken by another program: choose a free one, HARKARA_PORT=${port + 1} npm start.`,
    );
  });

  it('an address that this machine does not have is told too', async () => {
    const error: unknown = await freePort('192.0.2.1', 0, 'HARKARA_PORT').catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(StartError).and.to.have.property('message').that.includes('192.0.2.1');
  });

  it('0 becomes one that is free', async () => {
    const found = await freePort('127.0.0.1', 0, 'HARKARA_PORT');

    expect(found).to.be.greaterThan(0);
    expect(await freePort('127.0.0.1', found, 'HARKARA_PORT')).to.equal(found);
  });
});
