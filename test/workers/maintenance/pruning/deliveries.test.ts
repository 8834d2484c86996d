import { createAnnouncer } from '../../../../shared/events/webhooks/announce.ts';
import { type DeliveryDocument, type DeliveryGroup, deliveryId } from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import { oldestUnannounced, redoIntents } from '../../../../shared/messages/settlement/intents.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { eventId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { pruneOld } from '../../../../workers/maintenance/prune.ts';
import { groupsOf, makeEndpoint, makeGroup } from '../../../shared/events/webhooks/make.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { LEASE, pruneWorld } from '../../../support/prune-world.ts';

describe('maintenance: what ended long ago is removed, deliveries', () => {
  const world = pruneWorld();
  const { clock, daysAgo, deliveries, deps, idsIn, put } = world;

  const delivery = (days: number, overrides: Partial<DeliveryDocument> = {}): DeliveryDocument => {
    const message = newId('msg', daysAgo(days).getTime());
    const event = eventId(message, 'delivered');
    const endpoint = newId('whk');
    return {
      _id: deliveryId(event, endpoint),
      account: newId('acc'),
      endpoint,
      eventId: event,
      event: 'message.delivered',
      message,
      body: '{}',
      state: 'done',
      attempts: [],
      createdAt: daysAgo(days),
      ...overrides,
    };
  };

  it('hold up nothing else: a run that ends early gets to the messages too', async () => {
    await deliveries().insertMany(Array.from({ length: 350 }, () => delivery(100)));
    await put(Array.from({ length: 20 }, () => world.delivered(100)));
    let asked = 0;

    await pruneOld(deps({ held: () => ++asked <= 8 }));

    expect(await world.messages().countDocuments({})).to.equal(0);
    expect(await deliveries().countDocuments({})).to.be.within(1, 349);
  });

  const group = (days: number, overrides: Partial<DeliveryGroup> = {}): DeliveryGroup => {
    const { _id, endpoint, createdAt } = delivery(days);
    return makeGroup({ _id: `${_id}:2`, endpoint, createdAt, ...overrides }, 2);
  };

  it('go in groups too: when all were posted long ago', async () => {
    const stay = [group(100), group(29, { state: 'done' })];
    await groupsOf(world.store.db).insertMany([...stay, group(31, { state: 'done' })]);

    await pruneOld(deps());

    expect(await idsIn('deliveries')).to.have.members(stay.map(({ _id }) => _id));
  });

  it('go when they were posted or given up long ago; what is due, waits or is younger stays', async () => {
    const stay = [
      delivery(100, { state: 'due', due: daysAgo(100) }),
      delivery(100, { state: 'waiting', retryAt: daysAgo(99) }),
      // A late event of an old message, and a delivery that was replayed.
      delivery(100, { createdAt: daysAgo(29) }),
      delivery(100, { replayedAt: daysAgo(1) }),
      delivery(29),
    ];
    const gone = [delivery(31), delivery(100, { state: 'exhausted' }), delivery(100, { state: 'discarded' })];
    await deliveries().insertMany([...stay, ...gone]);

    await pruneOld(deps());

    expect(await idsIn('deliveries')).to.have.members(stay.map(({ _id }) => _id));
  });

  it('an event whose delivery is gone is not posted again by whoever takes a lease that was idle since', async () => {
    const account = newId('acc');
    const old = makeMessage({ account, state: 'submitting', history: [] });
    await put([old]);
    await world.store.db.collection<EndpointDocument>('endpoints').insertOne(makeEndpoint({ account }));
    const then = new ManualClock(daysAgo(40));
    const announcer = createAnnouncer({ db: world.store.db, clock: then });
    await new Settler({ db: world.store.db, announcer, lease: LEASE, epoch: 1, stream: 'outcomes' }).settle([
      { message: old, decide: () => ({ state: 'sent', entries: [{ state: 'sent', at: then.now() }] }) },
    ]);
    await deliveries().updateMany({}, { $set: { state: 'done' }, $unset: { due: '' } });
    expect(await deliveries().countDocuments({})).to.equal(1);
    await deliveries().deleteMany({});

    await redoIntents(
      world.store.db,
      createAnnouncer({ db: world.store.db, clock }),
      LEASE,
      2,
      oldestUnannounced(clock.now()),
    );

    expect(await idsIn('deliveries')).to.deep.equal([]);
  });
});
