import { FrameReader } from '../../../scripts/simulator/smpp/pdu.ts';
import { concatenationOf, headerOf } from '../../../scripts/simulator/smpp/submit.ts';
import { alphabetOf, decodeText, encodeGsm7, encodeUcs2, fitsGsm7 } from '../../../scripts/simulator/smpp/text.ts';
import { octets } from './hand-client.ts';

const ENQUIRE = octets('00000010 00000015 00000000 00000001');
const LONGER = octets('00000014 00000004 00000000 00000002 01020304');

function readAll(pieces: Buffer[], maxOctets = 1_000): { frames: string[]; broken: number | undefined } {
  const reader = new FrameReader(maxOctets);
  const frames: string[] = [];
  let broken: number | undefined;
  for (const piece of pieces) broken = reader.read(piece, (frame) => frames.push(frame.toString('hex')));
  return { frames, broken };
}

describe('frames of a stream', () => {
  const stream = Buffer.concat([ENQUIRE, LONGER, ENQUIRE]);
  const expected = [ENQUIRE, LONGER, ENQUIRE].map((frame) => frame.toString('hex'));

  it('come out whole wherever the stream is cut in two', () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(readAll([stream.subarray(0, cut), stream.subarray(cut)])).deep.equal({
        frames: expected,
        broken: undefined,
      });
    }
  });

  it('come out whole one octet at a time', () => {
    expect(readAll([...stream].map((octet) => Buffer.of(octet))).frames).deep.equal(expected);
  });

  it('may be exactly 16 octets and exactly as long as the limit, no more and no less', () => {
    expect(readAll([ENQUIRE, LONGER], 20)).deep.equal({ frames: expected.slice(0, 2), broken: undefined });
    expect(readAll([ENQUIRE, LONGER], 19)).deep.equal({ frames: expected.slice(0, 1), broken: 20 });
  });

  for (const length of [0, 1, 4, 8, 15, 1_001, 0x7fffffff, 0xffffffff]) {
    it(`end at a command_length of ${length}, after the good ones before it, for good`, () => {
      const hostile = Buffer.alloc(16);
      hostile.writeUInt32BE(length);

      expect(readAll([Buffer.concat([ENQUIRE, hostile]), ENQUIRE])).deep.equal({
        frames: [expected[0]],
        broken: length,
      });
      expect(readAll([ENQUIRE, hostile.subarray(0, 3), hostile.subarray(3, 4), ENQUIRE])).deep.equal({
        frames: [expected[0]],
        broken: length,
      });
    });
  }
});

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
