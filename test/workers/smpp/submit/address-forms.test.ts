import { ADDRESSES, type AddressForm, type AddressSettings } from '../../../../shared/carriers/settings/addresses.ts';
import { withDefaults } from '../../../../shared/carriers/settings/setting.ts';
import { destinationAddress, sourceAddress } from '../../../../workers/smpp/submit/address-forms.ts';
import { packSeptets } from '../../../../workers/smpp/submit/split.ts';

const form = (ton: number, npi: number, digits: AddressForm['digits'] = 'plain'): AddressForm => ({ ton, npi, digits });
const settings = (changes: Partial<AddressSettings> = {}): AddressSettings => withDefaults(ADDRESSES, changes);
const told = (address: { ton: number; npi: number; digits: string } | undefined): string =>
  address === undefined ? 'none' : `${address.ton}/${address.npi} ${address.digits}`;

/** Settings (docs/carriers.md) that give each kind of address its own form. */
const EACH = settings({
  sourceName: form(5, 1),
  sourceShort: form(0, 1),
  sourceNational: form(2, 1, 'national'),
  sourceInternational: form(1, 1, 'plus'),
  destinationNational: form(2, 8, 'national'),
  destination: form(1, 1, 'plus'),
  country: '91',
});

describe('sourceAddress', () => {
  for (const [sender, expected] of [
    ['HARKRA', '5/1 HARKRA'],
    ['56161', '0/1 56161'],
    ['919876543210', '2/1 9876543210'],
    ['09876543210', '2/1 09876543210'],
    ['00447911123456', '1/1 +447911123456'],
    ['447911123456', '1/1 +447911123456'],
    ['TWELVELETTRS', 'none'],
    ['', 'none'],
  ] as const) {
    it(`${JSON.stringify(sender)} is ${expected}`, () => {
      expect(told(sourceAddress(sender, EACH))).to.equal(expected);
    });
  }

  it('is as before without settings', () => {
    expect(told(sourceAddress('919876543210', settings()))).to.equal('1/1 919876543210');
    expect(told(sourceAddress('56161', settings()))).to.equal('3/0 56161');
  });

  it('is no short code from nine digits on', () => {
    expect(told(sourceAddress('12345678', settings()))).to.equal('3/0 12345678');
    expect(told(sourceAddress('123456789', settings()))).to.equal('1/1 123456789');
  });

  it('is rewritten before its kind is looked at', () => {
    const rewriteSender = [{ prefix: 'HARKRA', replacement: '56161' }];

    expect(told(sourceAddress('HARKRA', settings({ rewriteSender })))).to.equal('3/0 56161');
  });
});

describe('destinationAddress', () => {
  for (const [to, expected] of [
    ['919876543210', '2/8 9876543210'],
    ['447911123456', '1/1 +447911123456'],
    ['+447911123456', 'none'],
    ['91', 'none'],
    ['12345678901234567890', 'none'],
  ] as const) {
    it(`${to} is ${expected}`, () => {
      expect(told(destinationAddress(to, EACH))).to.equal(expected);
    });
  }
});

describe('rewriting', () => {
  const rules = [
    { prefix: '91', replacement: '0091' },
    { prefix: '910', replacement: '91' },
    { prefix: '44', replacement: '' },
  ];

  for (const [number, expected] of [
    ['919876543210', '00919876543210'],
    ['9109876543210', '919876543210'],
    ['447911123456', '7911123456'],
    ['33612345678', '33612345678'],
  ] as const) {
    it(`the longest prefix counts, once: ${number} becomes ${expected}`, () => {
      expect(destinationAddress(number, settings({ rewriteRecipient: rules }))?.digits).to.equal(expected);
    });
  }

  it('a recipient that becomes 00… is an international number, not one with a trunk prefix', () => {
    const abroad = { ...EACH, destination: form(0, 1), rewriteRecipient: [{ prefix: '44', replacement: '0044' }] };

    expect(told(destinationAddress('447911123456', abroad))).to.equal('0/1 00447911123456');
  });
});

const septets = (text: string): Buffer => Buffer.from(text, 'ascii');

describe('packSeptets', () => {
  // 3GPP TS 23.038 §6.1.2.1: the usual printed examples for "hello" and "hellohello".
  for (const [text, hex] of [
    ['hello', 'e8329bfd06'],
    ['hellohello', 'e8329bfd4697d9ec37'],
    ['', ''],
    ['aaaaaaaa', 'e170381c0e87c3'],
  ] as const) {
    it(`packs "${text}" as ${hex}`, () => {
      expect(packSeptets(septets(text), 0).toString('hex')).to.equal(hex);
    });
  }

  it('fills seven bits that are left over with a carriage return, so that no @ is read there', () => {
    expect(packSeptets(septets('1234567'), 0).toString('hex')).to.equal('31d98c56b3dd1a');
  });

  it('doubles a carriage return that ends with the last octet, so that it is not taken for filling', () => {
    expect(packSeptets(septets('aaaaaaa\r'), 0)).to.have.length(8);
  });

  for (const [characters, headerOctets] of [
    [160, 0],
    [153, 6],
    [152, 7],
  ] as const) {
    it(`${characters} characters that end with a carriage return fill 140 octets, with ${headerOctets} of header`, () => {
      const full = septets('\r'.padStart(characters, 'a'));

      expect(headerOctets + packSeptets(full, headerOctets).length).to.equal(140);
    });
  }

  it('begins behind fill bits when a header ends within a septet', () => {
    // 6 octets of header are 48 bits; one fill bit makes 49, which are seven septets.
    expect(packSeptets(septets('a'), 6).toString('hex')).to.equal('c2');
    expect(packSeptets(Buffer.alloc(153, 0x61), 6)).to.have.length(134);
  });
});
