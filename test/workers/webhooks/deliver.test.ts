import { MongoServerError } from 'mongodb';
import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import type { Completion } from '../../../shared/events/webhooks/delivery.ts';
import { RETRY_SECONDS } from '../../../shared/events/webhooks/endpoint.ts';
import { isAcknowledged } from '../../../shared/events/webhooks/post.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { Completer, createWebhookMetrics, Deliverer } from '../../../workers/webhooks/deliver.ts';
import { EndpointQueues } from '../../../workers/webhooks/endpoint-queues.ts';
import { Health, judge, nextTry } from '../../../workers/webhooks/judge.ts';
import { Targets } from '../../../workers/webhooks/targets.ts';
import { makeDelivery, makeEndpoint } from '../../shared/events/webhooks/make.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { silentLog as log, silentLog } from '../../support/silent-log.ts';
import { posterWorld } from './poster.ts';

describe('webhooks worker: a delivery to an endpoint that was disabled', () => {
  const { poster } = posterWorld();

  it('stays due until the endpoint is read again after it was found, and is discarded then', async () => {
    const endpoint = makeEndpoint({ status: 'disabled' });
    const completed: Completion[] = [];
    const findEndpoints = async () => [endpoint];
    const guard = new AddressGuard({ allowHttp: false, allowSubnets: [] });
    const targets = new Targets({ clock, box: TEST_BOX, guard, log, findEndpoints });
    const queues = new EndpointQueues({
      ...{ perHost: 1, isFailing: () => false, hostOf: () => undefined },
      ...{ sizeOf: () => ({ eventsPerPost: 1, gatherMs: 0 }), now: () => clock.now() },
    });
    const deliverer = new Deliverer({
      ...{ queues, targets, clock, log, poster: poster(), owns: () => true, random: () => 0.5 },
      completer: new Completer({ log, write: async (group) => void completed.push(...group) }),
      health: new Health({ log, noteFailingSince: async () => {}, disable: async () => {} }),
      metrics: createWebhookMetrics(new Metrics()),
    });
    const delivery = makeDelivery({ endpoint: endpoint._id });
    await targets.refresh([endpoint._id]);

    targets.outdate();
    queues.add(delivery);
    deliverer.pump();
    await deliverer.drained();
    expect(completed).to.deep.equal([]);

    queues.forgetCompleted();
    queues.add(delivery);
    await targets.refresh(queues.endpoints());
    deliverer.pump();
    await deliverer.drained();
    expect(completed).to.deep.equal([{ id: delivery._id, state: 'discarded' }]);
  });
});

describe('webhooks worker: completer', () => {
  it('a completion that the store refuses is refused alone: the others of its group are written', async () => {
    const completions = Array.from({ length: 20 }, (): Completion => {
      return { id: makeDelivery({ endpoint: newId('whk') })._id, state: 'done' };
    });
    const bad = completions[7];
    const written: Completion[] = [];
    const completer = new Completer({
      log: silentLog,
      write: async (group) => {
        if (group.some((one) => one === bad)) throw new MongoServerError({ code: 10_334, errmsg: 'too large' });
        written.push(...group);
      },
    });

    const results = await Promise.allSettled(completions.map((one) => completer.complete(one)));

    const refused = completions.filter((_, i) => results[i]?.status === 'rejected');
    expect(refused).to.deep.equal([bad]);
    expect(written).to.have.members(completions.filter((one) => one !== bad));
  });
});

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
