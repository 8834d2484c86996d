import { expect } from 'chai';
import { deliveryId } from '../../../shared/events/webhooks/delivery.ts';
import { findDeliveries } from '../../../shared/events/webhooks/delivery-store.ts';
import { setOptions } from '../../../shared/events/webhooks/endpoint-store.ts';
import { groupsOf, makeDelivery, makeGroup } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { drain, openQueues } from './queues.ts';
import { verify, WebhookWorld } from './world.ts';

describe('webhooks worker: several events in one post', () => {
  const world = WebhookWorld.use();

  it('go as an array of several documents, and are tried again together; one that is alone waits for others', async () => {
    const statuses = [500];
    const target = await world().receiver((_, res) => res.writeHead(statuses.shift() ?? 200).end());
    const registered = await world().register(target.url);
    const { endpoint } = registered;
    await setOptions(world().db, world().box, endpoint, { eventsPerPost: 5, gatherMs: 10_000 });
    const due = world().clock.now();
    const groups = [3, 2].map((size) => makeGroup({ endpoint: endpoint._id, account: endpoint.account, due }, size));
    await groupsOf(world().db).insertMany(groups);
    const items = groups.flatMap((group) => group.items);
    const ids = items.map(({ eventId }) => deliveryId(eventId, endpoint._id));
    const are = (state: string) =>
      eventually(async () => {
        const found = await findDeliveries(world().db, ids, { bodies: false });
        return found.length === 5 && found.every((one) => one.state === state);
      }, `all are ${state}`);
    await world().startWorker();

    await are('waiting');
    world().clock.turn(5_000);
    await are('done');
    const [alone] = await world().deliver(registered);
    await eventually(() => {
      world().clock.turn(1_000);
      return target.received.length === 3;
    }, 'the last one has waited');

    const [first, again, last] = target.received.map((one) => ({
      id: one.headers['webhook-id'],
      events: verify(registered.secret, one),
    }));
    expect(first?.events).to.have.deep.members(
      items.map(({ eventId, body }) => ({ event_id: eventId, ...JSON.parse(body) })),
    );
    expect(again?.id).to.equal(first?.id);
    expect(again?.events).to.have.deep.members(first?.events as unknown[]); // as compared above
    expect(last?.events).to.deep.equal([{ event_id: alone?.eventId, ...JSON.parse(alone?.body ?? '') }]);
    expect(last?.id).not.to.equal(alone?.eventId);
  });

  it('an event waits for as long as the endpoint says, unless there are enough; a post is of 256,000 characters', () => {
    const clock = { now: new Date('2026-11-21T00:00:00Z') };
    const size = { eventsPerPost: 4, gatherMs: 1_000 };
    const queues = openQueues({ sizeOf: () => size, now: () => clock.now });
    const sizes = () => drain(queues).map(({ parts }) => parts.length);
    queues.add(makeGroup({ endpoint: 'whk_a' }, 3));

    expect(sizes()).to.deep.equal([]);
    queues.add(makeGroup({ endpoint: 'whk_a' }, 3));
    expect(sizes()).to.deep.equal([4]);
    clock.now = new Date(clock.now.getTime() + 1_000);
    expect(sizes()).to.deep.equal([2]);
    for (let n = 0; n < 4; n++) queues.add(makeDelivery({ endpoint: 'whk_a', body: 'x'.repeat(100_000) }));
    expect(sizes()).to.deep.equal([2, 2]);
  });
});
