import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Db } from 'mongodb';
import { Webhook } from 'standardwebhooks';
import { eventsOf } from '../../../shared/events/catalogue.ts';
import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import { type DeliveryDocument, deliveriesOf } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { type CreatedEndpoint, createEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { Lease } from '../../../shared/platform/leases/lease.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { WebhookWorker, type WebhookWorkerOptions } from '../../../workers/webhooks/worker.ts';
import { makeDelivery, present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { boxOf } from '../../support/secret-box.ts';
import { silentLog } from '../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';
import { openReceiver, type Received, type Receiver } from './receiver.ts';

/** Webhook workers on a store of their own, and the receivers that they post to. */
export class WebhookWorld {
  readonly box = boxOf(randomBytes(32));
  /** Begins at the real time, because the receivers' library compares timestamps with it. */
  clock = new ManualClock(systemClock.now());
  readonly #store: TestStore;
  readonly #closing: (() => Promise<unknown>)[] = [];

  private constructor(store: TestStore) {
    this.#store = store;
  }

  /** For the body of a `describe`. Each test has a new clock and no other test's deliveries. */
  static use(): () => WebhookWorld {
    let world: WebhookWorld | undefined;
    before(async () => {
      world = new WebhookWorld(await openTestStore());
    });
    beforeEach(() => {
      if (world !== undefined) world.clock = new ManualClock(systemClock.now());
    });
    afterEach(() => world?.clear());
    after(() => world?.close());
    return () => present(world);
  }

  get db(): Db {
    return this.#store.db;
  }

  get uri(): string {
    return this.#store.uri;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async clear(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
    await this.db.collection('deliveries').deleteMany({});
  }

  /** Calls `close` at the end of the test. */
  onClose(close: () => Promise<unknown>): void {
    this.#closing.push(close);
  }

  async startWorker(override: Partial<WebhookWorkerOptions> = {}, machine = 'a'): Promise<WebhookWorker> {
    const identity = { machine, pid: 1, startedAt: '1' };
    const worker = new WebhookWorker({
      db: this.db,
      clock: this.clock,
      log: silentLog,
      metrics: new Metrics(),
      box: this.box,
      guard: new AddressGuard({ allowHttp: true, allowSubnets: ['127.0.0.0/8'] }),
      // Leases go by the store's time, so they have the real clock and not the test's.
      leases: Array.from(
        { length: 8 },
        (_, n) => new Lease({ name: `webhooks:${n}`, db: this.db, clock: systemClock, identity }),
      ),
      leaseRoundMs: 20,
      countWorkers: async () => 1,
      timeoutMs: 60_000,
      perHost: 4,
      random: () => 0.5,
      ...override,
    });
    this.onClose(() => worker.stop());
    await worker.start();
    return worker;
  }

  async receiver(answer?: RequestListener): Promise<Receiver> {
    const made = await openReceiver(answer);
    this.onClose(() => made.close());
    return made;
  }

  register(url: string, account: AccountId = newId('acc')): Promise<CreatedEndpoint> {
    return createEndpoint(this.db, this.clock, this.box, { account, channel: 'sms', url, events: eventsOf('sms') });
  }

  /** Deliveries to an endpoint, due in the order of the result. */
  async deliver({ endpoint }: CreatedEndpoint, count = 1): Promise<DeliveryDocument[]> {
    const start = this.clock.now().getTime();
    const made = Array.from({ length: count }, (_, n) =>
      makeDelivery({ endpoint: endpoint._id, account: endpoint.account, due: new Date(start - count + n) }),
    );
    await deliveriesOf(this.db).insertMany(made);
    return made;
  }

  read({ _id }: DeliveryDocument): Promise<DeliveryDocument | null> {
    return deliveriesOf(this.db).findOne({ _id });
  }

  async inState(delivery: DeliveryDocument, state: DeliveryDocument['state']): Promise<DeliveryDocument> {
    return present(
      await eventually(async () => {
        const found = await this.read(delivery);
        return found?.state === state && found;
      }, `the delivery is ${state}`),
    );
  }

  endpointOf({ endpoint }: CreatedEndpoint): Promise<EndpointDocument | null> {
    return this.db.collection<EndpointDocument>('endpoints').findOne({ _id: endpoint._id });
  }
}

/** The received body; throws unless the receiver's library accepts the signature. */
export function verify(secret: string, { body, headers }: Received): unknown {
  return new Webhook(secret).verify(body, {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  });
}
