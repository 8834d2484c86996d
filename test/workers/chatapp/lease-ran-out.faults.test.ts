import { pauseProvider } from '../../../shared/carriers/providers/store.ts';
import { Lease } from '../../../shared/platform/leases/lease.ts';
import { connectStore } from '../../../shared/platform/mongo/connect.ts';
import { type Clock, systemClock } from '../../../shared/platform/runtime/clock.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import type { ChatWorkerOptions } from '../../../workers/chatapp/worker.ts';
import { makeProvider } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { latch } from '../../support/latch.ts';
import { type Injected, refused } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { chatWorld } from './world.ts';

const IDENTITY = { machine: 'a', pid: 1, startedAt: '1' };

/** A lease renewed in the same epoch after it ran out never left its holder, who settles what it claimed. */
describe('chatapp worker: its leases run out, and it renews them', () => {
  const world = chatWorld();
  const closing: (() => Promise<unknown>)[] = [];
  let metrics: Metrics;
  let proxy: WireProxy;
  let aheadMs: number;
  /** All held leases run out when it is turned forward. */
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };

  beforeEach(async () => {
    aheadMs = 0;
    metrics = new Metrics();
    proxy = await startWireProxy(world.store.uri);
    closing.push(() => proxy.close());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startWorker(override: Partial<ChatWorkerOptions> = {}): Promise<void> {
    const database = world.store.db.databaseName;
    const { db, close } = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: database });
    closing.push(close);
    const leases = [...Array(8).keys()].map(
      (n) => new Lease({ name: `chatapp:${n}`, db, clock, identity: IDENTITY, ttlMs: 60_000 }),
    );
    const worker = await world.startWorker({ db, leases, metrics, ...override });
    closing.push(() => worker.stop());
  }

  /**
   * Runs all leases out until it is ended. Renewals are refused, not cut off: a cut costs the driver its whole pool,
   * and renewals are so frequent that no other command would get a connection.
   */
  function runOut(): Injected {
    const happens = refused('UnknownError');
    const renewals = proxy.inject({ command: 'findAndModify', collection: 'leases', times: Infinity, happens });
    aheadMs += 60_000;
    return renewals;
  }

  const noneIsHeld = () =>
    eventually(
      async () => /^harkara_chatapp_partitions 0$/m.test(await metrics.registry.metrics()),
      'the worker has noticed',
    );
  const sameEpoch = async () =>
    expect(await world.store.db.collection('leases').countDocuments({ epoch: { $ne: 1 } })).to.equal(0);

  it('the answer to a claim was lost: what it took is sent after the renewal, once', async () => {
    const account = await world.openAccount();
    await startWorker();
    await eventually(() => account.provider.lists.length > 0, 'the account is served');
    const claims = proxy.loseAnswerTo('update', 'messages');
    const later = proxy.loseAll('update', 'messages');
    await world.queue(account, {}, { to: '918888888888' });
    await eventually(() => claims.met === 1, 'they are claimed');

    const renewals = runOut();
    await noneIsHeld();
    later.end();
    renewals.end();

    await world.allIn(account, 'sent', 2);
    expect(account.provider.sends).to.have.length(2);
    await sameEpoch();
  });

  it('the answer to a claim was lost and the provider is paused: what it took is queued again', async () => {
    const account = await world.openAccount();
    const other = await world.openAccount();
    await startWorker();
    await eventually(() => account.provider.lists.length * other.provider.lists.length > 0, 'both are served');
    const claims = proxy.loseAnswerTo('update', 'messages');
    const later = proxy.loseAll('update', 'messages');
    await world.queue(account, {});
    await eventually(() => claims.met === 1, 'it is claimed');
    const listsBefore = other.provider.lists.length;

    await pauseProvider(world.store.db, account.number);
    await makeProvider(world.store.db, other.id, { baseUrl: other.provider.url, perSecond: 7 });
    await eventually(() => other.provider.lists.length > listsBefore, 'the worker has read both settings');
    later.end();

    await world.allIn(account, 'queued', 1);
    expect(account.provider.sends).to.have.length(0);
  });

  it('a message was claimed and not written yet: it is sent after the renewal, once', async () => {
    const account = await world.openAccount();
    let renewals: Injected | undefined;
    await startWorker({
      depart: async (messages) => {
        renewals ??= runOut();
        return new Map(messages.map(({ _id }) => [_id, { kind: 'go' }] as const));
      },
    });
    await world.queue(account, {});
    await eventually(() => renewals !== undefined, 'it is claimed');
    await noneIsHeld();
    expect(account.provider.sends).to.have.length(0);

    renewals?.end();

    await world.allIn(account, 'sent', 1);
    expect(account.provider.sends).to.have.length(1);
    await sameEpoch();
  });

  it('the store is away when a provider answers: the answer is settled as it was given', async () => {
    const answers = latch();
    const account = await world.openAccount((_, __, accept) => void answers.opened.then(accept));
    await startWorker();
    await world.queue(account, {}, { to: '918888888888' });
    await eventually(() => account.provider.sends.length === 2, 'both are sent');
    const outcomes = proxy.loseAll('update', 'messages');

    const renewals = runOut();
    await noneIsHeld();
    await eventually(() => renewals.met > 0, 'a renewal has failed');
    answers.open();
    await eventually(() => outcomes.met > 0, 'the answers could not be stored');
    outcomes.end();
    renewals.end();

    await world.allIn(account, 'sent', 2);
    expect(account.provider.sends).to.have.length(2);
    await sameEpoch();
  });
});
