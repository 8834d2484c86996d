import { STATUS } from '../../../../shared/carriers/command-status.ts';
import { type BindEnd, FRESH, pauseAfter, type Streak } from '../../../../workers/smpp/session/backoff.ts';

const FAILED: BindEnd = { kind: 'failed' };
const refused = (status: number): BindEnd => ({ kind: 'refused', status });
const worked = (boundMs: number): BindEnd => ({ kind: 'worked', boundMs });

function waits(ends: readonly BindEnd[], random = 1): number[] {
  let streak: Streak = FRESH;
  return ends.map((end) => {
    const pause = pauseAfter(end, streak, random);
    streak = pause.streak;
    return pause.waitMs;
  });
}

describe('pauseAfter', () => {
  const TABLE: readonly (readonly [string, readonly BindEnd[], readonly number[]])[] = [
    [
      'binds that never work: doubling from a second to a minute',
      Array.from({ length: 9 }, () => FAILED),
      [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000],
    ],
    [
      'binds that work and are reset every 20 s: at most a second, for ever',
      Array.from({ length: 6 }, () => worked(20_000)),
      [1_000, 1_000, 1_000, 1_000, 1_000, 1_000],
    ],
    [
      'binds that work and are lost at once: growing to a few seconds',
      Array.from({ length: 6 }, () => worked(100)),
      [1_000, 2_000, 4_000, 5_000, 5_000, 5_000],
    ],
    [
      'one that stood for a while ends the quick ones',
      [worked(100), worked(100), worked(20_000), worked(100)],
      [1_000, 2_000, 1_000, 1_000],
    ],
    [
      'a bind that worked ends the failures',
      [FAILED, FAILED, FAILED, worked(20_000), FAILED],
      [1_000, 2_000, 4_000, 1_000, 1_000],
    ],
    [
      'a failure between does not make quick ones slow ones',
      [worked(100), worked(100), FAILED, worked(100)],
      [1_000, 2_000, 1_000, 4_000],
    ],
    [
      'a person must mend it, and carriers lock accounts: a minute more',
      [STATUS.bindFailed, STATUS.invalidPassword, STATUS.invalidSystemId].map(refused),
      [61_000, 62_000, 64_000],
    ],
    ['our earlier session still stands at the carrier: half a minute more', [refused(STATUS.alreadyBound)], [31_000]],
    ['any other refusal is a failure', [refused(STATUS.systemError), FAILED], [1_000, 2_000]],
  ];
  for (const [what, ends, expected] of TABLE) {
    it(what, () => {
      expect(waits(ends)).to.deep.equal(expected);
    });
  }

  it('has full jitter, and never connects again at once', () => {
    expect(waits([FAILED, FAILED, worked(100)], 0.5)).to.deep.equal([500, 1_000, 500]);
    expect(waits([FAILED, worked(100), worked(60_000)], 0)).to.deep.equal([50, 50, 50]);
    expect(waits([refused(STATUS.invalidPassword)], 0)).to.deep.equal([60_050]);
  });
});
