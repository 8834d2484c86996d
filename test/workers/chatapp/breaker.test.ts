import { expect } from 'chai';
import { Breaker } from '../../../workers/chatapp/breaker.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('Breaker', () => {
  let clock: ManualClock;
  let breaker: Breaker;
  beforeEach(() => {
    clock = new ManualClock();
    breaker = new Breaker(clock, () => 1);
  });

  const fail = (times: number): void => {
    for (let i = 0; i < times; i++) breaker.failed(breaker.begin());
  };

  it('a success in between counts from the beginning', () => {
    fail(4);
    breaker.succeeded(false);
    fail(4);

    expect(breaker.state).to.equal('closed');
  });

  it('waits twice as long after each probe that failed, thirty seconds at most', () => {
    fail(5);
    const pauses: number[] = [];
    for (let i = 0; i < 7; i++) {
      clock.turn(breaker.waitMs);
      breaker.failed(breaker.begin());
      pauses.push(breaker.waitMs);
    }

    expect(pauses).to.deep.equal([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is neither opened longer nor closed by what began before it opened', () => {
    fail(5);
    breaker.failed(false);
    breaker.succeeded(false);

    expect([breaker.state, breaker.waitMs]).to.deep.equal(['open', 1_000]);
  });

  it('gives the probe back when it did not take place', () => {
    fail(5);
    clock.turn(1_000);
    breaker.withdrawn(breaker.begin());

    expect(breaker.room).to.equal(1);
  });
});
