import fc from 'fast-check';
import { TokenBucket } from '../../../../shared/platform/runtime/token-bucket.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Takes all available tokens for `ms`, in steps like a busy event loop's. Returns when each was taken. */
function drain(tokens: TokenBucket, clock: ManualClock, ms: number, step: () => number): number[] {
  const taken: number[] = [];
  const end = clock.monotonicMs() + ms;
  while (clock.monotonicMs() < end) {
    while (tokens.take()) taken.push(clock.monotonicMs());
    clock.turn(step());
  }
  return taken;
}

function busiestSecond(taken: readonly number[]): number {
  return Math.max(0, ...taken.map((from) => taken.filter((at) => at >= from && at < from + 1_000).length));
}

describe('TokenBucket', () => {
  it('never gives more than the limit in any second, wherever it begins, however the loop stutters', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 40 }),
        (perSecond, steps) => {
          const clock = new ManualClock();
          const tokens = new TokenBucket({ clock, perSecond });
          let i = 0;

          const taken = drain(tokens, clock, 5_000, () => steps[i++ % steps.length] ?? 1);

          expect(busiestSecond(taken)).to.be.at.most(perSecond);
        },
      ),
      { numRuns: 200 },
    );
  });

  for (const perSecond of [1, 10, 49, 50, 500, 2_000]) {
    it(`gives nearly all of ${perSecond} a second when asked all the time`, () => {
      const clock = new ManualClock();
      const tokens = new TokenBucket({ clock, perSecond });

      const taken = drain(tokens, clock, 20_000, () => 1);

      expect(taken.length).to.be.within(20 * perSecond * 0.97 - 1, 20 * perSecond);
    });
  }

  it('has no limit when none is set', () => {
    const tokens = new TokenBucket({ clock: new ManualClock(), perSecond: 0 });

    expect(tokens.available()).to.equal(Number.POSITIVE_INFINITY);
    expect(tokens.take()).to.equal(true);
  });

  it('says how long to wait for a token', () => {
    const clock = new ManualClock();
    const tokens = new TokenBucket({ clock, perSecond: 10 });
    tokens.take();

    expect(tokens.take()).to.equal(false);
    clock.turn(tokens.waitMs());

    expect(tokens.take()).to.equal(true);
  });

  it('pauses when the carrier throttles, then goes on more slowly and climbs back', () => {
    const clock = new ManualClock();
    const tokens = new TokenBucket({ clock, perSecond: 100, random: () => 1 });
    drain(tokens, clock, 2_000, () => 5);

    tokens.throttled();

    expect(tokens.available()).to.equal(0);
    expect(tokens.waitMs()).to.equal(250);
    clock.turn(250);
    const slower = drain(tokens, clock, 1_000, () => 5).length;
    expect(slower).to.be.within(70, 90);
    clock.turn(10_000);
    expect(drain(tokens, clock, 1_000, () => 5).length).to.be.within(95, 100);
  });

  it('takes many throttled answers at once for one event', () => {
    const clock = new ManualClock();
    const tokens = new TokenBucket({ clock, perSecond: 100, random: () => 1 });

    for (let i = 0; i < 50; i++) tokens.throttled();

    expect(tokens.waitMs()).to.equal(250);
  });

  it('pauses longer each time, up to 30 s, until something is accepted', () => {
    const clock = new ManualClock();
    const tokens = new TokenBucket({ clock, perSecond: 100, random: () => 1 });
    const pauses: number[] = [];
    for (let i = 0; i < 10; i++) {
      tokens.throttled();
      pauses.push(tokens.waitMs());
      clock.turn(tokens.waitMs() + 500);
    }

    tokens.accepted();
    tokens.throttled();

    expect(pauses).to.deep.equal([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(tokens.waitMs()).to.equal(250);
  });

  it('without a limit of ours falls to a part of what was sent, and is free again when it has climbed well above', () => {
    const clock = new ManualClock();
    const tokens = new TokenBucket({ clock, perSecond: 0, random: () => 1 });
    for (let i = 0; i < 200; i++) tokens.take();

    tokens.throttled();
    clock.turn(300);

    expect(drain(tokens, clock, 1_000, () => 5).length).to.be.within(140, 175);
    clock.turn(60_000);
    expect(tokens.available()).to.equal(Number.POSITIVE_INFINITY);
  });

  it('a pause that the other side asks for is kept, however short our own would be', () => {
    const clock = new ManualClock();
    const tokens = new TokenBucket({ clock, perSecond: 80, random: () => 0 });

    tokens.throttled(5_000);
    const before = [tokens.available(), tokens.waitMs()];
    clock.turn(5_000);

    expect(before).to.deep.equal([0, 5_000]);
    expect(tokens.available()).to.be.at.least(1);
  });
});
