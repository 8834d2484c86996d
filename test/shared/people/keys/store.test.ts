import fc from 'fast-check';
import { canonicalSubnet, subnetIntersection } from '../../../../shared/people/keys/allowed-addresses.ts';
import {
  ACCOUNT_KEY_SCOPES,
  type Bounds,
  excess,
  formatKey,
  hashSecret,
  inside,
  LIVE_KEYS_MAX,
  newKeyText,
  parseKey,
  secretMatches,
} from '../../../../shared/people/keys/key.ts';
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

describe('an address that a key is limited to', () => {
  const rows: readonly [given: string, stored: string | undefined][] = [
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::0001', '2001:db8::1'],
    ['2001:db8:1:2:3::/64', '2001:db8:1:2::/64'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::ffff:203.0.113.7/64', undefined],
    ['203.0.113.7/33', undefined],
    ['2001:db8::/129', undefined],
    ['203.0.113.7/', undefined],
    ['203.0.113.7/24/8', undefined],
    ['203.0.113', undefined],
    ['0x7f.1', undefined],
    ['010.0.0.1', undefined],
    ['1', undefined],
    ['example.com', undefined],
    ['', undefined],
  ];
  for (const [given, stored] of rows) {
    it(`${JSON.stringify(given)} is ${stored ?? 'none'}`, () => {
      expect(canonicalSubnet(given)).to.equal(stored);
    });
  }
});

const bounds: fc.Arbitrary<Bounds> = fc.record({
  scopes: fc.uniqueArray(fc.constantFrom(...ACCOUNT_KEY_SCOPES), { minLength: 1 }),
  expiresAt: fc.option(fc.constantFrom(new Date(1), new Date(2), new Date(3)), { nil: undefined }),
  perMinute: fc.option(fc.constantFrom(1, 999, 1_000, 5_000), { nil: undefined }),
  allowedIps: fc.option(
    fc.uniqueArray(fc.constantFrom('10.0.0.1', '10.0.0.0/8', '10.1.0.0/16', '0.0.0.0/0', '2001:db8::/48', '::/0'), {
      minLength: 1,
    }),
    { nil: undefined },
  ),
});

describe('the bounds of a key', () => {
  it('what is inside another exceeds it nowhere, and neither does it exceed itself', () => {
    fc.assert(
      fc.property(bounds, bounds, (key, bound) => {
        const left = inside(key, bound);
        expect(excess(bound, bound)).to.deep.equal([]);
        if (left === undefined) return;
        expect(excess(left, bound)).to.deep.equal([]);
        expect(excess(left, key)).to.deep.equal([]);
        if (excess(key, bound).length === 0) expect(excess(key, left)).to.deep.equal([]);
      }),
      { numRuns: 1_000 },
    );
  });

  for (const [a, b, common] of [
    ['10.0.0.0/8', '10.1.0.0/16', '10.1.0.0/16'],
    ['10.0.0.1', '10.0.0.0/8', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.2', undefined],
    ['10.0.0.0/8', '11.0.0.0/8', undefined],
    ['0.0.0.0/0', '::/0', undefined],
    ['2001:db8::/48', '2001:db8::1', '2001:db8::1'],
  ] as const) {
    it(`${a} and ${b} have ${common ?? 'nothing'} in common`, () => {
      expect(subnetIntersection(a, b)).to.equal(common);
      expect(subnetIntersection(b, a)).to.equal(common);
    });
  }
});

describe('key text', () => {
  it('is hk_live_<id>_<secret> and reads back', () => {
    const text = newKeyText(Date.UTC(2026, 10, 21));

    const key = formatKey(text);

    expect(key).to.match(/^hk_live_[0-9a-z]{26}_[0-9a-f]{64}$/);
    expect(parseKey(key)).to.deep.equal({ ...text, test: false });
    expect(parseKey(formatKey(text, true))).to.deep.equal({ ...text, test: true });
  });

  it('never makes the same secret twice', () => {
    const secrets = new Set(Array.from({ length: 1_000 }, () => newKeyText(0).secret));

    expect(secrets.size).to.equal(1_000);
  });

  const good = formatKey(newKeyText(0));
  for (const bad of [
    '',
    'hk_live_',
    good.slice(1),
    `${good}0`,
    `${good}\n`,
    ` ${good}`,
    good.toUpperCase(),
    'x'.repeat(99),
  ]) {
    it(`does not read ${JSON.stringify(bad.slice(0, 20))} (${bad.length} characters)`, () => {
      expect(parseKey(bad)).to.equal(undefined);
    });
  }

  it('matches only its own secret', () => {
    const { secret } = newKeyText(0);
    const last = secret.endsWith('0') ? '1' : '0';

    expect(secretMatches(secret, hashSecret(secret))).to.equal(true);
    expect(secretMatches(secret.slice(0, -1) + last, hashSecret(secret))).to.equal(false);
    expect(secretMatches(secret, new Uint8Array())).to.equal(false);
  });
});
