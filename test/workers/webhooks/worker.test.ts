import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { eventsOf } from '../../../shared/events/catalogue.ts';
import { Lease } from '../../../shared/leases/lease.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { Metrics } from '../../../shared/runtime/metrics.ts';
import { createSecretBox } from '../../../shared/runtime/secret-box.ts';
import { AddressGuard } from '../../../shared/webhooks/address-guard.ts';
import { createAnnouncer } from '../../../shared/webhooks/announce.ts';
import type { DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import { deliveriesOf, replayDelivery } from '../../../shared/webhooks/delivery-store.ts';
import type { EndpointDocument } from '../../../shared/webhooks/endpoint.ts';
import { type CreatedEndpoint, createEndpoint, disableEndpoint } from '../../../shared/webhooks/endpoint-store.ts';
import { newSecret } from '../../../shared/webhooks/sign.ts';
import { IN_FLIGHT_MAX } from '../../../workers/webhooks/quota.ts';
import { WebhookWorker, type WebhookWorkerOptions } from '../../../workers/webhooks/worker.ts';
import { makeDelivery, makeEndpoint, makeMessage, present } from '../../shared/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';
import { openReceiver, type Received, type Receiver } from './receiver.ts';

describe('webhooks worker', () => {
  const box = createSecretBox(randomBytes(32));
  let store: TestStore;
  let clock: ManualClock;
  const closing: (() => Promise<unknown>)[] = [];

  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(() => {
    // Near the real time: the receivers' library checks timestamps against it.
    clock = new ManualClock(systemClock.now());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await store.db.collection('deliveries').deleteMany({});
  });

  async function startWorker(override: Partial<WebhookWorkerOptions> = {}, machine = 'a'): Promise<WebhookWorker> {
    const identity = { machine, pid: 1, startedAt: '1' };
    const worker = new WebhookWorker({
      db: store.db,
      clock,
      log: silentLog,
      metrics: new Metrics(),
      box,
      guard: new AddressGuard({ allowHttp: true, allowSubnets: ['127.0.0.0/8'] }),
      // Leases run by the store's time, whatever the test's clock says.
      leases: Array.from(
        { length: 8 },
        (_, n) => new Lease({ name: `webhooks:${n}`, db: store.db, clock: systemClock, identity }),
      ),
      leaseRoundMs: 20,
      countWorkers: async () => 1,
      timeoutMs: 10_000,
      perEndpoint: 4,
      random: () => 0.5,
      ...override,
    });
    closing.push(() => worker.stop());
    await worker.start();
    return worker;
  }

  async function receiver(answer?: RequestListener): Promise<Receiver> {
    const made = await openReceiver(answer);
    closing.push(() => made.close());
    return made;
  }

  function register(url: string, account: AccountId = newId('acc')): Promise<CreatedEndpoint> {
    return createEndpoint(store.db, clock, box, { account, channel: 'sms', url, events: eventsOf('sms') });
  }

  /** Deliveries to an endpoint, due in the order of the result. */
  async function deliver({ endpoint }: CreatedEndpoint, count = 1): Promise<DeliveryDocument[]> {
    const start = clock.now().getTime();
    const made = Array.from({ length: count }, (_, n) =>
      makeDelivery({ endpoint: endpoint._id, account: endpoint.account, due: new Date(start - count + n) }),
    );
    await deliveriesOf(store.db).insertMany(made);
    return made;
  }

  function read({ _id }: DeliveryDocument): Promise<DeliveryDocument | null> {
    return deliveriesOf(store.db).findOne({ _id });
  }

  async function inState(delivery: DeliveryDocument, state: DeliveryDocument['state']): Promise<DeliveryDocument> {
    return present(
      await eventually(async () => {
        const found = await read(delivery);
        return found?.state === state && found;
      }, `the delivery is ${state}`),
    );
  }

  function endpointOf({ endpoint }: CreatedEndpoint): Promise<EndpointDocument | null> {
    return store.db.collection<EndpointDocument>('endpoints').findOne({ _id: endpoint._id });
  }

  function verify(secret: string, { body, headers }: Received): unknown {
    return new Webhook(secret).verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
  }

  it('an announced change arrives signed, as the specification’s body, and its delivery is done', async () => {
    const target = await receiver();
    const registered = await register(`${target.url}/hooks?x=1`);
    const message = makeMessage({ account: registered.endpoint.account, operator: 'Jio', reference: 'order 7' });
    await startWorker();

    await createAnnouncer({ db: store.db, clock }).announce([
      { message, entry: { state: 'delivered', at: clock.now() } },
    ]);

    const received = present(await eventually(() => target.received[0], 'arrived'));
    expect(received).to.include({ method: 'POST', path: '/hooks?x=1' });
    expect(received.headers).to.include({
      'content-type': 'application/json',
      'webhook-id': `evt_${message._id.slice(4)}_delivered`,
    });
    expect(verify(registered.secret, received)).to.include({
      event: 'message.delivered',
      message_id: message._id,
      status: 'delivered',
      operator: 'Jio',
      reference: 'order 7',
    });
    const stored = present(await deliveriesOf(store.db).findOne({ message: message._id }));
    expect(received.body).to.equal(stored.body);
    const done = await inState(stored, 'done');
    expect(done).not.to.have.property('due');
    expect(done.attempts.map(({ result }) => result)).to.deep.equal([200]);
  });

  it('during a rotation signs with the new and the old secret, until the old one expires', async () => {
    const target = await receiver();
    const registered = await register(target.url);
    const fresh = newSecret();
    const [old] = registered.endpoint.secrets;
    const expiresAt = new Date(clock.now().getTime() + 60_000);
    await store.db
      .collection<EndpointDocument>('endpoints')
      .updateOne(
        { _id: registered.endpoint._id },
        { $set: { secrets: [{ sealed: box.seal(fresh) }, { sealed: old?.sealed ?? '', expiresAt }] } },
      );
    await startWorker();

    await deliver(registered);
    const first = present(await eventually(() => target.received[0], 'the first'));
    clock.turn(61_000);
    await deliver(registered);
    const second = present(await eventually(() => target.received[1], 'the second'));

    expect(verify(fresh, first)).to.have.property('event');
    expect(verify(registered.secret, first)).to.have.property('event');
    expect(verify(fresh, second)).to.have.property('event');
    expect(() => verify(registered.secret, second)).to.throw('No matching signature');
  });

  it('a failure is tried again by the schedule, with the same id and body and a new timestamp', async () => {
    let status = 500;
    const target = await receiver((_, res) => res.writeHead(status).end('try later'));
    const registered = await register(target.url);
    const delivery = present((await deliver(registered))[0]);
    await startWorker();

    for (const pauseMs of [5_000, 60_000, 300_000]) {
      const waiting = await inState(delivery, 'waiting');
      expect(waiting).to.deep.include({ retryAt: new Date(clock.now().getTime() + pauseMs) });
      expect(waiting.attempts.at(-1)).to.include({ result: 500, excerpt: 'try later' });
      if (pauseMs === 300_000) status = 200;
      const before = target.received.length;
      clock.turn(pauseMs);
      await eventually(() => target.received.length > before, 'tried again');
    }

    const done = await inState(delivery, 'done');
    expect(done.attempts.map(({ result }) => result)).to.deep.equal([500, 500, 500, 200]);
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id']))).to.deep.equal(
      new Set([delivery.eventId]),
    );
    expect(new Set(target.received.map(({ body }) => body))).to.have.property('size', 1);
    expect(new Set(target.received.map(({ headers }) => headers['webhook-timestamp']))).to.have.property('size', 4);
  });

  it('is exhausted after nine tries, and can be replayed', async () => {
    let status = 500;
    const target = await receiver((_, res) => res.writeHead(status).end());
    const delivery = present((await deliver(await register(target.url)))[0]);
    await startWorker();

    for (let tries = 1; tries < 9; tries++) {
      const waiting = await inState(delivery, 'waiting');
      clock.turn((waiting.retryAt?.getTime() ?? 0) - clock.now().getTime());
      await eventually(() => target.received.length > tries, 'tried again');
    }
    const exhausted = await inState(delivery, 'exhausted');
    expect(exhausted.attempts).to.have.length(9);

    status = 200;
    await replayDelivery(store.db, delivery._id, clock.now());
    const done = await inState(delivery, 'done');
    expect(done.attempts).to.have.length(10);
  });

  it('a redirect is a failure: nothing is posted to where it points', async () => {
    const elsewhere = await receiver();
    const target = await receiver((_, res) => res.writeHead(307, { location: elsewhere.url }).end());
    const delivery = present((await deliver(await register(target.url)))[0]);
    await startWorker();

    const waiting = await inState(delivery, 'waiting');

    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal([307]);
    expect(elsewhere.connections).to.equal(0);
  });

  it('Retry-After is honoured between the pause and twice it', async () => {
    const target = await receiver((_, res) => res.writeHead(429, { 'retry-after': '3600' }).end());
    const delivery = present((await deliver(await register(target.url)))[0]);
    await startWorker();

    const waiting = await inState(delivery, 'waiting');

    expect(waiting.retryAt).to.deep.equal(new Date(clock.now().getTime() + 10_000));
  });

  it('410 disables the endpoint, and discards what else is due for it', async () => {
    const target = await receiver((_, res) => res.writeHead(410).end());
    const registered = await register(target.url);
    const deliveries = await deliver(registered, 20);
    await startWorker({ perEndpoint: 1 });

    for (const delivery of deliveries) await inState(delivery, 'discarded');

    expect(target.received).to.have.length(1);
    await eventually(async () => (await endpointOf(registered))?.status === 'disabled', 'disabled');
    expect(await endpointOf(registered)).to.include({ disabledReason: 'the endpoint answered 410 Gone' });
  });

  it('nothing is posted to an endpoint that was disabled or is gone', async () => {
    const target = await receiver();
    const disabled = await register(`${target.url}/disabled`);
    const gone = await register(`${target.url}/gone`);
    await disableEndpoint(store.db, disabled.endpoint._id, 'by its owner');
    await store.db.collection<EndpointDocument>('endpoints').deleteOne({ _id: gone.endpoint._id });
    const deliveries = [...(await deliver(disabled, 3)), ...(await deliver(gone, 3))];
    await startWorker();

    for (const delivery of deliveries) expect(await inState(delivery, 'discarded')).to.deep.include({ attempts: [] });

    expect(target.received).to.deep.equal([]);
  });

  it('five days of only failures disable the endpoint, and say so', async () => {
    const target = await receiver((_, res) => res.writeHead(500).end());
    const registered = await register(target.url);
    await startWorker();
    const first = present((await deliver(registered))[0]);
    await inState(first, 'waiting');
    await eventually(async () => (await endpointOf(registered))?.failingSince, 'failing noted');

    clock.turn(5 * 86_400_000);

    await eventually(async () => (await endpointOf(registered))?.status === 'disabled', 'disabled');
    expect((await endpointOf(registered))?.disabledReason).to.include('for five days');
  });

  it('a success clears since when the endpoint was failing', async () => {
    let status = 500;
    const target = await receiver((_, res) => res.writeHead(status).end());
    const registered = await register(target.url);
    await startWorker();
    await deliver(registered);
    const failing = await eventually(async () => (await endpointOf(registered))?.failingSince, 'failing noted');
    expect(failing).to.deep.equal(clock.now());

    status = 200;
    await deliver(registered);

    await eventually(async () => (await endpointOf(registered))?.failingSince === undefined, 'cleared');
  });

  it('endpoints that never answer delay no other', async () => {
    const silent = await receiver(() => {});
    const well = await receiver();
    for (let n = 0; n < 10; n++) await deliver(await register(`${silent.url}/${n}`), 300);
    const deliveries = await deliver(await register(well.url), 500);
    await startWorker({ timeoutMs: 60_000 });

    // Not one of the silent ones has ended when the others are through: their time is longer than this test may take.
    await eventually(() => well.received.length === 500, 'all of the healthy endpoint’s', 15_000);
    await eventually(
      async () => (await deliveriesOf(store.db).countDocuments({ state: 'done' })) === deliveries.length,
      'all done',
    );
    expect(await deliveriesOf(store.db).countDocuments({ 'attempts.0': { $exists: true } })).to.equal(500);
    await silent.close();
  });

  it('never has more posts in flight to one endpoint than the setting says', async () => {
    let now = 0;
    let most = 0;
    const target = await receiver((_, res) => {
      now++;
      most = Math.max(most, now);
      setImmediate(() => {
        now--;
        res.end();
      });
    });
    await deliver(await register(target.url), 300);
    await startWorker({ perEndpoint: 3 });

    await eventually(() => target.received.length === 300, 'all arrived');
    expect(most).to.be.at.most(3);
  });

  it('an endpoint’s deliveries leave in the order of their events, one at a time', async () => {
    const target = await receiver();
    const deliveries = await deliver(await register(target.url), 300);
    await startWorker({ perEndpoint: 1 });

    await eventually(() => target.received.length === 300, 'all arrived');

    expect(target.received.map(({ body }) => body)).to.deep.equal(deliveries.map(({ body }) => body));
  });

  it('posts nothing twice, however fast completions follow reads', async () => {
    const target = await receiver();
    const deliveries = await deliver(await register(target.url), 1_000);
    await startWorker({ perEndpoint: 8 });

    for (const delivery of deliveries) await inState(delivery, 'done');

    const ids = target.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.have.length(1_000);
    expect(new Set(ids)).to.have.property('size', 1_000);
  });

  it('two workers share the endpoints and post nothing twice', async () => {
    const target = await receiver();
    const registered = await Promise.all(Array.from({ length: 40 }, (_, n) => register(`${target.url}/${n}`)));
    const countWorkers = async (): Promise<number> => 2;
    const metrics = [new Metrics(), new Metrics()] as const;
    await startWorker({ countWorkers, metrics: metrics[0] }, 'a');
    await startWorker({ countWorkers, metrics: metrics[1] }, 'b');
    const posts = async (of: Metrics): Promise<number> => {
      const { values } = (await of.registry.getSingleMetric('harkara_webhook_posts_total')?.get()) ?? { values: [] };
      return values.reduce((sum, { value }) => sum + value, 0);
    };

    // Both while shares change hands and afterwards, until both have posted.
    let sent = 0;
    await eventually(async () => {
      for (const one of registered) await deliver(one, 2);
      sent += 80;
      await eventually(() => target.received.length >= sent, 'a batch arrived');
      return (await posts(metrics[0])) > 0 && (await posts(metrics[1])) > 0;
    }, 'both workers posted');

    const ids = target.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.have.length(sent);
    expect(new Set(ids)).to.have.property('size', sent);
  });

  it('a stop lets posts in flight end and writes what became of them', async () => {
    const held: (() => void)[] = [];
    const target = await receiver((_, res) => void held.push(() => res.end()));
    const deliveries = await deliver(await register(target.url), 10);
    const worker = await startWorker({ perEndpoint: 2 });
    await eventually(() => held.length === 2, 'two in flight');

    const stopped = worker.stop();
    for (const answer of held) answer();
    await stopped;

    const states = await Promise.all(deliveries.map(async (delivery) => (await read(delivery))?.state));
    expect(states).to.deep.equal(['done', 'done', ...new Array(8).fill('due')]);
    expect(target.received).to.have.length(2);
  });

  it('a secret that cannot be opened is a failed try, not a post without a signature', async () => {
    const target = await receiver();
    const registered = await register(target.url);
    await store.db
      .collection<EndpointDocument>('endpoints')
      .updateOne(
        { _id: registered.endpoint._id },
        { $set: { secrets: [{ sealed: createSecretBox(randomBytes(32)).seal(newSecret()) }] } },
      );
    const delivery = present((await deliver(registered))[0]);
    await startWorker();

    const waiting = await inState(delivery, 'waiting');

    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal(['no_secret']);
    expect(target.received).to.deep.equal([]);
  });

  it('a registered url that is not allowed any more is not posted to', async () => {
    const target = await receiver();
    const delivery = present((await deliver(await register(target.url)))[0]);
    await startWorker({ guard: new AddressGuard({ allowHttp: true, allowSubnets: [] }) });

    const waiting = await inState(delivery, 'waiting');

    expect(waiting.attempts.map(({ result }) => result)).to.deep.equal(['refused_address']);
    expect(target.connections).to.equal(0);
  });

  describe('beside receivers that answer after 14 s', () => {
    const SLOW_ANSWER_MS = 14_000;
    const endpoints = () => store.db.collection<EndpointDocument>('endpoints');

    /** Endpoints below one url, each with deliveries that are due, as an account had them that had passed the limit of ten. */
    async function owe(url: string, owed: readonly (readonly [AccountId, number])[], each: number): Promise<void> {
      const made = owed.flatMap(([account, count]) =>
        Array.from({ length: count }, (_, n) =>
          makeEndpoint({ account, url: `${url}/${account}/${n}`, secrets: [{ sealed: box.seal(newSecret()) }] }),
        ),
      );
      await endpoints().insertMany(made);
      const deliveries = made.flatMap(({ _id, account }) =>
        Array.from({ length: each }, () => makeDelivery({ endpoint: _id, account })),
      );
      await deliveriesOf(store.db).insertMany(deliveries);
    }

    async function slowReceiver(): Promise<Receiver> {
      const timers = new Set<NodeJS.Timeout>();
      closing.push(async () => timers.forEach(clearTimeout));
      return receiver((_, res) => void timers.add(setTimeout(() => res.end(), SLOW_ANSWER_MS)));
    }

    const rows: readonly (readonly [string, readonly (readonly [AccountId, number])[], number])[] = [
      ['ten endpoints with 2,000 deliveries', [['acc_slow', 10]], 200],
      ['700 endpoints of one account', [['acc_slow', 700]], 1],
      [
        '60 accounts that name the same machine',
        Array.from({ length: 60 }, (_, n) => [`acc_slow${n}`, 10] as const),
        2,
      ],
    ];
    for (const [what, owed, each] of rows) {
      it(`another account’s webhook leaves at once: ${what}`, async () => {
        const slow = await slowReceiver();
        const fast = await receiver();
        const neighbour = await register(fast.url);
        await owe(slow.url, owed, each);
        await startWorker({ timeoutMs: 30_000, clock: systemClock });

        // Until the slow receiver has all that it ever gets at a time: no more while ten of the neighbour's came one by one.
        let held = 0;
        for (let unchanged = 0, arrived = 1; unchanged < 10; arrived++) {
          const [delivery] = await deliver(neighbour);
          await eventually(() => fast.received.length === arrived, `the neighbour’s, beside ${held}`, 8_000);
          expect(fast.received.at(-1)?.body).to.equal(present(delivery).body);
          unchanged = slow.received.length > held || held === 0 ? 0 : unchanged + 1;
          held = slow.received.length;
        }

        expect(held).to.be.within(1, IN_FLIGHT_MAX / 2);
      });
    }
  });
});
