import { deliveriesOf } from '../../../shared/events/webhooks/delivery.ts';
import { connectStore } from '../../../shared/platform/mongo/connect.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { OPEN_MAX } from '../../../workers/webhooks/endpoint-queues.ts';
import { present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { eachRefused, refused } from '../../support/mongo-wire/faults.ts';
import { startWireProxy } from '../../support/mongo-wire/proxy.ts';
import { WebhookWorld } from './world.ts';

describe('webhooks worker: many deliveries in hand', () => {
  const world = WebhookWorld.use();

  it('endpoints that never answer delay no other', async () => {
    const silent = await world().receiver(() => {});
    const well = await world().receiver();
    for (let n = 0; n < 10; n++) await world().deliver(await world().register(`${silent.url}/${n}`), 300);
    const deliveries = await world().deliver(await world().register(well.url), 500);
    await world().startWorker({ timeoutMs: 600_000 });

    // No silent post has ended when the others have: their time-out is longer than this test.
    await eventually(() => well.received.length === 500, 'all of the healthy endpoint’s');
    await eventually(
      async () => (await deliveriesOf(world().db).countDocuments({ state: 'done' })) === deliveries.length,
      'all done',
    );
    expect(await deliveriesOf(world().db).countDocuments({ 'attempts.0': { $exists: true } })).to.equal(500);
    await silent.close();
  });

  it('never has more posts in flight to one host than the setting says', async () => {
    let now = 0;
    let most = 0;
    const target = await world().receiver((_, res) => {
      now++;
      most = Math.max(most, now);
      setImmediate(() => {
        now--;
        res.end();
      });
    });
    await world().deliver(await world().register(target.url), 300);
    await world().startWorker({ perHost: 3 });

    await eventually(() => target.received.length === 300, 'all arrived');
    expect(most).to.be.at.most(3);
  });

  it('an endpoint’s deliveries leave in the order of their events, one at a time', async () => {
    const target = await world().receiver();
    const deliveries = await world().deliver(await world().register(target.url), 300);
    await world().startWorker({ perHost: 1 });

    await eventually(() => target.received.length === 300, 'all arrived');

    expect(target.received.map(({ body }) => body)).to.deep.equal(deliveries.map(({ body }) => body));
  });

  it('posts nothing twice, however fast completions follow reads', async () => {
    const target = await world().receiver();
    const deliveries = await world().deliver(await world().register(target.url), 1_000);
    await world().startWorker({ perHost: 8 });

    for (const delivery of deliveries) await world().inState(delivery, 'done');

    const ids = target.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.have.length(1_000);
    expect(new Set(ids)).to.have.property('size', 1_000);
  });

  it('two workers share the endpoints and post nothing twice', async () => {
    const target = await world().receiver();
    const registered = await Promise.all(Array.from({ length: 40 }, (_, n) => world().register(`${target.url}/${n}`)));
    const countWorkers = async (): Promise<number> => 2;
    const metrics = [new Metrics(), new Metrics()] as const;
    await world().startWorker({ countWorkers, metrics: metrics[0] }, 'a');
    await world().startWorker({ countWorkers, metrics: metrics[1] }, 'b');
    const posts = async (of: Metrics): Promise<number> => {
      const { values } = (await of.registry.getSingleMetric('harkara_webhook_posts_total')?.get()) ?? { values: [] };
      return values.reduce((sum, { value }) => sum + value, 0);
    };

    // Delivers while partitions change hands and afterwards, until both workers have posted.
    let sent = 0;
    await eventually(async () => {
      for (const one of registered) await world().deliver(one, 2);
      sent += 80;
      await eventually(() => target.received.length >= sent, 'a batch arrived');
      return (await posts(metrics[0])) > 0 && (await posts(metrics[1])) > 0;
    }, 'both workers posted');

    const ids = target.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.have.length(sent);
    expect(new Set(ids)).to.have.property('size', sent);
  });

  it('completions that the store refuses hold no places, and none is posted twice', async () => {
    const proxy = await startWireProxy(world().uri);
    world().onClose(() => proxy.close());
    const way = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: world().db.databaseName });
    world().onClose(() => way.close());
    const refusals = proxy.inject({
      command: 'update',
      collection: 'deliveries',
      times: Infinity,
      happens: refused('BSONObjectTooLarge'),
    });
    const target = await world().receiver();
    const endpoint = await world().register(target.url);
    const count = OPEN_MAX + 44;
    await world().deliver(endpoint, count);
    await world().startWorker({ db: way.db });

    await eventually(() => target.received.length === count, 'all arrived although none can be completed');
    refusals.end();
    const later = present((await world().deliver(endpoint, 1))[0]);
    await world().inState(later, 'done');
    expect(target.received).to.have.length(count + 1);
  });

  it('completions wait for a store that answers with a code that nobody knows, and none is posted twice', async () => {
    const proxy = await startWireProxy(world().uri);
    world().onClose(() => proxy.close());
    const way = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: world().db.databaseName });
    world().onClose(() => way.close());
    const trouble = proxy.inject({
      ...{ command: 'update', collection: 'deliveries', times: Infinity },
      happens: eachRefused(50_463_173),
    });
    const target = await world().receiver();
    const deliveries = await world().deliver(await world().register(target.url), 20);
    await world().startWorker({ db: way.db });

    await eventually(() => target.received.length === 20 && trouble.met > 1, 'all arrived, and none is completed');
    trouble.end();
    for (const delivery of deliveries) await world().inState(delivery, 'done');

    expect(target.received).to.have.length(20);
  });

  it('a stop lets posts in flight end and writes what became of them', async () => {
    const held: (() => void)[] = [];
    const target = await world().receiver((_, res) => void held.push(() => res.end()));
    const deliveries = await world().deliver(await world().register(target.url), 10);
    const worker = await world().startWorker({ perHost: 2 });
    await eventually(() => held.length === 2, 'two in flight');

    const stopped = worker.stop();
    for (const answer of held) answer();
    await stopped;

    const states = await Promise.all(deliveries.map(async (delivery) => (await world().read(delivery))?.state));
    expect(states).to.deep.equal(['done', 'done', ...new Array(8).fill('due')]);
    expect(target.received).to.have.length(2);
  });
});
