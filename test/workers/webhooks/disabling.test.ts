import { replayDelivery } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { disableEndpoint, enableEndpoint, removeEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { Health } from '../../../workers/webhooks/judge.ts';
import type { Target } from '../../../workers/webhooks/targets.ts';
import { present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { silentLog } from '../../support/silent-log.ts';
import { WebhookWorld } from './world.ts';

describe('webhooks worker: endpoints that fail or are gone', () => {
  const world = WebhookWorld.use();

  it('410 disables the endpoint, and discards what else is due for it', async () => {
    const target = await world().receiver((_, res) => res.writeHead(410).end());
    const registered = await world().register(target.url);
    const deliveries = await world().deliver(registered, 20);
    await world().startWorker({ perHost: 1 });

    for (const delivery of deliveries) await world().inState(delivery, 'discarded');

    expect(target.received).to.have.length(1);
    await eventually(async () => (await world().endpointOf(registered))?.status === 'disabled', 'disabled');
    expect(await world().endpointOf(registered)).to.include({ disabledReason: 'the endpoint answered 410 Gone' });
  });

  it('nothing is posted to an endpoint that was disabled or is gone', async () => {
    const target = await world().receiver();
    const disabled = await world().register(`${target.url}/disabled`);
    const gone = await world().register(`${target.url}/gone`);
    await disableEndpoint(world().db, disabled.endpoint._id, 'by its owner');
    await world().db.collection<EndpointDocument>('endpoints').deleteOne({ _id: gone.endpoint._id });
    const deliveries = [...(await world().deliver(disabled, 3)), ...(await world().deliver(gone, 3))];
    await world().startWorker();

    for (const delivery of deliveries)
      expect(await world().inState(delivery, 'discarded')).to.deep.include({ attempts: [] });

    expect(target.received).to.deep.equal([]);
  });

  it('an endpoint that is enabled, or registered again, gets what is due from then on', async () => {
    const target = await world().receiver();
    const disabled = await world().register(`${target.url}/disabled`);
    const gone = await world().register(`${target.url}/gone`);
    await disableEndpoint(world().db, disabled.endpoint._id, 'by its owner');
    await removeEndpoint(world().db, gone.endpoint._id);
    await world().startWorker();
    for (const one of [disabled, gone]) await world().inState(present((await world().deliver(one))[0]), 'discarded');

    // The worker's clock stands still, so its caches do not expire.
    await enableEndpoint(world().db, world().clock, disabled.endpoint._id);
    await world().register(gone.endpoint.url, gone.endpoint.account);

    for (const one of [disabled, gone]) await world().inState(present((await world().deliver(one))[0]), 'done');
  });

  it('so does one that is enabled right after its 410', async () => {
    let status = 410;
    const target = await world().receiver((_, res) => res.writeHead(status).end());
    const registered = await world().register(target.url);
    await world().startWorker();
    await world().inState(present((await world().deliver(registered))[0]), 'discarded');
    await eventually(async () => (await world().endpointOf(registered))?.status === 'disabled', 'disabled');

    status = 200;
    await enableEndpoint(world().db, world().clock, registered.endpoint._id);

    await world().inState(present((await world().deliver(registered))[0]), 'done');
  });

  it('five days of only failures disable the endpoint, and say so', async () => {
    const target = await world().receiver((_, res) => res.writeHead(500).end());
    const registered = await world().register(target.url);
    await world().startWorker();
    const first = present((await world().deliver(registered))[0]);
    await world().inState(first, 'waiting');
    await eventually(async () => (await world().endpointOf(registered))?.failingSince, 'failing noted');

    world().clock.turn(5 * 86_400_000);

    await eventually(async () => (await world().endpointOf(registered))?.status === 'disabled', 'disabled');
    expect((await world().endpointOf(registered))?.disabledReason).to.include('for five days');
  });

  it('a success clears since when the endpoint was failing', async () => {
    let status = 500;
    const target = await world().receiver((_, res) => res.writeHead(status).end());
    const registered = await world().register(target.url);
    await world().startWorker();
    await world().deliver(registered);
    const failing = await eventually(async () => (await world().endpointOf(registered))?.failingSince, 'failing noted');
    expect(failing).to.deep.equal(world().clock.now());

    status = 200;
    await world().deliver(registered);

    await eventually(async () => (await world().endpointOf(registered))?.failingSince === undefined, 'cleared');
  });
});

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

describe('webhooks worker: tries that fail', () => {
  const world = WebhookWorld.use();

  it('a failure is tried again by the schedule, with the same id and body and a new timestamp', async () => {
    let status = 500;
    const target = await world().receiver((_, res) => res.writeHead(status).end('try later'));
    const registered = await world().register(target.url);
    const delivery = present((await world().deliver(registered))[0]);
    await world().startWorker();

    for (const pauseMs of [5_000, 60_000, 300_000]) {
      const waiting = await world().inState(delivery, 'waiting');
      expect(waiting).to.deep.include({ retryAt: new Date(world().clock.now().getTime() + pauseMs) });
      expect(waiting.attempts.at(-1)).to.include({ result: 500, excerpt: 'try later' });
      if (pauseMs === 300_000) status = 200;
      const before = target.received.length;
      world().clock.turn(pauseMs);
      await eventually(() => target.received.length > before, 'tried again');
    }

    const done = await world().inState(delivery, 'done');
    expect(done.attempts.map(({ result }) => result)).to.deep.equal([500, 500, 500, 200]);
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id']))).to.deep.equal(
      new Set([delivery.eventId]),
    );
    expect(new Set(target.received.map(({ body }) => body))).to.have.property('size', 1);
    expect(new Set(target.received.map(({ headers }) => headers['webhook-timestamp']))).to.have.property('size', 4);
  });

  it('is exhausted after nine tries, and can be replayed', async () => {
    let status = 500;
    const target = await world().receiver((_, res) => res.writeHead(status).end());
    const delivery = present((await world().deliver(await world().register(target.url)))[0]);
    await world().startWorker();

    for (let tries = 1; tries < 9; tries++) {
      const waiting = await world().inState(delivery, 'waiting');
      world().clock.turn((waiting.retryAt?.getTime() ?? 0) - world().clock.now().getTime());
      await eventually(() => target.received.length > tries, 'tried again');
    }
    const exhausted = await world().inState(delivery, 'exhausted');
    expect(exhausted.attempts).to.have.length(9);

    status = 200;
    await replayDelivery(world().db, delivery._id, world().clock.now());
    const done = await world().inState(delivery, 'done');
    expect(done.attempts).to.have.length(10);
  });

  it('Retry-After is honoured between the pause and twice it', async () => {
    const target = await world().receiver((_, res) => res.writeHead(429, { 'retry-after': '3600' }).end());
    const delivery = present((await world().deliver(await world().register(target.url)))[0]);
    await world().startWorker();

    const waiting = await world().inState(delivery, 'waiting');

    expect(waiting.retryAt).to.deep.equal(new Date(world().clock.now().getTime() + 10_000));
  });
});
