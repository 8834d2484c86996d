import { expect } from 'chai';
import { RETRY_SECONDS } from '../../../shared/events/webhooks/endpoint.ts';
import { isAcknowledged } from '../../../shared/events/webhooks/result-words.ts';
import { judge } from '../../../workers/webhooks/judge.ts';
import { makeDelivery } from '../../shared/events/webhooks/make.ts';

const startedAt = new Date('2026-11-21T10:00:00Z');
const now = new Date('2026-11-21T10:00:01Z');
const CALL = { retrySeconds: RETRY_SECONDS, startedAt, now, random: 0.5 };

describe('webhooks worker: judge', () => {
  const delivery = makeDelivery({ endpoint: 'whk_a' });

  for (const result of [200, 201, 202, 204, 299]) {
    it(`${result} acknowledges`, () => {
      expect(judge(delivery, { result, durationMs: 3, excerpt: 'thanks' }, CALL)).to.deep.equal({
        id: delivery._id,
        state: 'done',
        attempt: { at: startedAt, result, durationMs: 3 },
      });
    });
  }

  for (const result of [
    300,
    301,
    304,
    307,
    400,
    401,
    404,
    429,
    500,
    503,
    'timeout',
    'connection_lost',
    'refused_address',
  ]) {
    it(`${result} is tried again`, () => {
      expect(isAcknowledged(result)).to.equal(false);
      expect(judge(delivery, { result, durationMs: 3, excerpt: 'no' }, CALL)).to.deep.equal({
        id: delivery._id,
        state: 'waiting',
        retryAt: new Date(now.getTime() + 5_000),
        attempt: { at: startedAt, result, durationMs: 3, excerpt: 'no' },
      });
    });
  }

  it('410 ends the delivery', () => {
    expect(judge(delivery, { result: 410, durationMs: 3 }, CALL)).to.include({ state: 'discarded' });
  });

  it('Retry-After moves the next try within its limits', () => {
    const judged = judge(delivery, { result: 429, durationMs: 3, retryAfter: '8' }, CALL);

    expect(judged).to.deep.include({ state: 'waiting', retryAt: new Date(now.getTime() + 8_000) });
  });

  it('the ninth failure exhausts the delivery; a replay begins anew', () => {
    const attempts = RETRY_SECONDS.map(() => ({ at: startedAt, result: 500, durationMs: 1 }));
    const tired = { ...delivery, attempts };

    expect(judge(tired, { result: 500, durationMs: 3 }, CALL)).to.include({ state: 'exhausted' });
    expect(
      judge({ ...tired, replayedAt: new Date(startedAt.getTime() + 1) }, { result: 500, durationMs: 3 }, CALL),
    ).to.deep.include({ state: 'waiting', retryAt: new Date(now.getTime() + 5_000) });
  });
});
