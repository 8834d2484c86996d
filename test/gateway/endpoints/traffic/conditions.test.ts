import request from 'supertest';
import { writeBindReport } from '../../../../shared/carriers/bind-report.ts';
import { createCarrier } from '../../../../shared/carriers/carrier-store.ts';
import { stopProvider } from '../../../../shared/carriers/providers/store.ts';
import { addRoute } from '../../../../shared/carriers/routing/store.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import { insertFirst } from '../../../../shared/messages/queue/queue-store.ts';
import { readQueues } from '../../../../shared/messages/queue/waiting-lanes.ts';
import { type ProcessNotes, type ProcessReport, reportProcess } from '../../../../shared/platform/processes/report.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { Watch } from '../../../../workers/maintenance/watch.ts';
import { makeProvider, TEST_BOX } from '../../../support/chatapp.ts';
import { makeAccount, makeDraft, makeMessage } from '../../../support/make.ts';
import { ownDocuments } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { operatorAtGateway } from '../operators-world.ts';

type Told = Readonly<Record<string, string | null>>;

describe('what is wrong now', () => {
  const world = operatorAtGateway(100);
  const notes: ProcessNotes = {};
  let background: ProcessReport;
  let watch: Watch;
  before(async () => {
    watch = new Watch({ db: world.db, clock: systemClock, metrics: new Metrics(), notes });
    background = await reportProcess('background', world.db, new Metrics(), silentLog, notes);
  });
  after(() => background.end());
  const look = async () => {
    await watch.look(await readQueues(world.db));
    await watch.lookAtAccounts(() => true);
    await background.setWorking(true); // reports at once
  };
  const status = async () => (await world.get('/status')).body;
  const of = (body: { conditions: readonly Told[] }, name: string) =>
    body.conditions.filter(({ condition }) => condition === name);

  it('right after a start nothing: nobody can have looked yet', async () => {
    expect(await status()).to.include({ status: 'ok', watched_at: null });
  });

  it('first of all that nobody looks', async () => {
    const startedAt = new Date(Date.now() - 60_000);
    await world.db.collection('processes').updateMany({}, { $set: { startedAt } });

    const { body } = await world.get('/overview');
    expect(body.conditions.map(({ condition }: Told) => condition)).to.deep.equal(['watch.stopped']);
    expect(await status()).to.include({ status: 'urgent', watched_at: null });
  });

  it('for operators: processes, the proxy, a carrier with the reason, what waits, a stopped number; the most urgent first', async () => {
    const since = new Date(Date.now() - 60_000);
    await createCarrier(world.db, systemClock, TEST_BOX, {
      ...{ _id: 'airtel', name: 'Airtel', host: 'smpp.example.com', port: 2775, systemId: 'harkara' },
      password: 'hunter2!',
    });
    const until = new Date(Date.now() + 600_000);
    await world.db
      .collection<{ _id: string }>('leases')
      .insertOne({ _id: 'carrier:airtel', owner: 'another-machine', epoch: 3, until } as never);
    const trouble = { kind: 'refused', code: '0x0E', reason: 'wrong password', since } as const;
    await writeBindReport(world.db, {
      ...{ _id: 'airtel', epoch: 3, at: since, flow: {} },
      binds: [{ index: 0, state: 'backoff', since, trouble }],
    });
    const id = () => newId('msg', Date.now() - 20 * 60_000);
    const account = await makeAccount(world.db, 10, { name: 'Acme' });
    const lines = [makeMessage({ ...makeDraft({ lane: 1, path: 'transactional' }), account, _id: id() })];
    await insertFirst(world.db, ownDocuments(newId('grp'), lines, new Date()));
    const made = await makeProvider(world.db, account);
    await stopProvider(world.db, made.provider._id, 'the token is not valid');
    notes.ignoredProxy = '10.0.0.7';
    await background.setWorking(true);
    await look();

    const body = await status();
    expect(body.watched_at).to.be.a('string');
    expect(of(body, 'watch.stopped')).to.deep.equal([]);
    expect(of(body, 'process.missing').map(({ about_id }) => about_id)).to.include('smpp');
    expect(of(body, 'proxy.ignored')[0]).to.include({ severity: 'look', about_id: '10.0.0.7' });
    const [down] = of(body, 'carrier.down');
    expect(down).to.include({ severity: 'urgent', words: 'Airtel: bind refused: wrong password (0x0E).' });
    expect(down?.since).to.equal(`${since.toISOString().slice(0, 19)}+00:00`);
    expect(of(body, 'queue.waiting')[0]?.words).to.equal('1 transactional message waits on transactional.');
    expect(of(body, 'provider.stopped')[0]).to.include({ account_id: account, account_name: 'Acme' });
    const severities = body.conditions.map(({ severity }: Told) => severity);
    expect(severities).to.deep.equal([...severities].sort().reverse());
    expect((await world.get('/overview')).body.conditions).to.deep.equal(body.conditions);

    const ask = () => request(world.url).get('/readyz?detail');
    const detail = await ask().set(world.operator.headers);
    expect(detail.body).to.deep.equal({ status: 'ready', conditions: body.conditions, more_conditions: false });
    expect((await ask()).status).to.equal(401);
    const asAccount = await ask().set('Authorization', `Bearer ${world.key}`);
    expect([asAccount.status, asAccount.body.code]).to.deep.equal([403, 'scope_missing']);
    expect((await request(world.url).get('/readyz')).body).to.deep.equal({ status: 'ready' });
  });

  it('for an account: its own conditions and no others, found when it asks', async () => {
    const failingSince = new Date(Date.now() - 3_600_000);
    await world.db.collection<EndpointDocument>('endpoints').insertOne({
      ...{ _id: newId('whk'), account: world.account, channel: 'sms', url: 'https://shop.example.com/hook', place: 0 },
      ...{ events: [], secrets: [], status: 'active', failingSince, createdAt: failingSince },
    });
    const own = async () =>
      (await request(world.url).get('/v2/account/overview').set('Authorization', `Bearer ${world.key}`)).body
        .conditions;

    expect((await own()).map(({ words }: Told) => words)).to.deep.equal([
      'The carrier of your SMS takes no messages, or refuses many.', // the Airtel carrier from above
      'Every post to shop.example.com fails.',
    ]);
    const route = { _id: 'own', order: 1, match: { accounts: [world.account] }, waitSeconds: 30 };
    await addRoute(world.db, systemClock, { ...route, groups: [[{ carrier: 'jio', weight: 1 }]] });
    expect((await own()).map(({ words }: Told) => words)).to.deep.equal(['Every post to shop.example.com fails.']);
    await world.db.collection('accounts').updateOne({ _id: world.account as never }, { $set: { balance: 0 } });
    expect((await own()).map(({ condition, severity }: Told) => [condition, severity])).to.deep.equal([
      ['balance.empty', 'urgent'],
      ['webhook.failing', 'look'],
    ]);
  });

  it('what has ended is shown for a day', async () => {
    for (const balance of [0, 100]) {
      await world.db.collection('accounts').updateOne({ _id: world.account as never }, { $set: { balance } });
      await look();
    }

    const ended = (await status()).ended.filter(({ account_id }: Told) => account_id === world.account);
    expect(ended.map(({ condition }: Told) => condition)).to.deep.equal(['balance.empty']);
  });
});
