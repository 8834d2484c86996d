import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { LOAD, memoryMib, norm, own, WORLD, wakeUps } from '../../../scripts/bench/process-usage.ts';

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
