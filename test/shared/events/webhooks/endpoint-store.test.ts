import { randomBytes } from 'node:crypto';
import { ENDPOINTS_PER_ACCOUNT, type EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import {
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  findEndpoints,
  listEndpoints,
  newSecret,
  noteHealth,
  removeEndpoint,
  rotateSecret,
  setEvents,
} from '../../../../shared/events/webhooks/endpoint-store.ts';
import { AllPlacesTaken } from '../../../../shared/platform/mongo/places.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { boxOf } from '../../../support/secret-box.ts';
import { useStore } from '../../../support/store.ts';
import { makeEndpoint, present } from './make.ts';

const URL_1 = 'https://hooks.example/1';

describe('webhooks/endpoint-store', () => {
  const box = boxOf(randomBytes(32));
  const store = useStore();

  it('a new endpoint is active, and its secret is stored sealed only', async () => {
    const account = newId('acc');

    const { endpoint, secret, created } = await createEndpoint(store.db, systemClock, box, {
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
    });

    expect(created).to.equal(true);
    expect(endpoint).to.deep.include({
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
      status: 'active',
    });
    expect(
      endpoint.secrets.map(({ sealed }) => box.open(sealed, ['endpoints', endpoint._id, 'secrets.sealed'])),
    ).to.deep.equal([secret]);
    expect(JSON.stringify(await listEndpoints(store.db, account))).not.to.include(secret);
  });

  it('the same url again keeps id and secret, takes the new events and is active again', async () => {
    const account = newId('acc');
    const first = await createEndpoint(store.db, systemClock, box, {
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
    });
    await noteHealth(store.db, first.endpoint._id, new Date());
    await disableEndpoint(store.db, first.endpoint._id, 'gone');

    const again = await createEndpoint(store.db, systemClock, box, {
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.failed'],
    });

    expect(again).to.deep.include({ secret: first.secret, created: false });
    const { endpoint } = again;
    const { subscribedSince } = endpoint;
    expect(endpoint).to.deep.equal({ ...first.endpoint, events: ['message.failed'], subscribedSince });
    expect(await listEndpoints(store.db, account)).to.deep.equal([endpoint]);
  });

  it('the same url at once from several requests makes one endpoint', async () => {
    const account = newId('acc');

    const made = await Promise.all(
      Array.from({ length: 8 }, () =>
        createEndpoint(store.db, systemClock, box, { account, channel: 'sms', url: URL_1, events: ['message.sent'] }),
      ),
    );

    expect(new Set(made.map(({ secret }) => secret))).to.have.property('size', 1);
    expect(await listEndpoints(store.db, account)).to.have.length(1);
  });

  it('two accounts with the same url have endpoints of their own', async () => {
    const [a, b] = await Promise.all(
      [newId('acc'), newId('acc')].map((account) =>
        createEndpoint(store.db, systemClock, box, { account, channel: 'sms', url: URL_1, events: ['message.sent'] }),
      ),
    );

    expect(a?.endpoint._id).not.to.equal(b?.endpoint._id);
    expect(a?.secret).not.to.equal(b?.secret);
  });

  it('an account has ten endpoints at most; a known url may still be updated', async () => {
    const account = newId('acc');
    const register = (n: number) =>
      createEndpoint(store.db, systemClock, box, {
        account,
        channel: 'sms',
        url: `${URL_1}/${n}`,
        events: ['message.sent'],
      });
    for (let n = 0; n < ENDPOINTS_PER_ACCOUNT; n++) await register(n);

    const error = await register(ENDPOINTS_PER_ACCOUNT).catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(AllPlacesTaken);
    expect((await register(0)).created).to.equal(false);
    expect(await listEndpoints(store.db, account)).to.have.length(ENDPOINTS_PER_ACCOUNT);
  });

  it('has ten also when hundreds are registered at once, from several processes and over both channels', async () => {
    const account = newId('acc');
    const known = await createEndpoint(store.db, systemClock, box, {
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
    });

    const made = await Promise.allSettled(
      Array.from({ length: 200 }, (_, n) =>
        createEndpoint(store.db, systemClock, box, {
          account,
          channel: n % 2 === 0 ? 'sms' : 'chatapp',
          url: `${URL_1}/${n}`,
          events: ['message.sent'],
        }),
      ),
    );

    const kept = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.endpoint._id] : []));
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(kept).to.have.length(ENDPOINTS_PER_ACCOUNT - 1);
    for (const reason of refused) expect(reason).to.be.instanceOf(AllPlacesTaken);
    const stored = await listEndpoints(store.db, account);
    expect(stored.map(({ _id }) => _id)).to.have.members([known.endpoint._id, ...kept]);
  });

  it('one that is removed makes room for exactly one', async () => {
    const account = newId('acc');
    const register = (n: number) =>
      createEndpoint(store.db, systemClock, box, {
        account,
        channel: 'sms',
        url: `${URL_1}/${n}`,
        events: ['message.sent'],
      });
    const [first] = await Promise.all(Array.from({ length: ENDPOINTS_PER_ACCOUNT }, (_, n) => register(n)));
    expect(await removeEndpoint(store.db, present(first).endpoint._id)).to.equal(true);

    const made = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => register(100 + n)));

    expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(await listEndpoints(store.db, account)).to.have.length(ENDPOINTS_PER_ACCOUNT);
  });

  it('a rotated secret signs first; the one before it signs for a day more, and then goes', async () => {
    const account = newId('acc');
    const clock = new ManualClock();
    const made = await createEndpoint(store.db, clock, box, {
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
    });
    const secretsNow = async () =>
      ((await listEndpoints(store.db, account))[0]?.secrets ?? []).map(({ sealed, expiresAt }) => [
        box.open(sealed, ['endpoints', made.endpoint._id, 'secrets.sealed']),
        expiresAt,
      ]);
    const start = clock.now().getTime();
    const day = 24 * 3_600_000;

    const second = newSecret();
    await rotateSecret(store.db, clock, box, { secret: second }, made.endpoint._id);
    expect(await secretsNow()).to.deep.equal([
      [second, undefined],
      [made.secret, new Date(start + day)],
    ]);

    clock.turn(day + 1);
    const third = newSecret();
    await rotateSecret(store.db, clock, box, { secret: third }, made.endpoint._id);
    expect(await secretsNow()).to.deep.equal([
      [third, undefined],
      [second, new Date(start + 2 * day + 1)],
    ]);
  });

  it('two rotations at once leave both new secrets, one of them first', async () => {
    const { endpoint } = await createEndpoint(store.db, systemClock, box, {
      account: newId('acc'),
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
    });

    const secrets = [1, 2, 3].map(newSecret);
    await Promise.all(secrets.map((secret) => rotateSecret(store.db, systemClock, box, { secret }, endpoint._id)));

    const [stored] = await findEndpoints(store.db, [endpoint._id]);
    const open = (stored?.secrets ?? []).map(({ sealed }) =>
      box.open(sealed, ['endpoints', endpoint._id, 'secrets.sealed']),
    );
    expect(open).to.include.members(secrets).and.have.length(4);
    expect((stored?.secrets ?? []).filter(({ expiresAt }) => expiresAt === undefined)).to.have.length(1);
  });

  it('disabling says why, once; enabling forgets it', async () => {
    const account = newId('acc');
    const clock = new ManualClock();
    const { endpoint } = await createEndpoint(store.db, systemClock, box, {
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
    });
    await noteHealth(store.db, endpoint._id, new Date());

    expect(await disableEndpoint(store.db, endpoint._id, 'answered 410 Gone')).to.equal(true);
    expect(await disableEndpoint(store.db, endpoint._id, 'another reason')).to.equal(false);
    const [disabled] = await listEndpoints(store.db, account);
    expect(disabled).to.include({ status: 'disabled', disabledReason: 'answered 410 Gone' });

    expect(await enableEndpoint(store.db, clock, endpoint._id)).to.equal(true);
    expect(await listEndpoints(store.db, account)).to.deep.equal([{ ...endpoint, subscribedSince: clock.now() }]);
    expect(await enableEndpoint(store.db, clock, newId('whk'))).to.equal(false);
  });

  it('a success clears since when it was failing', async () => {
    const account = newId('acc');
    const { endpoint } = await createEndpoint(store.db, systemClock, box, {
      account,
      channel: 'sms',
      url: URL_1,
      events: ['message.sent'],
    });
    const since = new Date('2026-11-21T10:00:00Z');

    await noteHealth(store.db, endpoint._id, since);
    expect(await listEndpoints(store.db, account)).to.deep.equal([{ ...endpoint, failingSince: since }]);

    await noteHealth(store.db, endpoint._id, undefined);
    expect(await listEndpoints(store.db, account)).to.deep.equal([endpoint]);
  });
});

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
