import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import { createEndpoint, listEndpoints } from '../../../../shared/events/webhooks/endpoint-store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { boxOf } from '../../../support/secret-box.ts';
import { useStore } from '../../../support/store.ts';
import { makeEndpoint } from './make.ts';

describe('webhooks/endpoint-store: an address', () => {
  const box = boxOf(randomBytes(32));
  const store = useStore();

  it('written in another way is the same endpoint, also one of an earlier version', async () => {
    const account = newId('acc');
    const register = (channel: 'sms' | 'chatapp', url: string) =>
      createEndpoint(store.db, systemClock, box, { account, channel, url, events: ['message.sent'] });
    const _id = newId('whk');
    const sealed = box.seal('whsec_old', ['endpoints', _id, 'secrets.sealed']);
    const old = makeEndpoint({ _id, account, url: 'https://old.example', secrets: [{ sealed }] });
    await store.db.collection<EndpointDocument>('endpoints').insertOne(old);

    const made = await Promise.all(['https://x.example', 'https://x.example/'].map((url) => register('sms', url)));
    const again = await register('sms', 'HTTPS://X.Example:443');
    const known = await register('sms', 'https://old.example/');
    const other = await register('chatapp', 'https://x.example');

    const ids = new Set([...made, again].map(({ endpoint }) => endpoint._id));
    expect(ids).to.have.property('size', 1);
    expect(known).to.deep.include({ created: false, secret: 'whsec_old' });
    expect(known.endpoint).to.include({ _id: old._id, url: 'https://old.example' });
    expect((await listEndpoints(store.db, account)).map(({ _id }) => _id)).to.have.members([
      ...ids,
      old._id,
      other.endpoint._id,
    ]);
  });
});
