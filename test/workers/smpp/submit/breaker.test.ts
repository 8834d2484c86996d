import { Breaker, type BreakerAnswer } from '../../../../workers/smpp/submit/breaker.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('Breaker', () => {
  const clock = new ManualClock();
  const tell = (breaker: Breaker, count: number, answer: BreakerAnswer): void => {
    for (let i = 0; i < count; i++) breaker.answered(answer);
  };

  function open(): Breaker {
    const breaker = new Breaker(clock);
    tell(breaker, 20, 'refused');
    expect(breaker.state).to.equal('open');
    return breaker;
  }

  const CASES: readonly (readonly [string, Partial<Record<BreakerAnswer, number>>, 'closed' | 'open'])[] = [
    ['all is well', { good: 100 }, 'closed'],
    ['too few answers to tell', { refused: 19 }, 'closed'],
    ['it refuses everything', { refused: 20 }, 'open'],
    ['a list with many bad numbers', { good: 20, refused: 80 }, 'closed'],
    ['it refuses nine of ten', { good: 3, refused: 27 }, 'open'],
    ['less than half are faults', { good: 15, fault: 14 }, 'closed'],
    ['half are faults', { good: 15, fault: 15 }, 'open'],
    ['faults and refusals together', { good: 3, fault: 9, refused: 18 }, 'open'],
  ];
  for (const [what, answers, state] of CASES) {
    it(`${what}: ${state}`, () => {
      const breaker = new Breaker(clock);

      for (const kind of ['good', 'fault', 'refused'] as const) tell(breaker, answers[kind] ?? 0, kind);

      expect(breaker.state).to.equal(state);
      expect(breaker.trippedUntil === undefined).to.equal(state === 'closed');
    });
  }

  it('forgets what is more than 30 seconds ago', () => {
    const breaker = new Breaker(clock);
    tell(breaker, 19, 'refused');
    clock.turn(31_000);
    tell(breaker, 1, 'refused');

    expect(breaker.state).to.equal('closed');
  });

  it('lets five probes go after 30 s, at first none of the most urgent; four good ones close it', () => {
    const breaker = open();
    expect(breaker.probes.room).to.equal(0);
    clock.turn(30_000);

    expect(breaker.state).to.equal('probing');
    expect(breaker.probes).to.deep.equal({ room: 5, fromLane: 1 });
    breaker.claimedProbes(5);
    expect(breaker.probes.room).to.equal(0);
    tell(breaker, 1, 'refused');
    tell(breaker, 4, 'good');

    expect(breaker.state).to.equal('closed');
  });

  it('waits twice as long after each return, up to ten minutes, and tries urgent ones when there are no others', () => {
    const breaker = open();
    const waits: number[] = [];
    for (let returns = 0; returns < 6; returns++) {
      clock.turn((breaker.trippedUntil?.getTime() ?? 0) - clock.now().getTime());
      tell(breaker, 2, 'fault');
      waits.push((breaker.trippedUntil?.getTime() ?? 0) - clock.now().getTime());
    }
    clock.turn(600_000);
    clock.turn(30_000);

    expect(waits).to.deep.equal([60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
    expect(breaker.probes.fromLane).to.equal(0);
  });

  it("is opened by the carrier's own settings for as long as they say, and by a shorter pause no less", () => {
    const breaker = new Breaker(clock);
    breaker.trip(300_000);
    const until = breaker.trippedUntil;
    breaker.trip(5_000);
    expect(breaker.trippedUntil).to.deep.equal(until);
    clock.turn(299_000);
    expect(breaker.state).to.equal('open');
    clock.turn(1_000);
    expect(breaker.state).to.equal('probing');
  });
});
