import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
import { planText } from '../../../../shared/messages/sms-plan.ts';
import { segmentText } from '../../../../workers/smpp/submit/split.ts';
import { splitSms } from '../../../support/split-sms.ts';

interface Vector {
  readonly text: string;
  readonly encoding: 'GSM7' | 'UCS2';
  readonly units: number;
  readonly segments: readonly number[];
  readonly octets: readonly string[] | null;
}

const vectors = JSON.parse(readFileSync(new URL('../../../fixtures/segments.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Vector[]; // described by the file's own "about"
};

const GSM_CHARACTERS = [...'@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ \n!"#¤%&\'()*+,-./09:;<=>?¡AZÄÖÑÜ§¿azäöñüà^{}\\[~]|€\f'];
const gsmText = fc.string({ unit: fc.constantFrom(...GSM_CHARACTERS), maxLength: 500 });
const letters = fc.string({ unit: fc.constantFrom(...'अबतकaz €₹’'), maxLength: 300 });
const indicAndEmoji = fc.string({
  unit: fc.constantFrom('न', 'म', 'स्', 'ति', 'क्षि', 'a', ' ', '😀', '👨‍👩‍👧‍👦', '🇮🇳', '€', '₹'),
  maxLength: 120,
});

describe('segmentText', () => {
  for (const [index, vector] of vectors.cases.entries()) {
    it(`encodes vector ${index} (${vector.encoding}, ${vector.units} units) in ${vector.segments.length}`, () => {
      const octetsPerUnit = vector.encoding === 'GSM7' ? 1 : 2;

      const { encoding, units, segments } = segmentText(vector.text);

      expect(encoding).to.equal(vector.encoding);
      expect(units).to.equal(vector.units);
      expect(segments.map((segment) => segment.length / octetsPerUnit)).to.deep.equal(vector.segments);
      if (vector.octets !== null) {
        expect(segments.map((segment) => segment.toString('hex'))).to.deep.equal(vector.octets);
      }
    });
  }

  it('covers all 46 vectors', () => {
    expect(vectors.cases).to.have.length(46);
  });

  it('makes one empty segment of an empty text', () => {
    const { encoding, units, segments } = segmentText('');

    expect({ encoding, units, octets: segments.map((segment) => segment.length) }).to.deep.equal({
      encoding: 'GSM7',
      units: 0,
      octets: [0],
    });
  });

  it('encodes the extension characters as ESC and one octet', () => {
    const { segments } = segmentText('€[]{}^~|\\\f');

    expect(segments[0]?.toString('hex')).to.equal('1b651b3c1b3e1b281b291b141b3d1b401b2f1b0a');
  });

  it('agrees with split-sms on sizes and cuts of any text', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, letters, indicAndEmoji), (text) => {
        fc.pre(text !== '');
        const ours = segmentText(text);
        const theirs = splitSms(text);

        expect(ours.encoding === 'GSM7').to.equal(theirs.characterSet === 'GSM');
        expect(ours.segments.map((segment) => segment.length)).to.deep.equal(theirs.parts.map((part) => part.bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees with sms-segments-calculator where every grapheme is one code unit or one GSM character', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, letters), (text) => {
        fc.pre(text !== '');
        expect(planText(text).segments).to.equal(new SegmentedMessage(text).segmentsCount);
      }),
      { numRuns: 300 },
    );
  });

  // Unlike carriers and handsets it keeps grapheme clusters whole, so it may need more segments but never fewer.
  it('never needs more segments than sms-segments-calculator', () => {
    fc.assert(
      fc.property(indicAndEmoji, (text) => {
        fc.pre(text !== '');
        expect(planText(text).segments).to.be.at.most(new SegmentedMessage(text).segmentsCount);
      }),
      { numRuns: 300 },
    );
  });

  it('loses nothing and cuts no surrogate pair: the segments of a UCS-2 text decode to it one by one', () => {
    fc.assert(
      fc.property(indicAndEmoji, (text) => {
        fc.pre(segmentText(text).encoding === 'UCS2');

        const decoded = segmentText(text).segments.map((segment) =>
          new TextDecoder('utf-16be', { fatal: true }).decode(segment),
        );

        expect(decoded.join('')).to.equal(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('planText', () => {
  it('counts what segmentText makes', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, letters, indicAndEmoji, fc.string({ unit: 'binary' })), (text) => {
        const made = segmentText(text);

        expect(planText(text)).to.deep.equal({
          encoding: made.encoding,
          units: made.units,
          segments: made.segments.length,
        });
      }),
      { numRuns: 1_000 },
    );
  });
});
