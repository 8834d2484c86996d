import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { eventsOf, type StateChange } from '../../../shared/events/catalogue.ts';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import { deliveriesOf } from '../../../shared/events/webhooks/delivery.ts';
import { createEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { SETTINGS } from '../../../shared/platform/config/settings.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { eventId, newId } from '../../../shared/platform/runtime/ids.ts';
import { OPEN_MAX } from '../../../workers/webhooks/endpoint-queues.ts';
import { makeMessage } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { boxOf } from '../../support/secret-box.ts';
import { useStore } from '../../support/store.ts';
import { use } from '../../support/use.ts';
import { ended, WorkerProcesses } from '../../support/worker-processes.ts';
import { openReceiver } from './receiver.ts';

describe('webhooks worker: process', () => {
  const key = randomBytes(32);
  const workers = new WorkerProcesses('webhooks');
  const store = useStore();
  const target = use(openReceiver);

  afterEach(async () => {
    await workers.killAll();
  });

  function startProcess(): Promise<ChildProcess> {
    return workers.start(store, {
      HARKARA_SECRET_KEY: key.toString('hex'),
      HARKARA_WEBHOOK_CONCURRENCY: '',
      HARKARA_WEBHOOK_ALLOW_HTTP: 'yes',
      HARKARA_WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8',
    });
  }

  it('kill -9 in the middle: every event reaches the endpoint, with its own id and signature', async () => {
    const account = newId('acc');
    const { secret } = await createEndpoint(store.db, systemClock, boxOf(key), {
      channel: 'sms',
      account,
      url: target.url,
      events: eventsOf('sms'),
    });
    const changes = Array.from({ length: 1_000 }, (): StateChange => {
      return { message: makeMessage({ account }), entry: { state: 'sent', at: systemClock.now() } };
    });
    await createAnnouncer({ db: store.db, clock: systemClock }).announce(changes);

    let killed = 0;
    while (killed < 3) {
      const before = target.received.length;
      const child = await startProcess();
      await eventually(() => target.received.length > before + 50, 'posting');
      child.kill('SIGKILL');
      await ended(child);
      killed++;
    }
    const last = await startProcess();
    await eventually(
      async () => (await deliveriesOf(store.db).countDocuments({ state: 'due' })) === 0,
      'all done',
      30_000,
    );

    const ids = target.received.map(({ headers }) => String(headers['webhook-id']));
    expect(new Set(ids)).to.deep.equal(new Set(changes.map(({ message }) => eventId(message._id, 'sent'))));
    // Only deliveries in flight, or not yet stored as done, at a kill came again.
    const atRisk = OPEN_MAX + SETTINGS.webhookConcurrency.fallback;
    expect(ids.length - changes.length).to.be.at.most(killed * atRisk);
    const webhook = new Webhook(secret);
    for (const { body, headers } of target.received) {
      const event = webhook.verify(body, {
        'webhook-id': String(headers['webhook-id']),
        'webhook-timestamp': String(headers['webhook-timestamp']),
        'webhook-signature': String(headers['webhook-signature']),
      });
      expect(event).to.include({ event: 'message.sent' });
    }

    last.kill('SIGINT');
    await ended(last);
    expect(last.exitCode).to.equal(0);
    expect(await store.db.collection('leases').countDocuments({ until: { $gt: new Date(1) } })).to.equal(0);
  });
});
