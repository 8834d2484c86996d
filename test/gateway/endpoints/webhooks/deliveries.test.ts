import { DELIVERY_WALK_MAX } from '../../../../gateway/endpoints/webhooks/deliveries.ts';
import {
  type DeliveryDocument,
  type DeliveryGroup,
  deliveriesOf,
} from '../../../../shared/events/webhooks/delivery.ts';
import { createEndpoint, disableEndpoint } from '../../../../shared/events/webhooks/endpoint-store.ts';
import { findRunningReplays, noteReplayed } from '../../../../shared/events/webhooks/replay.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { eventId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { groupsOf, makeDelivery, makeGroup } from '../../../shared/events/webhooks/make.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

describe("a webhook's deliveries", () => {
  const { site, ask, audit } = settingsWorld();
  let path = '';
  let endpoint = newId('whk');
  beforeEach(async () => {
    const made = await createEndpoint(site.db, systemClock, TEST_BOX, {
      ...{ account: site.account, channel: 'sms', url: 'https://shop.example/log', events: ['message.sent'] },
    });
    endpoint = made.endpoint._id;
    path = `/v2/account/webhooks/${endpoint}/deliveries`;
  });

  async function store(count: number, more: Partial<DeliveryDocument> = {}): Promise<DeliveryDocument[]> {
    const made = Array.from({ length: count }, () => {
      const message = more.message ?? newId('msg');
      const event = more.event ?? 'message.sent';
      const id = eventId(message, event.slice('message.'.length));
      return makeDelivery({ endpoint, account: site.account, message, eventId: id, ...more });
    });
    await deliveriesOf(site.db).insertMany(made);
    return made;
  }
  const idsOf = ({ data }: { data: readonly { event_id: string }[] }) => data.map(({ event_id }) => event_id);

  async function all(query: string): Promise<{ ids: string[]; pages: number }> {
    const ids: string[] = [];
    for (let [cursor, pages] = ['', 1]; ; pages++) {
      const { body } = await ask('get', `${path}?${query}${cursor}`).expect(200);
      ids.push(...idsOf(body));
      if (!body.has_more) return { ids, pages };
      cursor = `&cursor=${body.next_cursor}`;
    }
  }

  it('are listed newest first, in pages, with the last attempt and without their bodies', async () => {
    const at = new Date('2026-11-22T14:02:00Z');
    const attempts = [
      { at, result: 500, durationMs: 84, excerpt: 'secret stack' },
      { at: new Date(+at + 5_000), result: 200, durationMs: 21 },
    ];
    const made = await store(3, { state: 'done', attempts });

    const { body } = await ask('get', `${path}?limit=2`).expect(200);

    expect(idsOf(body)).to.deep.equal([made[2]?.eventId, made[1]?.eventId]);
    expect(body.data[0]).to.include({ state: 'done', tries: 2, message_id: made[2]?.message, next_try_at: null });
    expect(body.data[0].last_attempt).to.include({ result: 200, duration_ms: 21 });
    expect(JSON.stringify(body)).not.to.include('secret stack').and.not.to.include('"body"');
    expect((await all('limit=2')).ids).to.deep.equal(made.map((one) => one.eventId).reverse());
  });

  it('are shown one by one with the body that is signed, and every attempt with what was answered', async () => {
    const attempts = [{ at: new Date(), result: 'timeout', durationMs: 15_000 }];
    const [one] = await store(1, { state: 'waiting', retryAt: new Date('2026-11-22T14:07:00Z'), attempts });

    const { body } = await ask('get', `${path}/${one?.eventId}`).expect(200);

    expect(body).to.include({ body: one?.body, state: 'waiting', next_try_at: '2026-11-22T14:07:00+00:00', tries: 1 });
    expect(body.attempts[0]).to.include({ result: 'timeout', answer: null });
    expect(body.attempts[0].reason).to.match(/did not answer in time/);
  });

  it('are filtered by event, state and message', async () => {
    const message = newId('msg');
    const [sent] = await store(1, { message, state: 'done' });
    const [delivered] = await store(1, { message, event: 'message.delivered', state: 'exhausted' });
    await store(2, { state: 'done' });

    expect((await all(`message_id=${message}`)).ids).to.have.members([sent?.eventId, delivered?.eventId]);
    expect((await all(`message_id=${message}&event=message.sent`)).ids).to.deep.equal([sent?.eventId]);
    expect((await all('event=message.delivered')).ids).to.deep.equal([delivered?.eventId]);
    expect((await all('state=exhausted')).ids).to.deep.equal([delivered?.eventId]);
    expect((await all(`state=exhausted&message_id=${newId('msg')}`)).ids).to.deep.equal([]);
    for (const wrong of ['state=failed', 'event=message.lost', 'message_id=x', 'cursor=x', 'limit=0', 'stat=due']) {
      expectProblem(await ask('get', `${path}?${wrong}`), 'invalid_request');
    }
  });

  it('a page looks at a thousand at most; what failed is found at once', async () => {
    const [failed] = await store(1, { state: 'exhausted' });
    const [other] = await store(1, { event: 'message.failed', state: 'done' });
    await store(DELIVERY_WALK_MAX + 100, { state: 'done' });

    expect(await all('state=exhausted')).to.deep.equal({ ids: [failed?.eventId], pages: 1 });
    expect(await all('event=message.failed')).to.deep.equal({ ids: [other?.eventId], pages: 2 });
  });

  describe('that were announced together', () => {
    const attempts = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ at: new Date('2026-11-22T14:02:00Z'), result: 200, durationMs: i }));
    async function storeGroup(size: number, more: Partial<DeliveryGroup> = {}): Promise<DeliveryGroup> {
      const group = makeGroup({ endpoint, account: site.account, ...more }, size);
      await groupsOf(site.db).insertOne(group);
      return group;
    }
    const eventsOf = ({ items }: DeliveryGroup) => items.map(({ eventId }) => eventId);

    it('are listed one by one among the others, newest first, over pages of any size', async () => {
      const [before] = await store(1, { state: 'done' });
      const done = await storeGroup(5, { state: 'done', attempts: attempts(5) });
      const [between] = await store(1);
      const due = await storeGroup(3);
      const all3 = [...[before?.eventId], ...eventsOf(done), between?.eventId, ...eventsOf(due)].reverse();

      for (const limit of [1, 2, 4, 500]) expect((await all(`limit=${limit}`)).ids).to.deep.equal(all3);
      expect((await all('limit=2&state=due')).ids).to.deep.equal(
        [...eventsOf(due).reverse(), between?.eventId].sort().reverse(),
      );
      expect((await all('limit=2&state=done')).ids).to.deep.equal([...eventsOf(done).reverse(), before?.eventId]);
      const { body } = await ask('get', `${path}?state=done&limit=1`).expect(200);
      expect(body.data[0]).to.include({ event: 'message.sent', state: 'done', tries: 1 });
      expect(body.data[0].message_id).to.equal(`msg_${eventsOf(done)[4]?.slice(4, 30)}`);
      expect(body.data[0].last_attempt).to.include({ result: 200, duration_ms: 4 });
    });

    it('are shown, found by their message and posted again like any other', async () => {
      const group = await storeGroup(3, { state: 'done', attempts: attempts(3) });
      const event = eventsOf(group)[1] ?? 'evt_';
      const message = `msg_${event.slice(4, 30)}`;

      const { body } = await ask('get', `${path}/${event}`).expect(200);
      expect(body).to.include({ event_id: event, message_id: message, state: 'done', body: group.items[1]?.body });
      expect(body.attempts).to.have.length(1);
      expect((await all(`message_id=${message}`)).ids).to.deep.equal([event]);
      await ask('post', `${path}/${event}/replay`).expect(200);

      expect((await ask('get', `${path}/${event}`)).body).to.include({ state: 'due', tries: 1 });
      const listed = (await all('limit=2')).ids;
      expect(listed).to.have.members(eventsOf(group)).and.to.have.length(3);
      expect((await all('state=due')).ids).to.deep.equal([event]);
      expectProblem(await ask('post', `${path}/${event}/replay`), 'delivery_pending');
    });

    it('and failed are listed once, as what became of them', async () => {
      const group = await storeGroup(4, { state: 'done', attempts: attempts(4) });
      const event = eventsOf(group)[2] ?? 'evt_';
      await store(1, { eventId: event, state: 'exhausted', attempts: attempts(2) });

      const listed = (await all('limit=1')).ids;
      expect(listed).to.have.members(eventsOf(group)).and.to.have.length(4);
      expect((await all('state=exhausted')).ids).to.deep.equal([event]);
      expect((await all('state=done')).ids).not.to.include(event);
    });

    it('a page looks at no more of them either', async () => {
      const [first] = await store(1, { event: 'message.failed', state: 'done' });
      for (let n = 0; n < 11; n++) await storeGroup(100);

      expect(await all('event=message.failed')).to.deep.equal({ ids: [first?.eventId], pages: 2 });
    });
  });

  it('are posted again, whatever became of them; the audit says who wished it', async () => {
    const [done] = await store(1, { state: 'done' });
    const [waiting] = await store(1, { state: 'waiting', retryAt: new Date() });

    await ask('post', `${path}/${done?.eventId}/replay`).expect(200);

    const found = await deliveriesOf(site.db).findOne({ eventId: done?.eventId ?? 'evt_' });
    expect(found).to.include({ state: 'due' });
    expect(found?.due).to.be.instanceOf(Date);
    expectProblem(await ask('post', `${path}/${done?.eventId}/replay`), 'delivery_pending');
    expectProblem(await ask('post', `${path}/${waiting?.eventId}/replay`), 'delivery_pending');
    expectProblem(await ask('post', `${path}/evt_nothing_sent/replay`), 'delivery_not_found');
    const entries = (await audit()).filter(({ action }) => action === 'webhook.replay-event');
    expect(entries.length).to.be.at.least(1);
    expect(entries.some(({ after }) => after?.event === done?.eventId)).to.equal(true);
  });

  it('of a disabled webhook are not posted again', async () => {
    const [done] = await store(1, { state: 'discarded' });
    await disableEndpoint(site.db, endpoint, 'account');

    expectProblem(await ask('post', `${path}/${done?.eventId}/replay`), 'webhook_disabled');
    expectProblem(
      await ask('post', `/v2/account/webhooks/${endpoint}/replays`, { since: '2026-11-01T00:00:00Z' }),
      'webhook_disabled',
    );
  });
});

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
