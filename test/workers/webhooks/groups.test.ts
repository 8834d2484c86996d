import type { RequestListener } from 'node:http';
import {
  type DeliveryDocument,
  type DeliveryGroup,
  deliveriesOf,
  deliveryId,
  findDeliveries,
} from '../../../shared/events/webhooks/delivery.ts';
import type { CreatedEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { connectStore } from '../../../shared/platform/mongo/connect.ts';
import type { EventId } from '../../../shared/platform/runtime/ids.ts';
import { groupsOf, makeGroup, present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { startWireProxy } from '../../support/mongo-wire/proxy.ts';
import { replaySince } from '../../support/replay-since.ts';
import type { Receiver } from './receiver.ts';
import { verify, WebhookWorld } from './world.ts';

describe('webhooks worker: the events of a group', () => {
  const world = WebhookWorld.use();

  async function storeDue({ endpoint }: CreatedEndpoint, size: number): Promise<DeliveryGroup> {
    const { _id, account } = endpoint;
    const group = makeGroup({ endpoint: _id, account, due: world().clock.now() }, size);
    await groupsOf(world().db).insertOne(group);
    return group;
  }
  const eventsOf = ({ items }: DeliveryGroup) => items.map(({ eventId }) => eventId);
  const idsOf = ({ received }: Receiver) => received.map(({ headers }) => headers['webhook-id']);
  const done = async (group: DeliveryGroup) =>
    present(
      await eventually(async () => {
        const stored = await groupsOf(world().db).findOne({ _id: group._id });
        return stored?.state === 'done' && stored;
      }, 'the group is done'),
    );
  /** The current delivery of each of the group's events, in order. */
  async function deliveriesNow(group: DeliveryGroup): Promise<readonly (DeliveryDocument | undefined)[]> {
    const ids = eventsOf(group).map((event) => deliveryId(event, group.endpoint));
    const found = await findDeliveries(world().db, ids, { bodies: true });
    return ids.map((id) => found.find(({ _id }) => _id === id));
  }
  const statesNow = async (group: DeliveryGroup) => (await deliveriesNow(group)).map((one) => one?.state);

  it('are posted one by one in their order, signed, each under its own id, and completed by one update', async () => {
    const proxy = await startWireProxy(world().uri);
    world().onClose(() => proxy.close());
    const way = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: world().db.databaseName });
    world().onClose(() => way.close());
    const writes = ['insert', 'update'].map((command) =>
      proxy.inject({
        ...{ command, collection: 'deliveries', times: Infinity },
        happens: async ({ message }, link) => link.tell(await link.ask(message)),
      }),
    );
    const target = await world().receiver();
    const registered = await world().register(target.url);
    const group = await storeDue(registered, 100);
    await world().startWorker({ db: way.db, perHost: 1 });

    const { attempts, due } = await done(group);

    expect(idsOf(target)).to.deep.equal(eventsOf(group));
    expect(target.received.map(({ body }) => body)).to.deep.equal(group.items.map(({ body }) => body));
    for (const one of target.received) expect(verify(registered.secret, one)).to.include({ event: 'message.sent' });
    expect(due).to.equal(undefined);
    expect(attempts.map((attempt) => attempt?.result)).to.deep.equal(Array.from({ length: 100 }, () => 200));
    expect(writes.map(({ met }) => met)).to.deep.equal([0, 1]);
    expect(await deliveriesOf(world().db).countDocuments()).to.equal(1);
  });

  it('that fail go on as deliveries of their own, with their log; the others are done', async () => {
    const bad = new Set<unknown>();
    const target = await world().receiver(answering((id) => (bad.has(id) ? 500 : 200)));
    const group = await storeDue(await world().register(target.url), 5);
    const failing = eventsOf(group).filter((_, i) => i === 0 || i === 3);
    for (const id of failing) bad.add(id);
    await world().startWorker();

    await done(group);

    expect(await statesNow(group)).to.deep.equal(['waiting', 'done', 'done', 'waiting', 'done']);
    const [first] = await deliveriesNow(group);
    expect(first).to.deep.include({ eventId: failing[0], body: group.items[0]?.body, createdAt: group.createdAt });
    expect(first?.attempts).to.have.length(1);
    expect(first?.attempts[0]).to.include({ result: 500, excerpt: 'answered 500' });
    bad.clear();
    world().clock.turn(5_000);
    await eventually(async () => (await statesNow(group)).every((state) => state === 'done'), 'all are done');
    expect(idsOf(target)).to.have.members([...eventsOf(group), ...failing]);
    expect((await deliveriesNow(group))[0]?.attempts.map(({ result }) => result)).to.deep.equal([500, 200]);
  });

  it('are discarded when the endpoint is disabled in between, and can be replayed', async () => {
    const gone = { is: true };
    const target = await world().receiver(answering(() => (gone.is ? 410 : 200)));
    const registered = await world().register(target.url);
    const group = await storeDue(registered, 4);
    await world().startWorker({ perHost: 1 });

    await done(group);

    // Those behind the first are due on their own, until the worker knows that the endpoint is disabled.
    await eventually(async () => (await statesNow(group)).every((state) => state === 'discarded'), 'all are discarded');
    expect((await deliveriesNow(group)).map((one) => one?.attempts.length)).to.deep.equal([1, 0, 0, 0]);
    const lost = { endpoint: group.endpoint, since: group.createdAt };
    expect(await replaySince(world().db, lost, world().clock.now())).to.equal(4);
  });

  it('that were not posted when a worker stops are due on their own; what was posted is done', async () => {
    const held: (() => void)[] = [];
    const open = { is: false };
    const target = await world().receiver((_, res) => (open.is ? res.end() : held.push(() => res.end())));
    const group = await storeDue(await world().register(target.url), 6);
    const worker = await world().startWorker({ perHost: 2 });
    await eventually(() => held.length === 2, 'two in flight');

    const stopped = worker.stop();
    for (const answer of held) answer();
    await stopped;

    expect(await statesNow(group)).to.deep.equal(['done', 'done', 'due', 'due', 'due', 'due']);
    open.is = true;
    await world().startWorker();
    await eventually(async () => (await statesNow(group)).every((state) => state === 'done'), 'all are done');
    expect(idsOf(target)).to.have.members(eventsOf(group)).and.to.have.length(6);
  });

  it('are posted again together after a crash, and what had failed also goes its own way: nothing is lost', async () => {
    const target = await world().receiver();
    const group = await storeDue(await world().register(target.url), 3);
    // As left by a worker that died after splitting off what failed.
    const [item] = group.items;
    const own = deliveryId(item?.eventId ?? 'evt_', group.endpoint);
    const waiting: DeliveryDocument = {
      ...{
        _id: own,
        account: group.account,
        endpoint: group.endpoint,
        eventId: 'evt_',
        event: 'message.sent',
        body: '',
      },
      ...item,
      ...{ state: 'waiting', retryAt: new Date(world().clock.now().getTime() + 5_000), createdAt: group.createdAt },
      attempts: [{ at: world().clock.now(), result: 500, durationMs: 1 }],
    };
    await deliveriesOf(world().db).insertOne(waiting);
    await world().startWorker();

    await done(group);

    expect(idsOf(target)).to.have.members(eventsOf(group));
    expect(await statesNow(group)).to.deep.equal(['waiting', 'done', 'done']);
    world().clock.turn(5_000);
    await eventually(async () => (await statesNow(group)).every((state) => state === 'done'), 'all are done');
  });
});

function answering(status: (id: EventId) => number): RequestListener {
  return (req, res) => {
    const code = status(req.headers['webhook-id'] as EventId); // what the worker posts
    res.writeHead(code).end(code === 200 ? '' : `answered ${code}`);
  };
}
