import { deliveriesOf, deliveryId, findDeliveries } from '../../../shared/events/webhooks/delivery.ts';
import { disableEndpoint, setOptions } from '../../../shared/events/webhooks/endpoint-store.ts';
import { type ReplayDocument, startReplay } from '../../../shared/events/webhooks/replay.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Replays } from '../../../workers/webhooks/worker.ts';
import { groupsOf, makeDelivery, makeGroup, present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { drain, openQueues } from './queues.ts';
import { verify, WebhookWorld } from './world.ts';

describe('webhooks worker: replays', () => {
  const world = WebhookWorld.use();

  async function lost(url: string, count: number) {
    const { db, clock } = world();
    const { endpoint } = await world().register(url);
    const { account, _id } = endpoint;
    const createdAt = new Date(clock.now().getTime() - 60_000);
    const made = Array.from({ length: count }, () =>
      makeDelivery({ endpoint: _id, account, state: 'exhausted', createdAt }),
    );
    await deliveriesOf(db).insertMany(made);
    const since = new Date(createdAt.getTime() - 1_000);
    const replay = await startReplay(db, { _id: newId('rpl'), account, endpoint: _id, since }, clock.now());
    return { endpoint, replay };
  }
  const read = async ({ _id }: ReplayDocument) =>
    present(await world().db.collection<ReplayDocument>('webhook_replays').findOne({ _id }));

  it('posts what was lost, page by page, and notes how far it is', async () => {
    const receiver = await world().receiver();
    const { replay } = await lost(receiver.url, 620);
    await world().startWorker();

    const done = await eventually(async () => {
      const now = await read(replay);
      return now.state === 'done' && receiver.received.length === 620 && now;
    }, 'all of it is posted again');

    expect(done).to.include({ replayed: 620 });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(620);
  });

  it('ends when the endpoint was disabled meanwhile', async () => {
    const { db } = world();
    const { endpoint, replay } = await lost('http://127.0.0.1:1/', 3);
    await disableEndpoint(db, endpoint._id, 'account');
    await world().startWorker();

    const stopped = await eventually(async () => {
      const now = await read(replay);
      return now.state !== 'running' && now;
    }, 'it ends');

    expect(stopped).to.include({ state: 'stopped', replayed: 0 });
    expect(await deliveriesOf(db).countDocuments({ endpoint: endpoint._id, state: 'exhausted' })).to.equal(3);
  });

  it('goes on where an earlier process died: a page that was made due and not noted changes nothing more', async () => {
    const { db, clock } = world();
    const { endpoint, replay } = await lost('http://127.0.0.1:1/', 620);
    const first = new Replays({ db, clock });
    await first.round();
    const half = await read(replay);
    // As if the process had died before it noted the page.
    await db.collection<ReplayDocument>('webhook_replays').updateOne({ _id: replay._id }, { $unset: { before: '' } });

    const next = new Replays({ db, clock });
    await next.round();
    await next.round();

    expect(half).to.include({ state: 'running', replayed: 500 });
    expect(await read(replay)).to.include({ state: 'done', replayed: 620 });
    expect(await deliveriesOf(db).countDocuments({ endpoint: endpoint._id, state: 'due' })).to.equal(620);
  });
});

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
