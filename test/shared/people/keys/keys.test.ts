import fc from 'fast-check';
import { canonicalSubnet, subnetIntersection } from '../../../../shared/people/keys/allowed-addresses.ts';
import { type Bounds, excess, inside } from '../../../../shared/people/keys/bounds.ts';
import { ACCOUNT_KEY_SCOPES } from '../../../../shared/people/keys/key.ts';
import {
  formatKey,
  hashSecret,
  newKeyText,
  parseKey,
  secretMatches,
} from '../../../../shared/people/keys/key-secret.ts';

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
