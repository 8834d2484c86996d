import { expect } from 'chai';
import { packSeptets } from '../../../../workers/smpp/submit/split.ts';

const septets = (text: string): Buffer => Buffer.from(text, 'ascii');

describe('packSeptets', () => {
  // 3GPP TS 23.038 §6.1.2.1: the examples that the literature prints for "hello" and "hellohello".
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
