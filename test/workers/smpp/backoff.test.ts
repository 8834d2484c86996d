import { expect } from 'chai';
import { STATUS } from '../../../shared/carriers/command-status.ts';
import { Backoff } from '../../../workers/smpp/backoff.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('Backoff', () => {
  it('doubles from one second to one minute, with full jitter', () => {
    const longest = new Backoff(new ManualClock(), () => 1);
    const half = new Backoff(new ManualClock(), () => 0.5);

    const waits = Array.from({ length: 9 }, () => longest.nextMs());

    expect(waits).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect([half.nextMs(), half.nextMs()]).to.deep.equal([500, 1_000]);
  });

  it('never connects again at once', () => {
    expect(new Backoff(new ManualClock(), () => 0).nextMs()).to.equal(50);
  });

  it('begins anew only after a bind that lived for a while', () => {
    const clock = new ManualClock();
    const backoff = new Backoff(clock, () => 1);
    backoff.nextMs();
    backoff.nextMs();

    backoff.bound();
    clock.turn(59_000);
    const afterShortLife = backoff.nextMs();
    backoff.bound();
    clock.turn(60_000);
    const afterLongLife = backoff.nextMs();

    expect([afterShortLife, afterLongLife]).to.deep.equal([4_000, 1_000]);
  });

  for (const status of [STATUS.bindFailed, STATUS.invalidPassword, STATUS.invalidSystemId]) {
    it(`waits at least a minute after status ${status}: a person must mend it, and carriers lock accounts`, () => {
      expect(new Backoff(new ManualClock(), () => 0).nextMs(status)).to.be.at.least(60_000);
    });
  }

  it('waits half a minute while the carrier still has our earlier session', () => {
    expect(new Backoff(new ManualClock(), () => 0).nextMs(STATUS.alreadyBound)).to.be.within(30_000, 31_000);
  });
});
