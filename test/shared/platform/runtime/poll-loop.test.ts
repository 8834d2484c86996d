import { type Found, PollLoop, type PollLoopOptions } from '../../../../shared/platform/runtime/poll-loop.ts';
import { eventually } from '../../../support/eventually.ts';
import { keepLines } from '../../../support/log-lines.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('a poll loop', () => {
  let loop: PollLoop | undefined;
  let rounds = 0;
  let found: Found = 'idle';
  afterEach(() => loop?.stop());

  function start(options: Pick<PollLoopOptions, 'idleMs' | 'gapMs' | 'listen'>): PollLoop {
    rounds = 0;
    found = 'idle';
    loop = new PollLoop({
      name: 'test',
      log: silentLog,
      work: async () => {
        rounds += 1;
        return found;
      },
      ...options,
    });
    loop.start();
    return loop;
  }

  it('goes on whenever it is woken, however long its pauses would be', async () => {
    const sleepy = start({ idleMs: 3_600_000 });

    // Unless a wake shortens them, pauses double from 5 ms: the twentieth would last more than 40 minutes.
    for (let n = 1; n <= 20; n++) {
      const before = rounds;
      sleepy.wake();
      await eventually(() => rounds > before, `round ${n}`);
    }
  });

  it('begins with short pauses again after it was woken', async () => {
    const sleepy = start({ idleMs: 3_600_000 });
    await eventually(() => rounds >= 8, 'pauses of more than half a second');

    sleepy.wake();

    const before = rounds;
    await eventually(() => rounds >= before + 7, 'rounds that nobody asked for');
  });

  it('listens while it runs', async () => {
    let heard: (() => void) | undefined;
    const listening = start({
      idleMs: 5,
      listen: (wake) => {
        heard = wake;
        return () => {
          heard = undefined;
        };
      },
    });
    expect(heard).to.be.a('function');

    await listening.stop();

    expect(heard).to.equal(undefined);
  });

  it('polls as before while it has heard nothing, and sleeps longer from then on', async () => {
    let tell = (): void => {};
    start({
      idleMs: 5,
      listen: (wake) => {
        tell = wake;
        return () => {};
      },
    });
    await eventually(() => rounds > 100, 'rounds although nothing was told');

    tell();
    const told = rounds;
    const began = performance.now();
    // Pauses double from 100 ms: four last 1.5 seconds in all, not twenty milliseconds.
    await eventually(() => rounds >= told + 5, 'rounds with longer and longer pauses');
    expect(performance.now() - began).above(1_000);
  });

  it('asks again at once when it took all there was, unless it hears of more', async () => {
    let tell = (): void => {};
    start({
      idleMs: 3_600_000,
      listen: (wake) => {
        tell = wake;
        return () => {};
      },
    });
    found = 'all';
    await eventually(() => rounds > 100, 'rounds while nothing was told');

    tell();
    const told = rounds;
    const began = performance.now();
    await eventually(() => rounds >= told + 12, 'rounds with pauses');
    // Ten pauses of 100 ms: each round found something, so they do not grow.
    expect(performance.now() - began).at.least(900);
  });

  it('looks soon after what waits for something that nobody tells, also when it hears of new work', async () => {
    let tell = (): void => {};
    start({
      idleMs: 5,
      listen: (wake) => {
        tell = wake;
        return () => {};
      },
    });
    found = 'waiting';
    tell();
    const told = rounds;

    // With pauses from 100 ms to two seconds, 100 rounds would exceed the deadline.
    await eventually(() => rounds > told + 100, 'rounds while something waits');
  });

  it('polls as before when it cannot listen', async () => {
    start({ idleMs: 5, listen: () => undefined });

    // With pauses of a second, 100 rounds would exceed the deadline.
    await eventually(() => rounds > 100, 'rounds without any call');
  });

  it('leaves the least time between two rounds, also when it is woken', async () => {
    const gapMs = { more: 30, idle: 30 };
    const eager = start({ idleMs: 3_600_000, gapMs });
    await eventually(() => rounds >= 1, 'the first round');

    const began = performance.now();
    const before = rounds;
    await eventually(() => {
      eager.wake();
      return rounds >= before + 5;
    }, 'rounds for each wake');

    // At least four whole gaps lie between the first and the fifth round.
    expect(performance.now() - began).to.be.at.least(4 * gapMs.idle);
  });

  it('logs the first of failures in a row, and the next ones not before a minute has passed', async () => {
    const { log, lines } = keepLines();
    let isAway = true;
    let failed = 0;
    let worked = 0;
    loop = new PollLoop({
      name: 'test',
      log,
      idleMs: 5,
      work: async () => {
        if (!isAway) {
          worked += 1;
          return 'idle';
        }
        failed += 1;
        throw new Error('the store is away');
      },
    });
    loop.start();
    const fails = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++) {
        const before = failed;
        loop?.wake();
        await eventually(() => failed > before, 'a round that fails');
      }
    };

    await fails(10);

    expect(lines.map(({ event, fields }) => [event, fields.loop, fields.in_a_row])).deep.equal([
      ['round_failed', 'test', 1],
    ]);

    isAway = false;
    await eventually(() => worked > 0, 'a round that works');
    isAway = true;
    await fails(1);

    expect(lines).to.have.length(2);
  });
});
