import { CarrierRate } from '../../../../workers/smpp/submit/carrier-rate.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A carrier's limit: whether it accepts a segment now. */
type Limit = (nowMs: number) => boolean;

/** Counts per second. A second begins with the first submit after the last one ended. Refused submits count too. */
function bySecond(perSecond: (nowMs: number) => number): Limit {
  let began = -Infinity;
  let count = 0;
  return (nowMs) => {
    if (nowMs - began >= 1_000) [began, count] = [nowMs, 0];
    count += 1;
    return count <= perSecond(nowMs);
  };
}

function bucket(perSecond: number, burst: number): Limit {
  let tokens = burst;
  let at = 0;
  return (nowMs) => {
    tokens = Math.min(tokens + ((nowMs - at) / 1_000) * perSecond, burst);
    at = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** Accepts at most that many in any period of one second. */
function sliding(perSecond: number): Limit {
  const taken: number[] = [];
  return (nowMs) => {
    while ((taken[0] ?? Infinity) <= nowMs - 1_000) taken.shift();
    if (taken.length >= perSecond) return false;
    taken.push(nowMs);
    return true;
  };
}

/** Accepts all segments except those at these times, as for a recipient whose queue is full. */
function allBut(...refusedMs: readonly number[]): Limit {
  const left = [...refusedMs];
  return (nowMs) => {
    if (left[0] === undefined || nowMs < left[0]) return true;
    left.shift();
    return false;
  };
}

interface Run {
  readonly accepted: number;
  readonly throttled: number;
  readonly peakWindow: number;
}

/**
 * Simulates, millisecond by millisecond, a sender with a window and (unless `wants` says otherwise) constant demand,
 * and a carrier that answers after `rttMs`.
 */
function simulate(
  limit: Limit,
  options: {
    rttMs: number;
    seconds: number;
    fromSecond?: number;
    perSecond?: number;
    wants?: (nowMs: number) => boolean;
  },
): Run {
  const { rttMs, seconds, fromSecond = 0, perSecond = 0, wants = () => true } = options;
  const WINDOW = 50;
  const clock = new ManualClock();
  const startMs = clock.monotonicMs();
  const rate = new CarrierRate({ clock, perSecond, random: () => 0.5 });
  const answers: { readonly atMs: number; readonly taken: boolean }[] = [];
  const run = { accepted: 0, throttled: 0, peakWindow: 0 };
  for (let ms = 0; ms < seconds * 1_000; ms++) {
    while (answers[0] !== undefined && answers[0].atMs <= ms) {
      const answer = answers.shift();
      if (answer?.taken) rate.accepted();
      else rate.throttled();
      if (ms >= fromSecond * 1_000) run[answer?.taken ? 'accepted' : 'throttled'] += 1;
    }
    while (answers.length < WINDOW && wants(ms) && rate.take()) answers.push({ atMs: ms + rttMs, taken: limit(ms) });
    run.peakWindow = Math.max(run.peakWindow, answers.length);
    clock.turn(1);
  }
  expect(clock.monotonicMs() - startMs).to.equal(seconds * 1_000);
  return run;
}

describe('CarrierRate', () => {
  const carriers: readonly (readonly [string, () => Limit])[] = [
    ['counts by the second', () => bySecond(() => 100)],
    ['has a bucket of its own', () => bucket(100, 100)],
    ['has a small bucket', () => bucket(100, 10)],
    ['counts any second', () => sliding(100)],
  ];
  for (const [what, limit] of carriers) {
    for (const rttMs of [1, 50, 300]) {
      it(`a carrier that ${what} and answers after ${rttMs} ms: at least 85 % of its 100 a second is used`, () => {
        const { accepted, throttled } = simulate(limit(), { rttMs, seconds: 60 });

        expect(accepted).to.be.at.least(0.85 * 6_000);
        expect(throttled).to.be.at.most(0.15 * accepted);
      });
    }
  }

  it('a limit of 10 a second is found too, and one of 2,000', () => {
    expect(
      simulate(
        bySecond(() => 10),
        { rttMs: 20, seconds: 60 },
      ).accepted,
    ).to.be.at.least(0.8 * 600);
    expect(
      simulate(
        bySecond(() => 2_000),
        { rttMs: 5, seconds: 30 },
      ).accepted,
    ).to.be.at.least(0.85 * 60_000);
  });

  it('a limit that rises is used again within half a minute, and one that falls is kept to', () => {
    const rises = bySecond((ms) => (ms < 20_000 ? 100 : 400));
    const falls = bySecond((ms) => (ms < 20_000 ? 400 : 100));

    expect(simulate(rises, { rttMs: 20, seconds: 80, fromSecond: 50 }).accepted).to.be.at.least(0.8 * 30 * 400);
    const after = simulate(falls, { rttMs: 20, seconds: 60, fromSecond: 25 });
    expect(after.accepted).to.be.at.least(0.85 * 35 * 100);
  });

  it('a few refusals in the first seconds do not hold a start down', () => {
    const start = simulate(allBut(40, 1_500, 3_900), { rttMs: 20, seconds: 15, fromSecond: 5 });

    expect(start.accepted).to.be.at.least(0.85 * 10 * 2_500);
  });

  it('what was learned from a few refusals at little traffic is no limit for a campaign some minutes later', () => {
    // Five a second for a minute, nothing for another one, then as much as the carrier accepts (2,500 a second).
    const wants = (ms: number): boolean => (ms < 60_000 ? ms % 200 === 0 : ms >= 120_000);
    const limit = allBut(10_000, 11_500, 13_500);

    const campaign = simulate(limit, { rttMs: 20, seconds: 150, fromSecond: 135, wants });

    expect(campaign.accepted).to.be.at.least(0.85 * 15 * 2_500);
  });

  it('a limit of ours is never exceeded, in no second, and used where the carrier takes more', () => {
    let most = 0;
    const seen: number[] = [];
    const watch: Limit = (nowMs) => {
      seen.push(nowMs);
      while ((seen[0] ?? 0) <= nowMs - 1_000) seen.shift();
      most = Math.max(most, seen.length);
      return true;
    };

    const { accepted } = simulate(watch, { rttMs: 5, seconds: 30, perSecond: 50 });

    expect(most).to.be.at.most(50);
    expect(accepted).to.be.at.least(0.9 * 1_500);
  });

  it('a carrier that throttles everything is asked ever less, and at once when it takes one', () => {
    const { throttled } = simulate((ms) => ms > 300_000, { rttMs: 20, seconds: 300 });
    expect(throttled).to.be.at.most(80);

    const { accepted } = simulate(
      bySecond((ms) => (ms < 5_000 ? 0 : 100)),
      { rttMs: 20, seconds: 60, fromSecond: 40 },
    );
    expect(accepted).to.be.at.least(0.8 * 2_000);
  });

  it('a probe whose answer never comes is followed by another', () => {
    const clock = new ManualClock();
    const rate = new CarrierRate({ clock, perSecond: 0, random: () => 0.5 });
    const refuse = (): void => {
      expect(rate.take()).to.equal(true);
      rate.throttled();
      clock.turn(rate.waitMs());
    };
    refuse();
    refuse();
    clock.turn(500);

    expect(rate.take()).to.equal(true);
    clock.turn(500);
    expect(rate.take()).to.equal(false);
    clock.turn(1_600);
    expect(rate.take()).to.equal(true);
  });
});
