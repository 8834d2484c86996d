import { expect } from 'chai';
import { deliveriesOf } from '../../../../shared/events/webhooks/delivery-store.ts';
import { findRunningReplays, noteReplayed } from '../../../../shared/events/webhooks/replay-store.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeDelivery } from '../../../shared/events/webhooks/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

describe('replays of a webhook', () => {
  const { site, ask, audit } = settingsWorld();
  let path = '';
  beforeEach(async () => {
    const { body } = await ask('post', '/v2/account/webhooks', { channel: 'sms', url: 'https://shop.example/r' });
    path = `/v2/account/webhooks/${body.webhook_id}/replays`;
  });
  const since = { since: '2026-11-21T00:00:00Z' };

  it('are started, and shown with their progress until they are done', async () => {
    const { body: started } = await ask('post', path, since).expect(200);
    expect(started).to.include({ status: 'success', state: 'running', replayed: 0, progress: 0, ended_at: null });
    const [running] = (await findRunningReplays(site.db, 100)).filter(({ _id }) => _id === started.replay_id);
    if (running === undefined) throw new Error('it is not running');

    const half = makeDelivery({ endpoint: running.endpoint });
    await noteReplayed(site.db, running, { replayed: 7, next: half._id }, new Date());
    const going = (await ask('get', `${path}/${started.replay_id}`).expect(200)).body;
    expect(going).to.include({ state: 'running', replayed: 7 });
    expect(going.progress).to.be.within(0, 1);

    // Events of older messages come last.
    const older = makeDelivery({
      endpoint: running.endpoint,
      eventId: newId('evt', Date.parse('2026-11-01T00:00:00Z')),
    });
    await noteReplayed(site.db, running, { replayed: 0, next: older._id }, new Date());
    expect((await ask('get', `${path}/${started.replay_id}`).expect(200)).body.progress).to.equal(0.999);

    await noteReplayed(site.db, running, { replayed: 2, next: undefined }, new Date());
    const { body } = await ask('get', path).expect(200);
    expect(body.data[0]).to.include({ replay_id: started.replay_id, state: 'done', replayed: 9, progress: 1 });
    expect((await audit()).map(({ action }) => action)).to.include('webhook.replay');
  });

  it('run one at a time; repeated with its Idempotency-Key, a request is one replay', async () => {
    const start = () => ask('post', path, since).set('Idempotency-Key', path);
    const [first, again] = [await start().expect(200), await start().expect(200)];

    expect(again.body).to.deep.equal(first.body);
    expectProblem(await ask('post', path, since), 'replay_running');
    expect(await site.db.collection('webhook_replays').countDocuments({ account: site.account })).to.equal(1);
  });

  it('of an account are kept up to 500: the oldest go, but none that runs', async () => {
    const { account, db } = site;
    const of = (state: string) => (_: unknown, n: number) => ({
      ...{ _id: newId('rpl', Date.now() - 1_000_000 + n), account, endpoint: `whk_${state}${n}`, state, replayed: 0 },
      ...{ since: new Date(), startedAt: new Date(), expiresAt: new Date(Date.now() + 86_400_000) },
    });
    const old = [...Array.from({ length: 3 }, of('running')), ...Array.from({ length: 510 }, of('done'))];
    await db.collection('webhook_replays').insertMany(old as never);

    const { body } = await ask('post', path, since).expect(200);

    const left = await db.collection('webhook_replays').find({ account }).sort({ _id: -1 }).toArray();
    expect(left[0]?._id).to.equal(body.replay_id);
    expect(left.filter(({ state }) => state === 'done').length).to.be.within(496, 499);
    expect(left.filter(({ state }) => state === 'running')).to.have.length(4);
  });

  it('are listed page by page, newest first', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { body } = await ask('post', path, since).expect(200);
      ids.unshift(body.replay_id);
      const [running] = (await findRunningReplays(site.db, 100)).filter(({ _id }) => _id === body.replay_id);
      if (running !== undefined) await noteReplayed(site.db, running, { replayed: 0, next: undefined }, new Date());
    }
    const idsOf = ({ body }: { body: { data: { replay_id: string }[] } }) => body.data.map((one) => one.replay_id);

    const first = await ask('get', `${path}?limit=2`).expect(200);
    expect(idsOf(first)).to.deep.equal(ids.slice(0, 2));
    const second = await ask('get', `${path}?limit=2&cursor=${first.body.next_cursor}`).expect(200);
    expect(idsOf(second)).to.deep.equal(ids.slice(2));
    expect(second.body).to.include({ has_more: false, next_cursor: null });
    expectProblem(await ask('get', `${path}?cursor=abc`), 'invalid_request');
  });

  it('need a time that is over', async () => {
    for (const wrong of [{}, { since: 'x' }, { since: '2099-01-01T00:00:00Z' }, { ...since, until: 'x' }]) {
      expectProblem(await ask('post', path, wrong), 'invalid_request');
    }
    expectProblem(await ask('get', `${path}/${newId('rpl')}`), 'replay_not_found');
    expect(await deliveriesOf(site.db).countDocuments({ account: site.account })).to.equal(0);
  });
});
