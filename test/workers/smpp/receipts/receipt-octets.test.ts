import fc from 'fast-check';
import { parseReceipt } from '../../../../workers/smpp/receipts/receipt.ts';
import { dialect } from '../../../support/dialect.ts';
import { receiptDeliver } from '../../../support/receipt-deliver.ts';

const AT = new Date('2026-11-21T10:06:00Z');
const TEXT = 'id:Ab_1-cd sub:001 dlvrd:000 submit date:2611211004 done date:2611211005 stat:UNDELIV err:004 text:';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const little = (text: string): Buffer => Buffer.from(text, 'utf16le');
const big = (text: string): Buffer => little(text).swap16();
const octets = (...parts: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));

const READINGS: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['ASCII', latin1],
  ['the GSM alphabet', (text) => latin1(text.replaceAll('_', '\x11'))],
  ['UTF-16, big-endian', big],
  ['UTF-16, little-endian', little],
];
const AROUND: readonly (readonly [string, (text: Buffer) => Buffer])[] = [
  ['nothing around it', (text) => text],
  ['a NUL before it', (text) => octets('00', text)],
  ['two NULs before it', (text) => octets('0000', text)],
  ['three NULs before it', (text) => octets('000000', text)],
  ['other control octets before it', (text) => octets('0102', text)],
  ['a byte order mark FE FF', (text) => octets('feff', text)],
  ['a byte order mark FF FE', (text) => octets('fffe', text)],
  ['a NUL and a byte order mark', (text) => octets('00feff', text)],
  ['the byte order mark of UTF-8', (text) => octets('efbbbf', text)],
  ['a header with a reference', (text) => octets('050003a70201', text)],
  ['a header of seven octets', (text) => octets('0608040001 0201'.replace(' ', ''), text)],
  ['a header and a byte order mark', (text) => octets('050003a70201feff', text)],
  ['NULs behind it', (text) => octets(text, '000000')],
  ['many NULs behind it', (text) => octets(text, Buffer.alloc(300))],
  ['its last octet cut', (text) => text.subarray(0, -1)],
  ['a customer’s words in UCS-2 behind it', (text) => octets(text, big('नमस्ते'))],
];

describe('parseReceipt: octets around and within the text', () => {
  for (const [reading, write] of READINGS) {
    for (const [what, surround] of AROUND) {
      it(`${reading}, ${what}`, () => {
        for (const dataCoding of [0, 1, 3, 8, 4, 0xf0]) {
          const deliver = receiptDeliver('', { body: surround(write(TEXT)), dataCoding, esmClass: 0x44 });

          const receipt = parseReceipt(deliver, { receiptOffsetMinutes: 0 }, dialect(), AT);

          expect(receipt).to.deep.include({ ids: ['Ab_1-cd'], meaning: 'failed', word: 'UNDELIV', error: '004' });
          expect(receipt?.doneAt?.toISOString()).to.equal('2026-11-21T10:05:00.000Z');
        }
      });
    }
  }

  const WORDS = [
    ...(['DELIVRD', 'UNDELIV', 'DELETED', 'EXPIRED', 'REJECTD', 'UNKNOWN', 'ACCEPTD', 'ENROUTE'] as const),
    ...(['FAILED', 'SKIPPED', 'SCHEDULED', 'BUFFRED'] as const),
  ];
  for (const word of WORDS) {
    it(`stat:${word} means the same without its last letter`, () => {
      expect(dialect().read(word.slice(0, -1), undefined)).to.deep.equal(dialect().read(word, undefined));
    });
  }

  it('a NUL between fields parts them, in every reading', () => {
    for (const [, write] of READINGS) {
      const body = write('id:7\0stat:DELIVRD\0err:000\0');
      const receipt = parseReceipt(receiptDeliver('', { body }), { receiptOffsetMinutes: 0 }, dialect(), AT);

      expect(receipt).to.deep.include({ ids: ['7'], meaning: 'delivered' });
    }
  });

  it('whatever control octets are before it', () => {
    const control = fc.integer({ min: 0, max: 31 }).filter((octet) => octet !== 0x11);
    fc.assert(
      fc.property(fc.array(control, { maxLength: 8 }), fc.constantFrom(...READINGS), (before, [, write]) => {
        const body = Buffer.concat([Buffer.from(before), write(TEXT)]);
        const receipt = parseReceipt(receiptDeliver('', { body }), { receiptOffsetMinutes: 0 }, dialect(), AT);

        expect(receipt).to.deep.include({ ids: ['Ab_1-cd'], meaning: 'failed' });
      }),
    );
  });
});
