import { expect } from 'chai';
import { concatenationOf, headerOf } from '../../../../scripts/simulator/smpp/user-data.ts';
import { octets } from '../hand-client.ts';

const NO_TLVS = new Map<number, Buffer>();

describe('the user data header', () => {
  it('is what its length octet says, nothing without the indicator, unreadable when it is too long', () => {
    const data = octets('050003010201 6162');

    expect(headerOf(0x40, data)).deep.equal(octets('050003010201'));
    expect(headerOf(0x00, data)).length(0);
    expect(headerOf(0x40, octets('0700'))).equal(undefined);
    expect(headerOf(0x40, octets(''))).equal(undefined);
  });

  for (const [what, header, expected] of [
    ['an 8-bit reference', '05 0003 2a0302', { kind: 'udh8', reference: 0x2a, total: 3, part: 2 }],
    ['a 16-bit reference', '06 0804 01020302', { kind: 'udh16', reference: 0x0102, total: 3, part: 2 }],
    [
      'a reference after another element',
      '0a 2402 0506 0804 01020302',
      { kind: 'udh16', reference: 0x0102, total: 3, part: 2 },
    ],
    ['no part 0', '05 0003 2a0300', undefined],
    ['no part beyond the total', '05 0003 2a0304', undefined],
    ['no element cut short', '04 0003 2a03', undefined],
    ['nothing in ports alone', '06 0504 0b840b84', undefined],
  ] as const) {
    it(`tells ${what}`, () => {
      expect(concatenationOf(octets(header), NO_TLVS)).deep.equal(expected);
    });
  }

  it('is not needed where the three sar_ parameters are there, and all of them', () => {
    const tlvs = new Map([
      [0x020c, octets('0102')],
      [0x020e, octets('03')],
      [0x020f, octets('02')],
    ]);

    expect(concatenationOf(octets(''), tlvs)).deep.equal({ kind: 'sar', reference: 0x0102, total: 3, part: 2 });
    tlvs.delete(0x020e);
    expect(concatenationOf(octets(''), tlvs)).equal(undefined);
  });
});
