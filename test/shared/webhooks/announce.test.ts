import { expect } from 'chai';
import type { StateChange } from '../../../shared/events/catalogue.ts';
import type { HistoryEntry, MessageDocument } from '../../../shared/messages/message.ts';
import { type AccountId, newId } from '../../../shared/runtime/ids.ts';
import { createAnnouncer } from '../../../shared/webhooks/announce.ts';
import type { DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/webhooks/endpoint.ts';
import { SUBSCRIPTIONS_FRESH_MS } from '../../../shared/webhooks/subscriptions.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';
import { makeEndpoint, makeMessage } from './make.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const AT = new Date('2026-11-21T09:59:59Z');

describe('webhooks/announce', () => {
  let store: TestStore;
  const clock = new ManualClock(NOW);

  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

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
