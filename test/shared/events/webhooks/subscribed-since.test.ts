import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import {
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  findEndpoints,
  setEvents,
} from '../../../../shared/events/webhooks/endpoint-store.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { boxOf } from '../../../support/secret-box.ts';
import { useStore } from '../../../support/store.ts';

describe('webhooks/endpoint-store: subscribedSince', () => {
  const box = boxOf(randomBytes(32));
  const store = useStore();

  it('an endpoint knows since when it is active and gets all its events', async () => {
    const clock = new ManualClock();
    const of = { account: newId('acc'), channel: 'sms', url: 'https://hooks.example/1' } as const;
    const register = async (...events: EndpointDocument['events']) =>
      (await createEndpoint(store.db, clock, box, { ...of, events })).endpoint;
    const { _id: id } = await register('message.sent', 'message.failed');
    const since = async () => (await findEndpoints(store.db, [id]))[0]?.subscribedSince;
    const changed = async (change: () => Promise<unknown>) => {
      clock.turn(1_000);
      await change();
      return (await since())?.getTime() === clock.now().getTime();
    };

    expect(await since()).to.equal(undefined);
    expect(await changed(() => register('message.failed', 'message.sent'))).to.equal(false);
    expect(await changed(() => setEvents(store.db, clock, id, ['message.sent']))).to.equal(false);
    expect(await changed(() => enableEndpoint(store.db, clock, id))).to.equal(false);
    expect(await since()).to.equal(undefined);
    expect(await changed(() => setEvents(store.db, clock, id, ['message.sent', 'message.failed']))).to.equal(true);
    expect(await changed(() => register('message.expired'))).to.equal(true);
    await disableEndpoint(store.db, id, 'account');
    expect(await changed(() => register('message.expired'))).to.equal(true);
    await disableEndpoint(store.db, id, 'account');
    expect(await changed(() => enableEndpoint(store.db, clock, id))).to.equal(true);
  });
});
