import { expect } from 'chai';
import { alphabetOf, decodeText, encodeGsm7, encodeUcs2, fitsGsm7 } from '../../../../scripts/simulator/smpp/text.ts';
import { octets } from '../hand-client.ts';

const ALL_GSM =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

describe('text of a segment', () => {
  it('has the whole default alphabet in its order, the escape left out', () => {
    const all = Buffer.from(Array.from({ length: 128 }, (_, septet) => septet).filter((septet) => septet !== 0x1b));

    expect(decodeText(all, 0)).equal(ALL_GSM);
    expect(encodeGsm7(ALL_GSM)).deep.equal(all);
  });

  it('has the extension table', () => {
    const wire = octets('1b65 1b3c 1b3e 1b28 1b29 1b14 1b3d 1b40 1b2f 1b0a');

    expect(decodeText(wire, 0)).equal('€[]{}^~|\\\f');
    expect(encodeGsm7('€[]{}^~|\\\f')).deep.equal(wire);
  });

  for (const [what, dataCoding, hex, shown] of [
    ['an escape at the end', 0x00, '61 1b', 'a\ufffd'],
    ['an unknown extension, shown as its basic character', 0x00, '1b61', 'a'],
    ['an octet above 127 in GSM', 0x00, '61 80', 'a\ufffd'],
    ['IA5', 0x01, '405b7e', '@[~'],
    ['Latin-1', 0x03, 'e7e9', 'çé'],
    ['UCS-2 beyond the first plane', 0x08, 'd83dde00', '😀'],
    ['half a surrogate pair', 0x08, '0061d83d', 'a\ufffd'],
    ['an odd octet of UCS-2', 0x08, '006100', 'a\ufffd'],
    ['class 0 UCS-2', 0x18, '0928', 'न'],
    ['class 0 GSM', 0xf0, '00', '@'],
    ['binary, as hex', 0x04, '00ff', '00ff'],
  ] as const) {
    it(`is right for ${what}`, () => {
      expect(decodeText(octets(hex), dataCoding)).equal(shown);
    });
  }

  it('knows which alphabet a data_coding names', () => {
    expect([0x00, 0x01, 0x03, 0x08, 0x02, 0x04, 0x10, 0x14, 0x18, 0xf1, 0xf5].map(alphabetOf)).deep.equal([
      'gsm7',
      'ascii',
      'latin1',
      'ucs2',
      'binary',
      'binary',
      'gsm7',
      'binary',
      'ucs2',
      'gsm7',
      'binary',
    ]);
  });

  it('is written as GSM only if every character fits, and replaced by ? where someone insists', () => {
    expect(fitsGsm7('a€[')).equal(true);
    expect(fitsGsm7('a`')).equal(false);
    expect(encodeGsm7('a`b').toString()).equal('a?b');
    expect(encodeUcs2('न😀').toString('hex')).equal('0928d83dde00');
  });
});
