import { expect } from 'chai';
import { canonicalSubnet } from '../../../../shared/people/keys/allowed-addresses.ts';

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
