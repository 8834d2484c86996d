import { readFileSync } from 'node:fs';
import type { MobileOriginated } from '../../../../scripts/simulator/smsc/mailboxes.ts';
import { readScopes, WHOLE_ACCOUNT } from '../../../../shared/carriers/opt-outs/store.ts';
import { foldText, setWordSettings } from '../../../../shared/carriers/opt-outs/words.ts';
import { decodeDeliver } from '../../../../shared/carriers/smpp/deliver-sm.ts';
import { bodies, type InboundWorld, inboundWorldPerTest, NUMBER, PHONE } from './world.ts';

interface Vector {
  readonly name: string;
  readonly deliver_sm: string;
  readonly 'expect body': string;
}

const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../fixtures/trials-3/03-mo-national-shift.json', import.meta.url), 'utf8'),
);

const UDH = 0x40;

/** Parts with headers. `elements`: information elements before the reference, in hexadecimal. */
function inParts(contents: readonly Buffer[], dataCoding: number, elements = '', pack = false): MobileOriginated[] {
  return contents.map((content, i) => {
    const own = Buffer.from([0, 3, 77, contents.length, i + 1]);
    const header = Buffer.concat([Buffer.from(elements, 'hex'), own]);
    const whole = Buffer.concat([Buffer.from([header.length]), header]);
    const userData = Buffer.concat([whole, pack ? packed(content, whole.length) : content]);
    return { from: PHONE, to: NUMBER, dataCoding, esmClass: UDH, userData };
  });
}

/** Packs septets, lowest bits first, after a header of that many octets. */
function packed(septets: Buffer, headerOctets: number): Buffer {
  const fill = (7 - ((headerOctets * 8) % 7)) % 7;
  const octets = Buffer.alloc(Math.ceil((fill + septets.length * 7) / 8));
  for (const [i, septet] of septets.entries()) {
    for (let bit = 0; bit < 7; bit++) {
      const at = fill + i * 7 + bit;
      if ((septet >> bit) & 1) octets[at >> 3] = (octets[at >> 3] ?? 0) | (1 << (at & 7));
    }
  }
  return octets;
}

const little = (text: string): Buffer => Buffer.from(text, 'utf16le');
const big = (text: string): Buffer => little(text).swap16();
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const marked = (text: string, order: 'le' | 'be'): Buffer =>
  order === 'le' ? Buffer.concat([hex('fffe'), little(text)]) : Buffer.concat([hex('feff'), big(text)]);

async function bodiesOf(here: InboundWorld, count: number): Promise<readonly string[]> {
  const received = await here.received(count);
  expect(received.map(({ inbound }) => inbound.type)).to.deep.equal(received.map(() => 'text'));
  return bodies(received).sort();
}

describe('smpp worker: texts of handsets in UTF-16 and in national alphabets', () => {
  const open = inboundWorldPerTest();

  it('every language of the vectors, in the octets that a carrier sent', async () => {
    const here = await open();

    for (const { deliver_sm } of VECTORS) {
      const { esmClass, dataCoding, body: userData } = decodeDeliver(hex(deliver_sm));
      here.smsc.sendMo({ from: PHONE, to: NUMBER, esmClass, dataCoding, userData });
    }

    expect(await bodiesOf(here, VECTORS.length)).to.deep.equal(VECTORS.map((one) => one['expect body']).sort());
  });

  for (const alphabet of ['gsm', 'gsm-packed'] as const) {
    it(`Hindi in parts, ${alphabet}, with an escape at the end of a part`, async () => {
      const here = await open({ carrier: { texts: { alphabet } } });
      const contents = [hex('2f424c5f27591b'), hex('1d202f424c')];

      for (const part of inParts(contents, 0, '240106250106', alphabet === 'gsm-packed')) here.smsc.sendMo(part);

      expect(await bodiesOf(here, 1)).to.deep.equal(['नमस्ते१ नमस']);
    });
  }

  it('Hindi in a data_coding that means ASCII or Latin-1, too', async () => {
    const here = await open();

    for (const dataCoding of [1, 3])
      here.smsc.sendMo({ from: PHONE, to: NUMBER, dataCoding, esmClass: UDH, userData: hex('032501062f424c5f27591d') });

    expect(await bodiesOf(here, 2)).to.deep.equal(['नमस्तेज', 'नमस्तेज']);
  });

  it('an unknown alphabet, broken UTF-16 and octets are told as binary, and stop nothing', async () => {
    const here = await open();
    const unreadable: readonly Partial<MobileOriginated>[] = [
      { dataCoding: 0, esmClass: UDH, userData: hex('0325010e6869') },
      { dataCoding: 8, userData: hex('d83d0041') },
      { dataCoding: 8, userData: hex('0041de00') },
      { dataCoding: 8, userData: hex('004100') },
      { dataCoding: 8, userData: hex('00410042fffe43004400') },
      { dataCoding: 8, userData: hex('fdd0ffff') },
      { dataCoding: 0, userData: hex('636166e9') },
      { dataCoding: 4, userData: hex('00ff10') },
      { dataCoding: 0xf5, userData: hex('534d') },
      { dataCoding: 9, userData: hex('fdfdfd') },
    ];

    for (const one of unreadable) here.smsc.sendMo({ from: PHONE, to: NUMBER, ...one });
    const received = await here.received(unreadable.length);

    const octets = unreadable.map(({ esmClass, userData = hex('') }) => userData.subarray(esmClass === UDH ? 4 : 0));
    expect(bodies(received).sort()).to.deep.equal(octets.map((one) => one.toString('base64')).sort());
    for (const { inbound } of received) expect(inbound.type).to.equal('binary');
    expect(received.map(({ inbound }) => inbound.more?.data_coding)).to.include.members([0, 8, 4, 0xf5, 9]);
  });

  it('an emoji that is cut at the end of a text does not take the text away', async () => {
    const here = await open();

    here.smsc.sendMo({ from: PHONE, to: NUMBER, dataCoding: 8, userData: Buffer.concat([big('Hi '), hex('d83d')]) });

    expect(await bodiesOf(here, 1)).to.deep.equal(['Hi \ufffd']);
  });

  it('UTF-16 with a mark of either kind, in every data_coding that means a text', async () => {
    const here = await open();
    const codings = [0x08, 0x18, 0x19, 0x1a, 0x1b, 0x48, 0x58, 0xe0, 0xe8, 0x00, 0x01, 0x03, 0xf0];
    const texts: string[] = [];

    for (const dataCoding of codings) {
      for (const order of ['le', 'be'] as const) {
        const text = `${dataCoding} ${order} नमस्ते 👍`;
        texts.push(text);
        here.smsc.sendMo({ from: PHONE, to: NUMBER, dataCoding, userData: marked(text, order) });
      }
    }

    expect(await bodiesOf(here, texts.length)).to.deep.equal(texts.sort());
  });

  for (const order of ['le', 'be'] as const) {
    it(`UTF-16 ${order} in parts: a mark in the first one or in each, cut inside a character, and in message_payload`, async () => {
      const here = await open();
      const [one, two] = ['पहला भाग है ', 'और दूसरा 👍'];
      const write = order === 'le' ? little : big;
      const whole = marked(one + two, order);

      for (const part of inParts([marked(one, order), write(two)], 8)) here.smsc.sendMo(part);
      await here.received(1);
      for (const part of inParts([marked(one, order), marked(two, order)], 0x18)) here.smsc.sendMo(part);
      await here.received(2);
      for (const part of inParts([whole.subarray(0, 11), whole.subarray(11)], 8)) here.smsc.sendMo(part);
      await here.received(3);
      here.smsc.sendMo({ from: PHONE, to: NUMBER, dataCoding: 8, userData: marked((one + two).repeat(10), order) });

      expect(await bodiesOf(here, 4)).to.deep.equal([one + two, one + two, one + two, (one + two).repeat(10)].sort());
    });
  }

  const STOPS: readonly (readonly [string, readonly MobileOriginated[]])[] = [
    ['UTF-16LE', [{ from: PHONE, to: NUMBER, dataCoding: 8, userData: marked('STOP', 'le') }]],
    ['UTF-16BE with a mark', [{ from: PHONE, to: NUMBER, dataCoding: 0x18, userData: marked('Stop', 'be') }]],
    ['UTF-16LE in parts', inParts([marked('ST', 'le'), little('OP')], 8)],
    [
      'the alphabet of Hindi',
      [
        {
          from: PHONE,
          to: NUMBER,
          dataCoding: 0,
          esmClass: UDH,
          userData: Buffer.concat([hex('03250106'), Buffer.from('stop')]),
        },
      ],
    ],
    ['capitals of the extension of Hindi', inParts([hex('1b531b541b'), hex('4f1b50')], 0, '240106250106')],
    [
      'a word of Turkish that the account has set',
      [{ from: PHONE, to: NUMBER, dataCoding: 0, esmClass: UDH, userData: hex('0325010160076b071d') }],
    ],
  ];
  for (const [what, parts] of STOPS) {
    it(`STOP opts out in ${what}`, async () => {
      const here = await open();
      await setWordSettings(here.db, here.account, WHOLE_ACCOUNT, { out: ['stop', foldText('çıkış')] });

      for (const part of parts) here.smsc.sendMo(part);
      const [message] = await here.received(1);

      expect(message?.optOut).to.equal('out');
      expect((await readScopes(here.db, here.account, [PHONE])).get(PHONE)).to.deep.equal([NUMBER]);
    });
  }
});
