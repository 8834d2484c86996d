import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../scripts/bench/fleet.ts';
import { readOptions } from '../../scripts/bench/options.ts';
import { LOAD, memoryMib, norm, own, WORLD, wakeUps } from '../../scripts/bench/usage.ts';

describe('npm run bench: options', () => {
  it('refuse a carrier that sends no receipt, for which a run would wait for ever', () => {
    expect(() => readOptions(['--deliver-window', '0'])).to.throw(
      '--deliver-window must be a whole number, at least 1, not "0"',
    );
    expect(readOptions(['--deliver-window', '1'])).to.deep.nested.include({ 'carrier.deliverWindow': 1 });
    expect(() => readOptions(['--messages', 'x'])).to.throw('--messages must be a whole number, not "x"');
    expect(readOptions(['--response-delay', '0'])).to.deep.nested.include({ 'carrier.responseDelayMs': 0 });
  });

  for (const name of ['window', 'connections', 'accounts', 'keys', 'gateways']) {
    it(`refuse --${name} 0, with which nothing is sent`, () => {
      expect(() => readOptions([`--${name}`, '0'])).to.throw(`--${name} must be a whole number, at least 1, not "0"`);
      expect(readOptions([`--${name}`, '1'])).to.include({ [name]: 1 });
    });
  }

  it('take several rates, and refuse one at which nothing is sent', () => {
    expect(readOptions(['--rate', '50,1000'])).to.deep.include({ rates: [50, 1_000] });
    for (const rate of ['0', '500,', 'fast']) {
      expect(() => readOptions(['--rate', rate])).to.throw(
        `--rate must be whole numbers, at least 1, with commas between, not "${rate}"`,
      );
    }
  });
});

describe('npm run bench: what processes use', () => {
  const cpu = { gateway: 300, smpp: 200, [WORLD]: 60, [LOAD]: 40 };

  it('is told of the product alone, and divided by what load and simulator used', () => {
    expect(own(cpu)).to.equal(500);
    expect(norm(cpu)).to.equal(5);
  });

  it('has wake-ups, which grow with each pause of a process', async () => {
    const before = wakeUps(process.pid);
    for (let pause = 0; pause < 5; pause++) await wait(2);
    expect(wakeUps(process.pid) - before).to.be.at.least(5);
  });

  it('has memory, of which a process shares some with others', () => {
    const { now, peak, part } = memoryMib(process.pid);
    expect(peak).to.be.at.least(now);
    expect(part).to.be.above(0).and.below(now);
  });
});

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
