import type { StateChange } from '../../../../shared/events/catalogue.ts';
import { createAnnouncer, GROUP_MAX, SUBSCRIPTIONS_FRESH_MS } from '../../../../shared/events/webhooks/announce.ts';
import {
  type DeliveryDocument,
  type DeliveryGroup,
  deliveriesIn,
  type Stored,
} from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument, EventFilter } from '../../../../shared/events/webhooks/endpoint.ts';
import type { HistoryEntry, MessageDocument } from '../../../../shared/messages/document/message.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { useStore } from '../../../support/store.ts';
import { makeEndpoint, makeMessage } from './make.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const AT = new Date('2026-11-21T09:59:59Z');

describe('webhooks/announce', () => {
  const store = useStore();
  const clock = new ManualClock(NOW);

  async function endpoint(override: Partial<EndpointDocument>): Promise<EndpointDocument> {
    const made = makeEndpoint(override);
    await store.db.collection<EndpointDocument>('endpoints').insertOne(made);
    return made;
  }

  function deliveriesTo(account: AccountId): Promise<DeliveryDocument[]> {
    return store.db.collection<DeliveryDocument>('deliveries').find({ account }).toArray();
  }

  it('stores one due delivery per active endpoint of the account that subscribes the event', async () => {
    const account = newId('acc');
    const all = await endpoint({ account });
    const only = await endpoint({ account, events: ['message.sent'] });
    await endpoint({ account, events: ['message.delivered'] });
    await endpoint({ account, status: 'disabled' });
    await endpoint({ account: newId('acc') });
    const message = makeMessage({ account });

    await createAnnouncer({ db: store.db, clock }).announce([change(message, 'sent')]);

    const deliveries = await deliveriesTo(account);
    const event = `evt_${message._id.slice(4)}_sent`;
    expect(deliveries.map(({ _id }) => _id)).to.have.members([`${event}:${all._id}`, `${event}:${only._id}`]);
    for (const delivery of deliveries) {
      expect(delivery).to.deep.include({
        account,
        eventId: event,
        event: 'message.sent',
        message: message._id,
        state: 'due',
        due: AT,
        attempts: [],
        createdAt: NOW,
      });
      expect(JSON.parse(delivery.body)).to.include({ event: 'message.sent', message_id: message._id });
    }
  });

  it('stores no delivery of what does not fit the filter of the endpoint', async () => {
    const account = newId('acc');
    const filters: readonly EventFilter[] = [
      ...[{ sender: ['other', 'harkara'] }, { sender: ['OTHER'] }, {}, { route: ['transactional'] }],
      ...[{ route: ['promotional'] }, { reference_prefix: ['order-'] }, { reference_prefix: ['rder'] }],
      ...[{ number_prefix: ['44', '9198'] }, { number_prefix: ['44'] }, { error_code: ['1', '69'] }],
      ...[{ error_code: ['6'] }, { sender: ['HARKARA'], route: ['promotional'] }],
    ];
    const endpoints = await Promise.all(filters.map((filter) => endpoint({ account, filter })));
    const message = makeMessage({ account, reference: 'order-7', errorCode: '69' });

    await createAnnouncer({ db: store.db, clock }).announce([change(message, 'failed')]);

    const told = new Set((await deliveriesTo(account)).map((delivery) => delivery.endpoint));
    const fitting = filters.filter((_, i) => told.has(endpoints[i]?._id ?? 'whk_'));
    expect(fitting).to.deep.equal([0, 2, 3, 5, 7, 9].map((i) => filters[i]));
  });

  it('tells the receipt as the carrier wrote it to the endpoints that ask for it alone', async () => {
    const account = newId('acc');
    const [asks, other] = [await endpoint({ account, raw: true }), await endpoint({ account })];
    const raw = { text: 'id:7f stat:UNDELIV err:012', tlvs: { messageState: 5, networkErrorCode: '03000c' } };
    const message = makeMessage({ account });
    const { entry, ...rest } = change(message, 'failed');

    await createAnnouncer({ db: store.db, clock }).announce([{ ...rest, entry: { ...entry, raw } }]);

    const bodies = new Map((await deliveriesTo(account)).map((one) => [one.endpoint, JSON.parse(one.body)]));
    const told = { receipt: raw.text, message_state: 5, network_error_code: '03000c' };
    expect(bodies.get(asks._id)).to.deep.equal({ ...bodies.get(other._id), raw: told });
  });

  it('announcing again, by another process and together with new changes, adds only the new', async () => {
    const account = newId('acc');
    await endpoint({ account });
    const [first, second] = [makeMessage({ account }), makeMessage({ account })];

    await createAnnouncer({ db: store.db, clock }).announce([change(first, 'sent')]);
    const before = await deliveriesTo(account);
    await createAnnouncer({ db: store.db, clock }).announce([
      change(first, 'sent'),
      change(first, 'delivered'),
      change(second, 'sent'),
    ]);

    const after = await deliveriesTo(account);
    expect(after).to.have.length(3);
    expect(after).to.deep.include(before[0]);
  });

  it('a delivery that was completed does not come back when its change is announced again', async () => {
    const account = newId('acc');
    await endpoint({ account });
    const message = makeMessage({ account });
    const announcer = createAnnouncer({ db: store.db, clock });
    await announcer.announce([change(message, 'sent')]);
    await store.db.collection('deliveries').updateOne({ account }, { $set: { state: 'done' }, $unset: { due: '' } });

    await announcer.announce([change(message, 'sent')]);

    const deliveries = await deliveriesTo(account);
    expect(deliveries.map(({ state }) => state)).to.deep.equal(['done']);
  });

  it('an account without endpoints costs no delivery', async () => {
    const account = newId('acc');

    await createAnnouncer({ db: store.db, clock }).announce([change(makeMessage({ account }), 'sent')]);
    await createAnnouncer({ db: store.db, clock }).announce([]);

    expect(await deliveriesTo(account)).to.deep.equal([]);
  });

  describe('the changes of a settle', () => {
    const stored = (account: AccountId): Promise<Stored[]> =>
      store.db.collection('deliveries').find({ account }).sort({ _id: 1 }).project<Stored>({}).toArray();
    const many = (account: AccountId, count: number) =>
      Array.from({ length: count }, () => makeMessage({ account })).map((message) => change(message, 'sent'));
    const eventsIn = (documents: readonly Stored[]) => documents.flatMap(deliveriesIn).map(({ _id }) => _id);

    it('are one document for each endpoint, with the events in the order of their times', async () => {
      const account = newId('acc');
      const [both, one] = [await endpoint({ account }), await endpoint({ account, events: ['message.delivered'] })];
      const [first, second] = [makeMessage({ account }), makeMessage({ account })];
      const later = { message: first, entry: { state: 'delivered', at: new Date(+AT + 5) } } as const;

      await createAnnouncer({ db: store.db, clock }).announce(
        [later, change(first, 'sent'), change(second, 'sent')],
        'grouped',
      );

      const [single, group] = (await stored(account)).sort((a) => ('items' in a ? 1 : -1)) as [Stored, DeliveryGroup];
      const events = [first, second].map(({ _id }) => `evt_${_id.slice(4)}_sent`);
      const delivered = `evt_${first._id.slice(4)}_delivered`;
      expect(single).to.include({ _id: `${delivered}:${one._id}`, eventId: delivered, state: 'due' });
      expect(group).to.deep.include({ _id: `${events[0]}:${both._id}:3`, endpoint: both._id, due: AT, state: 'due' });
      expect(group.items.map(({ eventId }) => eventId)).to.deep.equal([...events, delivered]);
      expect(group.items.map(({ body }) => JSON.parse(body).message_id)).to.deep.equal(
        [first, second, first].map(({ _id }) => _id),
      );
      expect(deliveriesIn(group)[1]).to.include({ eventId: events[1], message: second._id, event: 'message.sent' });
    });

    it('are several documents when they are many, or large', async () => {
      const account = newId('acc');
      await endpoint({ account });
      const announcer = createAnnouncer({ db: store.db, clock });

      await announcer.announce(many(account, 2 * GROUP_MAX + 1), 'grouped');
      expect((await stored(account)).map((one) => deliveriesIn(one).length)).to.have.members([GROUP_MAX, GROUP_MAX, 1]);

      const other = newId('acc');
      await endpoint({ account: other });
      const reference = 'x'.repeat(30_000);
      const large = Array.from({ length: 3 }, () => change(makeMessage({ account: other, reference }), 'sent'));
      await announcer.announce(large, 'grouped');
      expect((await stored(other)).map((one) => deliveriesIn(one).length)).to.have.members([2, 1]);
    });

    it('the same call again stores the same, whatever became of subscriptions since', async () => {
      const account = newId('acc');
      const { _id } = await endpoint({ account });
      const announcer = createAnnouncer({ db: store.db, clock });
      const changes = [change(makeMessage({ account }), 'delivered'), ...many(account, 3)];
      await announcer.announce(changes, 'grouped');
      const before = await stored(account);
      await store.db
        .collection<EndpointDocument>('endpoints')
        .updateOne({ _id }, { $set: { events: ['message.sent'] } });
      clock.turn(SUBSCRIPTIONS_FRESH_MS);

      await announcer.announce(changes, 'grouped');

      expect(await stored(account)).to.deep.equal(before);
    });

    it('a redo by another process adds what is missing and repeats no event, however it was stored', async () => {
      const account = newId('acc');
      await endpoint({ account });
      const [grouped, alone, missing] = [many(account, 3), many(account, 1), many(account, 2)];
      const announcer = createAnnouncer({ db: store.db, clock });
      await announcer.announce(grouped, 'grouped');
      await announcer.announce(alone, 'grouped');

      for (let n = 0; n < 2; n++) {
        const redoing = createAnnouncer({ db: store.db, clock });
        await redoing.announce([...missing, ...alone, ...grouped].reverse(), 'again');
      }

      const documents = await stored(account);
      expect(documents.map((one) => deliveriesIn(one).length)).to.have.members([3, 1, 1, 1]);
      expect(new Set(eventsIn(documents))).to.have.property('size', 6);
    });
  });

  it('a new endpoint gets its events half a second later at the latest', async () => {
    const account = newId('acc');
    const announcer = createAnnouncer({ db: store.db, clock });
    await announcer.announce([change(makeMessage({ account }), 'sent')]);
    await endpoint({ account });
    clock.turn(SUBSCRIPTIONS_FRESH_MS);

    await announcer.announce([change(makeMessage({ account }), 'sent')]);

    expect(await deliveriesTo(account)).to.have.length(1);
  });
});

function change(message: MessageDocument, state: HistoryEntry['state']): StateChange {
  return { message, entry: { state, at: AT } };
}
