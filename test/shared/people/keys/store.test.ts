import { LIVE_KEYS_MAX } from '../../../../shared/people/keys/key.ts';
import { parseKey, secretMatches } from '../../../../shared/people/keys/key-secret.ts';
import {
  createKey,
  findKey,
  listKeyPage,
  listLiveKeys,
  revokeKey,
  rotateKey,
  setKeyCaps,
  updateKey,
} from '../../../../shared/people/keys/store.ts';
import { AllPlacesTaken } from '../../../../shared/platform/mongo/places.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { useStore } from '../../../support/store.ts';

describe('keys store', () => {
  const store = useStore();

  it('stores the hash of the secret and the secret nowhere', async () => {
    const account = newId('acc');
    const { id, key } = await createKey(store.db, systemClock, { account, name: 'shop', scopes: ['send', 'read'] });
    const secret = parseKey(key)?.secret ?? '';

    const raw = await store.db.collection<{ _id: string }>('keys').findOne({ _id: id });
    const stored = await findKey(store.db, id);

    expect(JSON.stringify(raw)).not.to.include(secret);
    expect(secretMatches(secret, stored?.secretHash.buffer ?? new Uint8Array())).to.equal(true);
    expect(stored).to.include({ account, name: 'shop', status: 'active' });
    expect(stored?.scopes).to.deep.equal(['send', 'read']);
    expect(stored).not.to.have.property('expiresAt');
  });

  it('keeps the expiry', async () => {
    const expiresAt = new Date('2030-01-01T00:00:00Z');
    const { id } = await createKey(store.db, systemClock, { account: newId('acc'), name: 'x', scopes: [], expiresAt });

    expect((await findKey(store.db, id))?.expiresAt).to.deep.equal(expiresAt);
  });

  it('revokes a key, says whether there was one, and may be asked twice', async () => {
    const { id } = await createKey(store.db, systemClock, { account: newId('acc'), name: 'x', scopes: ['send'] });

    expect(await revokeKey(store.db, id)).to.include({ _id: id, status: 'revoked' });
    expect(await revokeKey(store.db, id)).to.include({ _id: id, status: 'revoked' });
    expect(await revokeKey(store.db, 'nothing')).to.equal(undefined);
    expect((await findKey(store.db, id))?.status).to.equal('revoked');
  });

  it('does not replace a key that was replaced or revoked since it was read', async () => {
    const account = newId('acc');
    const read = async () => {
      const { id } = await createKey(store.db, systemClock, { account, name: 'x', scopes: ['send'] });
      const key = await findKey(store.db, id);
      return key ?? expect.fail('the key was made');
    };
    const until = new Date(Date.now() + 60_000);
    const [replaced, revoked] = [await read(), await read()];
    const first = await rotateKey(store.db, systemClock, replaced, { until });
    await revokeKey(store.db, revoked._id);

    expect(await rotateKey(store.db, systemClock, replaced, { until })).to.equal(undefined);
    expect(await rotateKey(store.db, systemClock, revoked, { until })).to.equal(undefined);

    const all = await listKeyPage(store.db, account, { now: new Date() }, 10);
    expect(all.map(({ _id }) => _id)).to.have.members([replaced._id, revoked._id, first?._id]);
  });

  it('gives caps to a key whose rotation began before they were set, or the rotation fails', async () => {
    const account = newId('acc');
    const { id } = await createKey(store.db, systemClock, { account, name: 'x', scopes: ['send'] });
    const read = (await findKey(store.db, id)) ?? expect.fail('the key was made');
    const until = new Date(Date.now() + 60_000);
    await setKeyCaps(store.db, read, { day: 5 });

    expect(await rotateKey(store.db, systemClock, read, { until })).to.equal(undefined);

    const capped = (await findKey(store.db, id)) ?? expect.fail('it is still there');
    expect(await rotateKey(store.db, systemClock, capped, { until })).to.deep.include({ caps: { day: 5 } });
    const all = await listKeyPage(store.db, account, { now: new Date() }, 10);
    expect(all.map(({ caps }) => caps)).to.deep.equal([{ day: 5 }, { day: 5 }]);
  });

  it('does not replace a key that may do less than when it was read', async () => {
    const { id } = await createKey(store.db, systemClock, {
      account: newId('acc'),
      name: 'x',
      scopes: ['send', 'read'],
    });
    const read = (await findKey(store.db, id)) ?? expect.fail('the key was made');
    await updateKey(store.db, read, { scopes: ['read'] });

    const made = await rotateKey(store.db, systemClock, read, { until: new Date(Date.now() + 60_000) });

    expect(made).to.equal(undefined);
  });

  it('lists the keys of one account, newest first, in pages', async () => {
    const account = newId('acc');
    const first = await createKey(store.db, systemClock, { account, name: 'first', scopes: ['send'] });
    const second = await createKey(store.db, systemClock, { account, name: 'second', scopes: ['read'] });
    await createKey(store.db, systemClock, { account: newId('acc'), name: 'other', scopes: ['read'] });

    const [newest] = await listKeyPage(store.db, account, { now: new Date() }, 1);
    const older = await listKeyPage(store.db, account, { now: new Date(), after: newest?._id }, 10);

    expect(newest?._id).to.equal(second.id);
    expect(older.map(({ _id }) => _id)).to.deep.equal([first.id]);
  });

  it('of 90 keys at once no more are made than an account may have; one that is revoked or expires makes room', async () => {
    const account = newId('acc');
    const clock = new ManualClock();
    const make = (more: { readonly expiresAt?: Date } = {}) =>
      createKey(store.db, clock, { account, name: 'x', scopes: ['send'], ...more });
    const soon = new Date(clock.now().getTime() + 60_000);
    const [revoked] = await Promise.all([make(), make({ expiresAt: soon })]);

    const made = await Promise.allSettled(Array.from({ length: 90 }, () => make()));
    await revokeKey(store.db, revoked.id);
    await make();
    clock.turn(60_000);
    await make();

    expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(LIVE_KEYS_MAX - 2);
    expect(await make().catch((error: unknown) => error)).to.be.instanceOf(AllPlacesTaken);
    expect(await listLiveKeys(store.db, account, clock.now())).to.have.length(LIVE_KEYS_MAX);
  });
});
