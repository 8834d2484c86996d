import { expect } from 'chai';
import { type EndpointId, newId } from '../../../shared/runtime/ids.ts';
import type { DeliveryAttempt, DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import {
  completeDeliveries,
  findDueInRange,
  findDueOf,
  promoteRetries,
  replayDelivery,
  replaySince,
} from '../../../shared/webhooks/delivery-store.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';
import { makeDelivery } from './make.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const DAY_MS = 86_400_000;
const ATTEMPT: DeliveryAttempt = { at: NOW, result: 500, durationMs: 12, excerpt: 'oops' };

describe('webhooks/delivery-store', () => {
  let store: TestStore;

  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
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

    await completeDeliveries(store.db, [
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

    await completeDeliveries(store.db, [completion]);
    await completeDeliveries(store.db, [completion, { ...completion, state: 'done' }]);

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

/** The delivery without the field that completing changes. */
function settled({ due: _, ...rest }: DeliveryDocument): Omit<DeliveryDocument, 'due'> {
  return rest;
}
