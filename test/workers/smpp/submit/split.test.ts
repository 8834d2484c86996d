import { withDefaults } from '../../../../shared/carriers/settings/setting.ts';
import { TEXTS, type TextSettings } from '../../../../shared/carriers/settings/texts.ts';
import { validityPeriod } from '../../../../workers/smpp/submit/encode.ts';
import { splitText, substituted } from '../../../../workers/smpp/submit/split.ts';

const split = (text: string, changes: Partial<TextSettings> = {}) =>
  splitText(text, withDefaults(TEXTS, changes), () => 0x1234);
const octets = (text: string, changes: Partial<TextSettings>): string[] =>
  split(text, changes).segments.map((one) => `${one.data_coding}:${one.short_message.toString('hex')}`);

describe('splitText', () => {
  describe('alphabet', () => {
    it('Latin-1: one octet for each character that GSM and Latin-1 have', () => {
      expect(octets('é £ @ [', { alphabet: 'latin1' })).to.deep.equal(['0:e920a32040205b']);
    });

    for (const [alphabet, text] of [
      ['latin1', 'é £ @ €'],
      ['latin1', 'Δ'],
      ['latin1', 'ç'],
      ['ascii', 'é'],
      ['gsm', 'ç'],
      ['gsm-packed', 'ç'],
    ] as const) {
      it(`${alphabet}: "${text}" does not fit and goes as UCS-2`, () => {
        const hex = Buffer.from(text, 'utf16le').swap16().toString('hex');

        expect(octets(text, { alphabet })).to.deep.equal([`8:${hex}`]);
      });
    }

    it('Latin-1 fills segments by septets, because the carrier makes septets of it', () => {
      const counts = (text: string): number[] =>
        split(text, { alphabet: 'latin1' }).segments.map(({ short_message }) => short_message.length);

      expect(counts('é'.repeat(160))).to.deep.equal([160]);
      expect(counts('é'.repeat(161))).to.deep.equal([6 + 153, 6 + 8]);
      expect(counts('['.repeat(81))).to.deep.equal([6 + 76, 6 + 5]);
    });

    it('a text that grows to UCS-2 has more segments than were counted', () => {
      const { encoding, segments } = split(`${'a'.repeat(159)}Δ`, { alphabet: 'latin1' });

      expect({ encoding, segments: segments.length }).to.deep.equal({ encoding: 'UCS2', segments: 3 });
    });

    it('data_coding is the carrier’s', () => {
      expect(octets('a', { textCoding: 0xf0 })).to.deep.equal(['240:61']);
      expect(octets('अ', { unicodeCoding: 0x18 })).to.deep.equal(['24:0905']);
    });

    it('packed: eight characters in seven octets, also behind a header', () => {
      expect(octets('hello', { alphabet: 'gsm-packed' })).to.deep.equal(['0:e8329bfd06']);
      const lengths = split('a'.repeat(161), { alphabet: 'gsm-packed' }).segments.map(
        (one) => one.short_message.length,
      );
      expect(lengths).to.deep.equal([140, 6 + 8]);
    });

    it('a leading byte order mark is not sent, and is no reason for UCS-2', () => {
      expect(octets('\ufeffhello', {})).to.deep.equal(['0:68656c6c6f']);
      expect(octets('hel\ufefflo', {})[0]).to.match(/^8:/);
    });
  });

  describe('long texts', () => {
    const long = 'a'.repeat(161);

    it('UDH with a reference of 16 bit: 152 septets a segment', () => {
      const { segments } = split(long, { longText: 'udh16' });

      expect(segments.map(({ esm_class }) => esm_class)).to.deep.equal([0x40, 0x40]);
      expect(segments.map(({ short_message }) => short_message.subarray(0, 7).toString('hex'))).to.deep.equal([
        '06080412340201',
        '06080412340202',
      ]);
      expect(segments.map(({ short_message }) => short_message.length)).to.deep.equal([159, 16]);
    });

    it('SAR: no header, three TLVs', () => {
      const { segments } = split(long, { longText: 'sar' });

      expect(segments.map(({ esm_class, short_message }) => [esm_class, short_message.length])).to.deep.equal([
        [0, 153],
        [0, 8],
      ]);
      expect(segments[1]?.tlvs?.map(({ tag, value }) => [tag, value.toString('hex')])).to.deep.equal([
        [0x020c, '1234'],
        [0x020e, '02'],
        [0x020f, '02'],
      ]);
    });

    it('message_payload: one submit_sm, short_message empty', () => {
      for (const [text, length] of [
        [long, 161],
        ['अ'.repeat(71), 142],
      ] as const) {
        const [only, ...others] = split(text, { longText: 'payload' }).segments;

        expect(others).to.deep.equal([]);
        expect(only?.short_message).to.have.length(0);
        expect(only?.tlvs?.map(({ tag, value }) => [tag, value.length])).to.deep.equal([[0x0424, length]]);
      }
    });

    it('a text of one radio message needs none of them', () => {
      for (const longText of ['udh16', 'sar', 'payload'] as const) {
        for (const text of ['a'.repeat(160), 'अ'.repeat(70)]) {
          const [only, ...others] = split(text, { longText }).segments;

          expect([others.length, only?.esm_class, only?.tlvs]).to.deep.equal([0, 0, undefined]);
        }
      }
    });
  });
});

describe('substituted', () => {
  for (const [text, expected] of [
    ['It’s “done” – ok…', 'It\'s "done" - ok...'],
    ['₹500 for you', 'Rs500 for you'],
    ['ça va', 'ca va'],
    ['café is GSM already', 'café is GSM already'],
    ['It’s नमस्ते', 'It’s नमस्ते'],
    ['क्\u200dष', 'क्\u200dष'],
    ['a\u200bb', 'ab'],
    ['\u200b', '\u200b'],
  ] as const) {
    it(`"${text}" becomes "${expected}"`, () => {
      expect(substituted(text, { header: 6, alphabet: 'gsm' })).to.equal(expected);
    });
  }

  it('a text that stays UCS-2 at a carrier of Latin-1 or ASCII is not changed', () => {
    expect(substituted('5 € – now', { header: 6, alphabet: 'latin1' })).to.equal('5 € – now');
    expect(substituted('café – now', { header: 6, alphabet: 'ascii' })).to.equal('café – now');
    expect(substituted('café – now', { header: 6, alphabet: 'latin1' })).to.equal('café - now');
  });
});

describe('validityPeriod', () => {
  const now = new Date('2026-11-21T23:30:00Z');
  const end = new Date('2026-11-22T01:45:10Z');

  it('relative, absolute in UTC, or none', () => {
    expect(validityPeriod('relative', end, now)).to.equal('000000021500000R');
    expect(validityPeriod('absolute', end, now)).to.equal('261122014510000+');
    expect(validityPeriod('none', end, now)).to.equal('');
  });

  it('is never in the past', () => {
    expect(validityPeriod('absolute', now, end)).to.equal('261122014610000+');
  });
});
