import { expect } from 'chai';
import { Health } from '../../../workers/webhooks/health.ts';
import type { Target } from '../../../workers/webhooks/targets.ts';
import { silentLog } from '../../support/silent-log.ts';

const DAY_MS = 86_400_000;
const T0 = new Date('2026-11-21T10:00:00Z');

function at(days: number): Date {
  return new Date(T0.getTime() + days * DAY_MS);
}

describe('webhooks worker: health', () => {
  let written: unknown[][];
  let health: Health;
  let target: Target;

  beforeEach(() => {
    written = [];
    health = new Health({
      log: silentLog,
      noteFailingSince: async (...args) => void written.push(['failingSince', ...args]),
      disable: async (...args) => void written.push(['disable', ...args]),
    });
    target = {
      id: 'whk_a',
      hostname: 'hooks.example',
      host: 'h',
      origin: 'https://h',
      path: '/',
      keys: [],
      headers: [],
      retrySeconds: [],
      eventsPerPost: 1,
      gatherMs: 0,
      active: true,
      failingSince: undefined,
    };
  });

  it('writes at the first failure and at the success after it, and nothing in between', async () => {
    for (let n = 0; n < 5; n++) health.note(target, 200, true, at(0));
    for (let n = 0; n < 5; n++) health.note(target, 500, false, at(1));
    for (let n = 0; n < 5; n++) health.note(target, 200, true, at(2));
    await health.settled();

    expect(written).to.deep.equal([
      ['failingSince', 'whk_a', at(1)],
      ['failingSince', 'whk_a', undefined],
    ]);
  });

  it('a success in between begins the five days anew', () => {
    health.note(target, 500, false, at(0));
    health.note(target, 200, true, at(4));
    health.note(target, 500, false, at(4.5));
    health.note(target, 500, false, at(9));

    expect(target.active).to.equal(true);
  });

  it('a write that fails does not stop the next', async () => {
    let fails = true;
    const unlucky = new Health({
      log: silentLog,
      noteFailingSince: async (...args) => {
        if (fails) throw new Error('away');
        written.push(args);
      },
      disable: async () => {},
    });
    unlucky.note(target, 500, false, at(0));
    await unlucky.settled();
    fails = false;

    unlucky.note(target, 200, true, at(1));
    await unlucky.settled();

    expect(written).to.deep.equal([['whk_a', undefined]]);
  });
});
