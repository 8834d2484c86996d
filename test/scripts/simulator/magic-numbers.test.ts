import { readFileSync } from 'node:fs';
import { MAGIC_NUMBERS } from '../../../scripts/simulator/magic-numbers.ts';
import { RecentCounts } from '../../../scripts/simulator/pace/pace.ts';
import { MAGIC_CUSTOMERS } from '../../../scripts/simulator/provider/magic-customers.ts';
import { MAGIC_TEMPLATES } from '../../../scripts/simulator/provider/templates.ts';
import type { SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { eventually } from '../../support/eventually.ts';
import { ascii, HandClient, statusOf, submit } from './hand-client.ts';

describe('magic numbers', () => {
  let smsc: Smsc;
  let esme: HandClient;

  async function start(options: Partial<SmscOptions> = {}): Promise<void> {
    smsc = await startSmsc({ receiptDelayMs: 20, ...options });
    esme = (await new HandClient(smsc.port).bound()).acknowledge();
  }

  afterEach(async () => {
    esme?.close();
    await smsc?.close();
  });

  const receipts = () => esme.of('00000005').map((frame) => frame.toString('latin1'));
  const stats = () => receipts().map((text) => /stat:(\w+) err:(\w+)/.exec(text)?.slice(1).join(' '));
  const ids = () => receipts().map((text) => /id:(\S+)/.exec(text)?.[1]);
  const answered = () => esme.of('80000004').map((frame) => frame.toString('latin1', 16, frame.length - 1));

  for (const [ending, stat] of [
    ['000', 'DELIVRD 000'],
    ['999', 'DELIVRD 000'],
    ['101', 'UNDELIV 001'],
    ['102', 'EXPIRED 027'],
    ['103', 'REJECTD 052'],
    ['114', 'UNDELIV 633'],
    ['117', 'UNKNOWN 255'],
  ] as const) {
    it(`…${ending} is accepted and ends as ${stat}`, async () => {
      await start();

      esme.write(submit(2, { to: `919876543${ending}` }));
      await esme.have('00000005', 1);

      expect(esme.of('80000004').map(statusOf)).deep.equal(['00000000']);
      expect(stats()).deep.equal([stat]);
      expect(ids()).deep.equal(answered());
    });
  }

  it('…104 has its receipt after one that was submitted later', async () => {
    await start();

    esme.write(submit(2, { to: '919876543104' }), submit(3));
    await esme.have('00000005', 2);

    expect(ids()).deep.equal(answered().reverse());
  });

  it('…105 has its receipt before the answer', async () => {
    await start();

    esme.write(submit(2, { to: '919876543105' }));
    await esme.have('80000004', 1);

    expect(esme.frames.slice(1).map((frame) => frame.toString('hex', 4, 8))).deep.equal(['00000005', '80000004']);
    expect(ids()).deep.equal(answered());
  });

  it('…106 has no receipt, and none is pending', async () => {
    await start();

    esme.write(submit(2, { to: '919876543106' }), submit(3));
    await esme.have('00000005', 1);

    expect(answered()).length(2);
    expect(ids()).deep.equal(answered().slice(1));
    await eventually(() => smsc.stats().pending === 0, 'nothing pending');
  });

  for (const [ending, status, times] of [
    ['107', '00000058', 3],
    ['111', '00000014', 2],
  ] as const) {
    it(`…${ending} is refused with 0x${status.slice(-2)} ${times} times for each text, then taken, then anew`, async () => {
      await start();
      const to = `919876543${ending}`;
      const tries = Array.from({ length: times + 2 }, (_, at) => submit(at + 2, { to, data: ascii('one') }));

      esme.write(...tries, submit(50, { to, data: ascii('two') }));
      const answers = await esme.have('80000004', times + 3);

      const refused = new Array<string>(times).fill(status);
      expect(answers.map(statusOf)).deep.equal([...refused, '00000000', status, status]);
    });
  }

  it('…107 counts the same text under another reference as the same text', async () => {
    await start();

    for (const reference of ['01', '02', '03', '04']) {
      esme.write(submit(2, { to: '919876543107', esmClass: '40', data: `050003 ${reference} 01 01 ${ascii('one')}` }));
    }
    const answers = await esme.have('80000004', 4);

    expect(answers.map(statusOf)).deep.equal(['00000058', '00000058', '00000058', '00000000']);
  });

  it('…108 is refused with 0x0B each time and never has a receipt', async () => {
    await start();

    esme.write(submit(2, { to: '919876543108' }), submit(3, { to: '919876543108' }));
    const answers = await esme.have('80000004', 2);

    expect(answers.map(statusOf)).deep.equal(['0000000b', '0000000b']);
    expect(smsc.messages()).deep.equal([]);
  });

  it('…109 has a receipt and no answer', async () => {
    await start();

    esme.write(submit(2, { to: '919876543109' }), submit(3));
    await esme.have('00000005', 2);

    expect(esme.of('80000004').map((frame) => frame.readUInt32BE(12))).deep.equal([3]);
    expect(smsc.messages()).length(2);
  });

  it('…110 has the same receipt twice', async () => {
    await start();

    esme.write(submit(2, { to: '919876543110' }));
    await esme.have('00000005', 2);

    expect(stats()).deep.equal(['DELIVRD 000', 'DELIVRD 000']);
    expect(ids()).deep.equal([...answered(), ...answered()]);
  });

  for (const [idForm, other] of [
    ['hex', (id: string) => BigInt(`0x${id}`).toString()],
    ['decimal', (id: string) => BigInt(id).toString(16)],
    ['hex-decimal', (id: string) => id],
    ['uuid', (id: string) => id.replaceAll('-', '').toUpperCase()],
  ] as const) {
    it(`…112 has the id in the other notation where ids are ${idForm}, in text and TLV`, async () => {
      await start({ idForm });

      esme.write(submit(2, { to: '919876543112' }));
      await esme.have('00000005', 1);

      const [id = ''] = answered();
      expect(ids()).deep.equal([other(id)]);
      expect(receipts()[0]?.split(other(id))).length(3);
    });
  }

  it('hex-decimal answers in hex and writes the same number in decimal in receipts', async () => {
    await start({ idForm: 'hex-decimal' });

    esme.write(submit(2));
    await esme.have('00000005', 1);

    expect(ids()).deep.equal([BigInt(`0x${answered()[0]}`).toString()]);
  });

  it('…113 refuses the second segment alone', async () => {
    await start();

    for (const part of ['01', '02', '03']) {
      esme.write(submit(2, { to: '919876543113', esmClass: '40', data: `050003 07 03 ${part} 61` }));
    }
    esme.write(submit(5, { to: '919876543113' }));
    const answers = await esme.have('80000004', 4);

    expect(answers.map(statusOf)).deep.equal(['00000000', '0000000b', '00000000', '00000000']);
  });

  it('…115 has an intermediate notification, then a receipt', async () => {
    await start();

    esme.write(submit(2, { to: '919876543115' }));
    const frames = await esme.have('00000005', 2);

    expect(stats()).deep.equal(['ENROUTE 000', 'DELIVRD 000']);
    // esm_class follows service_type (1) and the two addresses (2 + 13, 2 + 7).
    expect(frames.map((frame) => frame[16 + 1 + 15 + 9])).deep.equal([0x20, 0x04]);
  });

  it('…116 has a receipt that is not final, then one that is', async () => {
    await start();

    esme.write(submit(2, { to: '919876543116' }));
    await esme.have('00000005', 2);

    expect(stats()).deep.equal(['ACCEPTD 000', 'DELIVRD 000']);
  });

  it('…118 breaks the connection instead of an answer, the first time; its receipt comes after the next bind', async () => {
    await start();

    esme.write(submit(2, { to: '919876543118' }));
    await eventually(() => esme.ended, 'the end of the connection');
    const before = esme.of('80000004').length;
    esme = await new HandClient(smsc.port).bound();
    await esme.have('00000005', 1);
    esme.write(submit(2, { to: '919876543118' }));
    await esme.have('80000004', 1);

    expect(before).equal(0);
    expect(smsc.messages()).length(2);
  });

  it('are listed in docs/magic-numbers.md as they are in code', () => {
    const page = readFileSync(new URL('../../../docs/magic-numbers.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| (\d{3}|[a-z]+) +\| (.+?) +\|$/gm)].map(([, which, meaning]) => [
      which,
      meaning,
    ]);

    const numbers = [...MAGIC_NUMBERS, ...MAGIC_CUSTOMERS].map(({ ending, meaning }) => [ending, meaning]);
    const templates = MAGIC_TEMPLATES.map(({ contains, meaning }) => [contains, meaning]);
    expect(rows.filter(([which]) => which !== 'code')).deep.equal([...numbers, ...templates]);
  });
});

describe('counts of what was seen lately', () => {
  it('go up by key, can be forgotten, and drop the oldest keys when there are too many', () => {
    const counts = new RecentCounts(2);

    expect([counts.add('a'), counts.add('a'), counts.add('b')]).deep.equal([1, 2, 1]);
    counts.forget('b');
    expect(counts.add('b')).equal(1);
    expect([counts.add('c'), counts.add('a')], 'a is in the older generation').deep.equal([1, 3]);
    for (const key of ['d', 'e', 'f', 'g']) counts.add(key);
    expect(counts.add('a')).equal(1);
  });
});
