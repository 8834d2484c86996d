import { expect } from 'chai';
import { FrameReader } from '../../../../scripts/simulator/smpp/frames.ts';
import { octets } from '../hand-client.ts';

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
