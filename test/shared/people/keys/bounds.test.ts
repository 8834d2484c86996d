import { expect } from 'chai';
import fc from 'fast-check';
import { subnetIntersection } from '../../../../shared/people/keys/allowed-addresses.ts';
import { type Bounds, excess, inside } from '../../../../shared/people/keys/bounds.ts';
import { ACCOUNT_KEY_SCOPES } from '../../../../shared/people/keys/key.ts';

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
