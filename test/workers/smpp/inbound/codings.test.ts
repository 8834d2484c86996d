import type { Coding, PhoneText, Split } from '../../../../scripts/simulator/smsc/phone-text.ts';
import { bodies, inboundWorldPerTest } from './world.ts';

const GSM = 'Hello @£$¥èéùìòÇ ΔΦΓ {[~]} 10 € and more, ';
const LATIN = 'Où est ma commande ? Señor Müller ÀÉÎÕÜ, ';
const UCS2 = 'नमस्ते 你好 👍🏽 привет ';

const CASES: readonly {
  readonly what: string;
  readonly coding: Coding;
  readonly text: string;
  readonly alphabet?: 'gsm-packed' | 'latin1';
}[] = [
  { what: 'GSM, unpacked', coding: 'gsm', text: GSM },
  { what: 'GSM, packed', coding: 'packed', text: GSM, alphabet: 'gsm-packed' },
  { what: 'Latin-1', coding: 'latin1', text: LATIN },
  { what: 'ASCII', coding: 'ascii', text: 'Where is $it_ [now]? ' },
  { what: 'UCS-2', coding: 'ucs2', text: UCS2 },
];
const SPLITS: readonly (Split | undefined)[] = [undefined, 'udh8', 'udh16', 'sar', 'payload'];

describe('smpp worker: how handsets write', () => {
  const open = inboundWorldPerTest();

  for (const { what, coding, text, alphabet } of CASES) {
    it(`${what}: short, in parts of each kind, and as message_payload`, async () => {
      const here = await open({ carrier: alphabet === undefined ? {} : { texts: { alphabet } } });
      const expected = SPLITS.map((split, n) => `${n} ${text.repeat(split === undefined ? 1 : 10)}`);

      for (const [n, split] of SPLITS.entries()) here.says({ text: expected[n] ?? '', coding, split });
      const received = await here.received(SPLITS.length);

      expect(bodies(received).sort()).to.deep.equal(expected);
      expect(received.map(({ inbound }) => inbound.type)).to.deep.equal(SPLITS.map(() => 'text'));
    });
  }

  it('every length of a packed text around a full octet', async () => {
    const here = await open({ carrier: { texts: { alphabet: 'gsm-packed' } } });
    const texts = Array.from({ length: 17 }, (_, n) => 'abcdefghijklmnopq'.slice(0, n + 1));

    for (const text of texts) here.says({ text, coding: 'packed' });

    expect(bodies(await here.received(texts.length)).sort()).to.deep.equal(texts);
  });

  it('a carriage return that only fills the last octet is none of the text', async () => {
    const here = await open({ carrier: { texts: { alphabet: 'gsm-packed' } } });

    here.smsc.sendMo({
      ...{ from: '919811112222', to: '919000000001', dataCoding: 0 },
      userData: Buffer.from('31d98c56b3dd1a', 'hex'),
    });

    expect(bodies(await here.received(1))).to.deep.equal(['1234567']);
  });

  it('data_coding 0 is what the carrier says it is', async () => {
    const here = await open({ carrier: { texts: { alphabet: 'latin1' } } });

    here.smsc.sendMo({ from: '919811112222', to: '919000000001', dataCoding: 0, userData: Buffer.from([0xe9, 0x40]) });

    expect(bodies(await here.received(1))).to.deep.equal(['é@']);
  });

  it('the alphabets of SMPP that are rare, and flash messages', async () => {
    const here = await open();
    const rare: readonly [number, string, string][] = [
      [6, 'bfe0d8d2d5e2', 'Привет'.toLowerCase().replace('п', 'П')],
      [7, 'f9ece5ed', 'שלום'],
      [5, '1b2442467c4b5c1b2842', '日本'],
      [9, '93fa967b', '日本'],
      [14, 'c7d1b1b9', '한국'],
      [0x10, '4869', 'Hi'],
      [0x18, '00480069', 'Hi'],
      [0xf0, '4869', 'Hi'],
    ];

    for (const [dataCoding, hex] of rare) {
      here.smsc.sendMo({ from: '919811112222', to: '919000000001', dataCoding, userData: Buffer.from(hex, 'hex') });
    }
    const received = bodies(await here.received(rare.length));

    expect(received.sort()).to.deep.equal(rare.map(([, , text]) => text).sort());
  });

  it('octets that are no text are kept as base64, and told so', async () => {
    const here = await open();

    here.says({ text: '00ff10', coding: 'binary' });
    const [message] = await here.received(1);

    expect(message?.inbound).to.deep.equal({ type: 'binary', body: 'AP8Q', more: { data_coding: 4 } });
  });

  it('a header with ports before the reference, and an empty text', async () => {
    const here = await open();
    const ports: Partial<PhoneText> = { elements: Buffer.from([0x05, 4, 0x23, 0xf4, 0, 0]) };

    here.says({ text: 'x'.repeat(200), ...ports, split: 'udh16' });
    const [long] = await here.received(1);
    here.says({ text: '' });
    const [, empty] = await here.received(2);

    expect(long?.inbound.body).to.equal('x'.repeat(200));
    expect(empty?.inbound).to.deep.equal({ type: 'text', body: '' });
  });

  it('a header that does not fit is text, and stops nothing', async () => {
    const here = await open();

    here.smsc.sendMo({ from: '919811112222', to: '919000000001', esmClass: 0x40, userData: Buffer.from('zHello') });

    expect(bodies(await here.received(1))).to.deep.equal(['zHello']);
  });
});
