import {
  complete,
  type DeliveryAttempt,
  type DeliveryDocument,
  deliveriesIn,
  findDeliveries,
  findDueInRange,
  findDueOf,
  promoteRetries,
  replayDelivery,
} from '../../../../shared/events/webhooks/delivery.ts';
import { type EndpointId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { replaySince } from '../../../support/replay-since.ts';
import { useStore } from '../../../support/store.ts';
import { groupsOf, makeDelivery, makeGroup, present } from './make.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const DAY_MS = 86_400_000;
const ATTEMPT: DeliveryAttempt = { at: NOW, result: 500, durationMs: 12, excerpt: 'oops' };

describe('webhooks/delivery-store', () => {
  const store = useStore();

  beforeEach(async () => {
    await store.db.collection('deliveries').deleteMany({});
  });

  async function stored(override: Partial<DeliveryDocument> & { endpoint: EndpointId }): Promise<DeliveryDocument> {
    const delivery = makeDelivery(override);
    await store.db.collection<DeliveryDocument>('deliveries').insertOne(delivery);
    return delivery;
  }

  async function read({ _id }: DeliveryDocument): Promise<DeliveryDocument | null> {
    return store.db.collection<DeliveryDocument>('deliveries').findOne({ _id });
  }

  it('walks endpoint by endpoint, oldest first, and only what is due', async () => {
    const b2 = await stored({ endpoint: 'whk_b', due: seconds(2) });
    const a3 = await stored({ endpoint: 'whk_a', due: seconds(3) });
    const c1 = await stored({ endpoint: 'whk_c', due: seconds(1) });
    const a1 = await stored({ endpoint: 'whk_a', due: seconds(1) });
    await stored({ endpoint: 'whk_a', state: 'done' });
    await stored({ endpoint: 'whk_b', state: 'waiting', retryAt: seconds(0) });

    const ids = async (after: string, before: string | undefined, limit: number) =>
      (await findDueInRange(store.db, { after, before }, limit)).map(({ _id }) => _id);

    expect(await ids('', undefined, 10)).to.deep.equal([a1, a3, b2, c1].map(({ _id }) => _id));
    expect(await ids('', undefined, 3)).to.deep.equal([a1, a3, b2].map(({ _id }) => _id));
    expect(await ids('whk_a', undefined, 10)).to.deep.equal([b2, c1].map(({ _id }) => _id));
    expect(await ids('whk_a', 'whk_c', 10)).to.deep.equal([b2._id]);
    expect((await findDueOf(store.db, ['whk_a'], 10)).map(({ _id }) => _id)).to.deep.equal([a1._id, a3._id]);
  });

  it('a completion writes the attempt and takes the delivery out of what is due', async () => {
    const endpoint = newId('whk');
    const [done, waiting, exhausted, discarded] = [
      await stored({ endpoint }),
      await stored({ endpoint }),
      await stored({ endpoint }),
      await stored({ endpoint }),
    ];

    await complete(store.db, [
      { id: done._id, state: 'done', attempt: { at: NOW, result: 200, durationMs: 3 } },
      { id: waiting._id, state: 'waiting', retryAt: seconds(5), attempt: ATTEMPT },
      { id: exhausted._id, state: 'exhausted', attempt: ATTEMPT },
      { id: discarded._id, state: 'discarded' },
    ]);

    expect(await findDueOf(store.db, [endpoint], 10)).to.deep.equal([]);
    expect(await read(done)).to.deep.equal({
      ...settled(done),
      state: 'done',
      attempts: [{ at: NOW, result: 200, durationMs: 3 }],
    });
    expect(await read(waiting)).to.deep.equal({
      ...settled(waiting),
      state: 'waiting',
      retryAt: seconds(5),
      attempts: [ATTEMPT],
    });
    expect(await read(exhausted)).to.deep.include({ state: 'exhausted', attempts: [ATTEMPT] });
    expect(await read(discarded)).to.deep.include({ state: 'discarded', attempts: [] });
  });

  it('completing twice writes once', async () => {
    const delivery = await stored({ endpoint: newId('whk') });
    const completion = { id: delivery._id, state: 'exhausted', attempt: ATTEMPT } as const;

    await complete(store.db, [completion]);
    await complete(store.db, [completion, { ...completion, state: 'done' }]);

    expect(await read(delivery)).to.deep.include({ state: 'exhausted', attempts: [ATTEMPT] });
  });

  it('a waiting delivery is due when its time has come, not before', async () => {
    const endpoint = newId('whk');
    const early = await stored({ endpoint, state: 'waiting', retryAt: seconds(5) });
    const late = await stored({ endpoint, state: 'waiting', retryAt: seconds(6) });

    expect(await promoteRetries(store.db, seconds(5), 10)).to.equal(1);

    expect((await findDueOf(store.db, [endpoint], 10)).map(({ _id }) => _id)).to.deep.equal([early._id]);
    expect(await read(early))
      .to.include({ state: 'due' })
      .and.not.to.have.property('retryAt');
    expect(await read(late)).to.deep.equal(late);
  });

  it('replays one, whatever became of it, with its log kept', async () => {
    for (const state of ['done', 'exhausted', 'discarded'] as const) {
      const delivery = await stored({ endpoint: newId('whk'), state, attempts: [ATTEMPT] });

      expect(await replayDelivery(store.db, delivery._id, NOW)).to.equal(true);

      expect(await read(delivery)).to.deep.include({ state: 'due', due: NOW, replayedAt: NOW, attempts: [ATTEMPT] });
    }
  });

  it('replays one of a group: it gets a document of its own, which counts from then on', async () => {
    const endpoint = newId('whk');
    const attempts = [1, 2].map((durationMs) => ({ at: NOW, result: 200, durationMs }));
    const group = makeGroup({ endpoint, state: 'done', attempts }, 2);
    await groupsOf(store.db).insertOne(group);
    const [, second] = deliveriesIn(group);
    const id = present(second)._id;

    expect(await replayDelivery(store.db, id, NOW)).to.equal(true);
    expect(await replayDelivery(store.db, id, NOW)).to.equal(false);

    expect(await findDeliveries(store.db, [id], { bodies: true })).to.deep.equal([
      { ...second, state: 'due', due: NOW, replayedAt: NOW },
    ]);
    expect(present(second).attempts).to.deep.equal([attempts[1]]);
    expect(await groupsOf(store.db).findOne({ _id: group._id })).to.deep.equal(group);
    expect((await findDueOf(store.db, [endpoint], 10)).map(({ _id }) => _id)).to.deep.equal([id]);
  });

  it('does not replay one of a group that is still due', async () => {
    const group = makeGroup({ endpoint: newId('whk') }, 2);
    await groupsOf(store.db).insertOne(group);

    for (const { _id } of deliveriesIn(group)) {
      expect(await replayDelivery(store.db, _id, NOW)).to.equal(false);
    }
  });

  it('completing a group twice writes once, and its events’ own deliveries are left as they have become', async () => {
    const group = makeGroup({ endpoint: newId('whk') }, 2);
    await groupsOf(store.db).insertOne(group);
    const [first, second] = deliveriesIn(group).map(({ due: _, ...one }) => one);
    const apart = { ...present(second), state: 'waiting', retryAt: seconds(5), attempts: [ATTEMPT] } as const;
    const completion = { id: group._id, attempts: [ATTEMPT, ATTEMPT], apart: [apart] };
    await complete(store.db, [completion]);
    await complete(store.db, [{ id: apart._id, state: 'done', attempt: ATTEMPT }]);
    await promoteRetries(store.db, seconds(5), 10);

    await complete(store.db, [{ ...completion, attempts: [] }]);

    const found = await findDeliveries(store.db, [present(first)._id, apart._id], { bodies: false });
    expect(found.map(({ _id, state, attempts }) => [_id, state, attempts.length])).to.have.deep.members([
      [first?._id, 'done', 1],
      [apart._id, 'due', 1],
    ]);
  });

  it('finds groups that are due with the others, but for those in hand', async () => {
    const endpoint = newId('whk');
    const groups = [1, 3].map((second) => makeGroup({ endpoint, due: seconds(second) }, 2));
    await groupsOf(store.db).insertMany(groups);
    const single = await stored({ endpoint, due: seconds(2) });
    const [first, last] = groups.map(({ _id }) => _id);
    const inHand = groups.slice(0, 1).map(({ _id }) => _id);

    const idsOf = (found: readonly { readonly _id: string }[]) => found.map(({ _id }) => _id);
    expect(idsOf(await findDueOf(store.db, [endpoint], 10))).to.deep.equal([first, single._id, last]);
    expect(idsOf(await findDueOf(store.db, [endpoint], 10, inHand))).to.deep.equal([single._id, last]);
    expect(idsOf(await findDueInRange(store.db, { after: '' }, 10, inHand))).to.deep.equal([single._id, last]);
  });

  it('does not replay what is posted anyway, or does not exist', async () => {
    const due = await stored({ endpoint: newId('whk') });
    const waiting = await stored({ endpoint: newId('whk'), state: 'waiting', retryAt: NOW });

    for (const { _id } of [due, waiting]) expect(await replayDelivery(store.db, _id, NOW)).to.equal(false);
    expect(await replayDelivery(store.db, 'evt_x:whk_y', NOW)).to.equal(false);
    expect(await read(due)).to.deep.equal(due);
  });

  it('replays since a time what an endpoint did not get, and nothing else', async () => {
    const endpoint = newId('whk');
    const lost = await stored({ endpoint, state: 'exhausted', createdAt: seconds(10) });
    const dropped = await stored({ endpoint, state: 'discarded', createdAt: seconds(11) });
    await stored({ endpoint, state: 'done', createdAt: seconds(11) });
    await stored({ endpoint, state: 'exhausted', createdAt: seconds(9) });
    await stored({ endpoint: newId('whk'), state: 'exhausted', createdAt: seconds(11) });

    expect(await replaySince(store.db, { endpoint, since: seconds(10) }, NOW)).to.equal(2);

    const due = await findDueOf(store.db, [endpoint], 10);
    expect(due.map(({ _id }) => _id)).to.have.members([lost._id, dropped._id]);
    expect(await replaySince(store.db, { endpoint, since: seconds(10) }, NOW)).to.equal(0);
  });

  it('replays since a time also more than a page', async () => {
    const endpoint = newId('whk');
    const many = Array.from({ length: 1_203 }, () =>
      makeDelivery({ endpoint, state: 'exhausted', createdAt: seconds(1) }),
    );
    await store.db.collection<DeliveryDocument>('deliveries').insertMany(many);

    expect(await replaySince(store.db, { endpoint, since: seconds(0) }, NOW)).to.equal(1_203);
    expect(await findDueOf(store.db, [endpoint], 2_000)).to.have.length(1_203);
  });

  it('replays since a time also late events of messages that are as old as you like', async () => {
    const endpoint = newId('whk');
    const idOfDay = (day: number) => newId('evt', seconds(0).getTime() - day * DAY_MS);
    const old = Array.from({ length: 600 }, (_, i) =>
      makeDelivery({
        endpoint,
        ...{ eventId: idOfDay(30), state: i % 2 === 0 ? 'exhausted' : 'discarded', createdAt: seconds(-1) },
      }),
    );
    await store.db.collection<DeliveryDocument>('deliveries').insertMany(old);
    const read = await stored({ endpoint, eventId: idOfDay(40), state: 'exhausted', createdAt: seconds(1) });
    const late = await stored({ endpoint, eventId: idOfDay(41), state: 'discarded', createdAt: seconds(1) });

    expect(await replaySince(store.db, { endpoint, since: seconds(0) }, NOW)).to.equal(2);

    const due = await findDueOf(store.db, [endpoint], 10);
    expect(due.map(({ _id }) => _id)).to.have.members([read._id, late._id]);
  });
});

function seconds(n: number): Date {
  return new Date(Date.parse('2026-11-21T09:00:00Z') + n * 1_000);
}

/** Without the field that completing changes. */
function settled({ due: _, ...rest }: DeliveryDocument): Omit<DeliveryDocument, 'due'> {
  return rest;
}
