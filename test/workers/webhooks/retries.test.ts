import { expect } from 'chai';
import { replayDelivery } from '../../../shared/events/webhooks/delivery-store.ts';
import { present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { WebhookWorld } from './world.ts';

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
