import { expect } from 'chai';
import { RETRY_SECONDS } from '../../../shared/events/webhooks/endpoint.ts';
import { nextTry } from '../../../workers/webhooks/judge.ts';

const NOW = new Date('2026-11-21T10:00:00Z');

function pauseMs(tries: number, random: number, retryAfter?: string, retrySeconds = RETRY_SECONDS): number | undefined {
  const next = nextTry({ tries, retryAfter, retrySeconds, now: NOW, random });
  return next === undefined ? undefined : next.getTime() - NOW.getTime();
}

describe('webhooks/retry-schedule', () => {
  it('is 5 s, 1 m, 5 m, 30 m, 2 h, 5 h, 10 h, 10 h', () => {
    const minutes = [5 / 60, 1, 5, 30, 120, 300, 600, 600];

    expect(RETRY_SECONDS).to.deep.equal(minutes.map((pause) => pause * 60));
  });

  it('varies each pause by a fifth either way', () => {
    for (const [i, seconds] of RETRY_SECONDS.entries()) {
      const [tries, base] = [i + 1, seconds * 1_000];
      expect(pauseMs(tries, 0)).to.equal(base * 0.8);
      expect(pauseMs(tries, 0.5)).to.equal(base);
      expect(pauseMs(tries, 1)).to.equal(base * 1.2);
    }
  });

  it('is exhausted after nine tries', () => {
    expect(pauseMs(8, 0.5)).to.equal(36_000_000);
    expect(pauseMs(9, 0.5)).to.equal(undefined);
    expect(pauseMs(10, 0.5, '5')).to.equal(undefined);
  });

  it("is the endpoint's own if it has one", () => {
    expect([1, 2, 3].map((tries) => pauseMs(tries, 0.5, undefined, [7, 30]))).to.deep.equal([7_000, 30_000, undefined]);
  });

  describe('Retry-After', () => {
    const cases: readonly [string, string, number][] = [
      ['seconds between the pause and twice it', '90', 90_000],
      ['less than the pause', '1', 60_000],
      ['more than twice the pause', '86400', 120_000],
      ['an HTTP-date', 'Sat, 21 Nov 2026 10:01:30 GMT', 90_000],
      ['an HTTP-date long past', 'Sun, 06 Nov 1994 08:49:37 GMT', 60_000],
      ['an HTTP-date far ahead', 'Fri, 01 Jan 2100 00:00:00 GMT', 120_000],
      ['spaces around', ' 90 ', 90_000],
    ];
    for (const [name, value, expected] of cases) {
      it(`${name}: ${value}`, () => {
        expect(pauseMs(2, 0.1, value)).to.equal(expected);
      });
    }

    for (const junk of ['', 'soon', '-5', '1.5', '9'.repeat(400)]) {
      it(`junk is ignored: ${JSON.stringify(junk.slice(0, 10))}`, () => {
        expect(pauseMs(2, 0.5, junk)).to.equal(60_000);
      });
    }
  });
});
