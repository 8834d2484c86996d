import { tablesOf } from '../../../../workers/smpp/inbound/national-tables.ts';
import { readSeptets } from '../../../../workers/smpp/inbound/whole-text.ts';

const LANGUAGES = Array.from({ length: 14 }, (_, language) => language);

describe('national language tables', () => {
  it('every language has an alphabet and an extension, and no septet above 127', () => {
    for (const language of LANGUAGES) {
      const tables = tablesOf({ locking: language, single: language });
      const codes = [...(tables?.alphabet.keys() ?? []), ...(tables?.extension?.keys() ?? [])];

      expect(codes.every((code) => Number.isInteger(code) && code >= 0 && code < 128)).to.equal(true);
      expect(tables?.alphabet.size, `${language}`).to.be.above(100);
      expect([...(tables?.alphabet.values() ?? [])].every((character) => character.length === 1)).to.equal(true);
    }
  });

  it('an alphabet has each character once', () => {
    for (const locking of LANGUAGES) {
      const characters = [...(tablesOf({ locking })?.alphabet ?? [])].filter(([code]) => code !== 0x1b);
      expect(new Set(characters.map(([, character]) => character)).size).to.equal(characters.length);
    }
  });

  it('an extension has nothing that its alphabet has, for the scripts of India', () => {
    for (const language of LANGUAGES.slice(4)) {
      const { alphabet, extension } = tablesOf({ locking: language, single: language }) ?? {};
      const both = [...(extension?.values() ?? [])].filter((one) => [...(alphabet?.values() ?? [])].includes(one));
      expect(both).to.deep.equal([]);
    }
  });

  it('each part has its own tables, and an escape reaches into the next part', () => {
    const octets = (hex: string): Buffer => Buffer.from(hex, 'hex');

    expect(
      readSeptets([
        { octets: octets('2f424c1b'), shift: { locking: 6, single: 6 } },
        { octets: octets('41'), shift: { single: 6 } },
        { octets: octets('1b65'), shift: undefined },
      ]),
    ).to.equal('नमसA€');
  });

  it('an unknown alphabet cannot be read, an unknown extension only where it is used', () => {
    const hi = Buffer.from('hi');

    expect(readSeptets([{ octets: hi, shift: { locking: 14 } }])).to.equal(undefined);
    expect(readSeptets([{ octets: hi, shift: { single: 14 } }])).to.equal('hi');
    expect(readSeptets([{ octets: Buffer.from([0x68, 0x1b, 0x65]), shift: { single: 14 } }])).to.equal(undefined);
    expect(readSeptets([{ octets: hi, shift: { locking: 2, single: 0 } }])).to.equal('hi');
  });

  it('an octet above 127 is no septet, so nothing of the text can be trusted', () => {
    expect(readSeptets([{ octets: Buffer.from('caf\xe9', 'latin1') }])).to.equal(undefined);
  });

  it('a septet that the extension lacks is that of the alphabet; one that the alphabet lacks is shown as unreadable', () => {
    expect(readSeptets([{ octets: Buffer.from([0x1b, 0x61, 0x0c]), shift: { locking: 4, single: 4 } }])).to.equal(
      'a\ufffd',
    );
  });
});
