import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DefaultAlphabet } from '../../scripts/simulator/smpp/text.ts';
import type { NewCarrier } from '../../shared/carriers/carrier-store.ts';
import { debianProgram, perlModule } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type CapturedFrame, writePcap } from '../support/pcap.ts';
import { openWorld, QUICK, type World, type WorldOptions } from '../support/smpp-world.ts';
import { unpackAll } from '../support/smpp34.ts';
import { dissect } from '../support/tshark.ts';

const HINDI = 'नमस्ते, आपका OTP 123456 है। कृपया इसे किसी के साथ साझा न करें। यह 10 मिनट के लिए मान्य है। धन्यवाद।';
const LONG = 'Dear customer, your order {42} is on its way [today]. '.repeat(8);

/** Both kinds of bind, and settings that change a PDU's form. */
const CARRIERS: readonly (readonly [Partial<NewCarrier>, DefaultAlphabet])[] = [
  [{ bindKind: 'transceiver' }, 'gsm7'],
  [{ bindKind: 'pair' }, 'gsm7'],
  [
    { texts: { alphabet: 'latin1', longText: 'sar' }, addresses: { bindAddress: '1/1', addressRange: '^56' } },
    'latin1',
  ],
  [
    {
      texts: { longText: 'payload' },
      submits: {
        ...{ validity: 'absolute', serviceType: 'BULK', priorities: [3, 2, 1, 0, 0] },
        tlvs: [{ tag: 0x1403, type: 'string', value: '40410' }],
      },
    },
    'gsm7',
  ],
  [{ texts: { alphabet: 'gsm-packed', longText: 'udh16' }, submits: { validity: 'none' } }, 'gsm7-packed'],
];

describe("the product's PDUs, judged by others", () => {
  const folder = mkdtempSync(join(tmpdir(), 'product-pdus-'));
  const frames: CapturedFrame[] = [];
  let port: number;

  /** Everything that the worker ever sends: binds of all kinds, submits, answers, unbind. */
  before(async () => {
    for (const [index, [carrier, defaultAlphabet]] of CARRIERS.entries()) {
      const first = frames.length;
      const options: WorldOptions = {
        carrier: { ...QUICK, ...carrier },
        smsc: {
          defaultAlphabet,
          deliverTries: 1,
          onFrame: (direction, bytes, sessionId) =>
            frames.push({ direction, bytes: Buffer.from(bytes), sessionId: sessionId + 100 * index }),
        },
      };
      const world = await openWorld(options);
      port = world.smsc.port;
      await everyKind(world, () => frames.slice(first)).finally(() => world.close());
    }
  });

  async function everyKind(world: World, seen: () => readonly CapturedFrame[]): Promise<void> {
    const ids = await world.sendMany([
      { to: '919876500001', text: 'hello €' },
      { to: '919876500002', text: HINDI, sender: '56161' },
      { to: '919876500003', text: LONG, sender: '919800000000' },
      { to: '919876500112', text: '😀' },
      { to: '919876500105', text: 'early' },
    ]);
    await world.allReach(ids, 'delivered');
    world.smsc.sendMo({ from: '919800000000', to: 'HARKRA', text: 'hi' });
    world.smsc.enquireSessions();
    world.smsc.inject(Buffer.from('00000010000009990000000000000063', 'hex'));
    await eventually(() => seen().some(isEnquireLink), 'an enquire_link of the worker');
  }

  after(() => rmSync(folder, { recursive: true }));

  it('tshark finds nothing malformed in any of them', async () => {
    const file = join(folder, 'capture.pcap');
    const known = frames.filter(({ bytes }) => bytes.readUInt32BE(4) !== 0x999);
    await writePcap(known, file, port);

    const { pdus, malformed } = await dissect(file, port, ['smpp.data_coding', 'smpp.esm.submit.features']);

    expect(malformed).deep.equal([]);
    expect(pdus.length).to.be.greaterThan(50);
  });

  it('libsmpp34 unpacks every one that the worker sent', async () => {
    const sent = frames.filter(({ direction }) => direction === 'in').map(({ bytes }) => bytes);

    const unpacked = await unpackAll(sent);

    expect(unpacked.filter(({ ok }) => !ok)).deep.equal([]);
    expect(unpacked).to.have.length(sent.length);
  });

  it('they are of every kind that the worker sends', () => {
    const commands = new Set(
      frames.filter(({ direction }) => direction === 'in').map(({ bytes }) => bytes.readUInt32BE(4).toString(16)),
    );

    expect([...commands]).to.include.members(['9', '1', '2', '4', '15', '6', '80000005', '80000015', '80000000']);
  });
});

describe('the product and a carrier made of Net::SMPP', () => {
  let perl: ChildProcess;
  let world: World;
  const lines: string[] = [];
  before(() => perlModule('Net::SMPP', 'libnet-smpp-perl'));
  after(async () => {
    await world?.close();
    perl?.kill();
  });

  it('binds, submits, is throttled, takes decimal receipts to hexadecimal ids and receipts before answers, unbinds', async () => {
    perl = spawn(await debianProgram('perl', 'perl'), [join(import.meta.dirname, 'net-smpp-smsc.pl')], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (perl.stdout === null) throw new Error('no output of perl');
    createInterface({ input: perl.stdout }).on('line', (line) => lines.push(line));
    const port = await eventually(() => Number(/^port (\d+)$/.exec(lines[0] ?? '')?.[1] ?? 0), 'perl listens');
    world = await openWorld({ carrier: { port, windowSize: 4 } });

    const texts = ['hello €', HINDI, LONG, 'one', 'two', 'three', 'four'];
    const ids = await world.sendMany(texts.map((text, i) => ({ to: `91987650000${i}`, text })));
    await world.allReach(ids, 'delivered');
    const ended = once(perl, 'close'); // With its last lines.
    await world.worker.stop();
    await ended;

    const submits = lines.filter((line) => line.startsWith('submit '));
    expect(lines[1]).to.equal('bind harkara secret 34');
    expect(submits[0]).to.match(/^submit 91987650000\d 1 1 HARKRA 5 0 \d+ [08] 0000\d{11}R$/);
    expect(new Set(lines.filter((line) => line.startsWith('taken ')))).to.deep.equal(new Set(['taken 0']));
    expect(lines.filter((line) => line.startsWith('strange'))).to.deep.equal([]);
    expect(lines.at(-1)).to.equal('unbound');
    expect(textTo('919876500001', 8)).to.equal(HINDI);
    expect(textTo('919876500003', 0)).to.equal('one');
  });

  /** Texts for one number, with segments joined by hand. */
  function textTo(to: string, coding: 0 | 8): string {
    const parts = lines.filter((line) => line.startsWith(`text ${to} `)).map((line) => line.split(' ')[2] ?? '');
    const bodies = parts.map((hex) => Buffer.from(hex.startsWith('050003') ? hex.slice(12) : hex, 'hex'));
    return bodies.map((body) => (coding === 8 ? body.swap16().toString('utf16le') : body.toString('latin1'))).join('');
  }
});

function isEnquireLink({ direction, bytes }: CapturedFrame): boolean {
  return direction === 'in' && bytes.readUInt32BE(4) === 0x15;
}
