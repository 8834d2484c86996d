import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSmsc } from '../../scripts/simulator/smsc.ts';
import { ascii, BIND_TRANSCEIVER, bind, HandClient, octets, pdu, submit } from '../scripts/simulator/hand-client.ts';
import { eventually } from '../support/eventually.ts';
import { type CapturedFrame, writePcap } from '../support/pcap.ts';
import { unpackAll } from '../support/smpp34.ts';
import { dissect } from '../support/tshark.ts';

const PORT = 2775;
const PE_ID = `1400 0013 ${ascii('1101172974420810001')}`;
const GOOD = [BIND_TRANSCEIVER, submit(2, { tlvs: PE_ID }), octets('00000010 00000015 00000000 00000003')];

/** Wrong PDUs. A judge (a foreign decoder) must see what is wrong, or its "good" would mean nothing. */
const BAD: readonly (readonly [string, Buffer])[] = [
  ['an sm_length beyond the PDU', resized(submit(2), -1)],
  ['a NUL after the message', resized(submit(2), 1)],
  ['a bind that ends too soon', resized(BIND_TRANSCEIVER, -2)],
  ['a TLV beyond the PDU', submit(2, { tlvs: '1400 0013 31' })],
];

/** The PDU with octets cut off or NULs appended, and its command_length corrected. */
function resized(frame: Buffer, by: number): Buffer {
  const changed = Buffer.concat([frame, Buffer.alloc(8)]).subarray(0, frame.length + by);
  changed.writeUInt32BE(changed.length);
  return changed;
}

describe('the judges', () => {
  const folder = mkdtempSync(join(tmpdir(), 'judges-'));
  const file = join(folder, 'capture.pcap');
  const capture = (frames: readonly Buffer[]) =>
    writePcap(
      frames.map((bytes) => ({ direction: 'in', bytes, sessionId: 1 })),
      file,
      PORT,
    );

  after(() => rmSync(folder, { recursive: true }));

  it('tshark reads good PDUs with their fields and complains of none', async () => {
    await capture(GOOD);

    const { pdus, malformed } = await dissect(file, PORT, ['smpp.destination_addr', 'smpp.opt_param_tag']);

    expect(malformed).deep.equal([]);
    expect(pdus.map(({ fields }) => fields['smpp.command_id'])).deep.equal([
      ['0x00000009'],
      ['0x00000004'],
      ['0x00000015'],
    ]);
    expect(pdus[1]?.fields['smpp.destination_addr']).deep.equal(['919876543000']);
    expect(pdus[1]?.fields['smpp.opt_param_tag']).deep.equal(['0x1400']);
  });

  for (const [what, frame] of [...BAD, ['an unknown command', pdu('00000999', '00000000', 2)] as const]) {
    it(`tshark complains of ${what}, and of nothing beside it`, async () => {
      await capture([...GOOD, frame, ...GOOD]);

      const { malformed } = await dissect(file, PORT);

      expect(malformed.map(({ frame: number }) => number)).deep.equal([GOOD.length + 1]);
    });
  }

  it('tshark reads a PDU of 60,000 octets that spans packets', async () => {
    await capture([submit(2, { data: '', tlvs: `0424 ea60 ${'61'.repeat(60_000)}` }), ...GOOD]);

    const { pdus, malformed } = await dissect(file, PORT);

    expect(malformed).deep.equal([]);
    expect(pdus).length(GOOD.length + 1);
  });

  it('libsmpp34 unpacks good PDUs and says what is in them', async () => {
    const answers = await unpackAll(GOOD);

    expect(answers.map(({ ok }) => ok)).deep.equal([true, true, true]);
    expect(answers[1]?.text).include('919876543000').and.include('1101172974420810001');
  });

  it('libsmpp34 refuses bad PDUs with a reason, and goes on', async () => {
    const answers = await unpackAll([...BAD.map(([, frame]) => frame), ...GOOD]);

    expect(answers.map(({ ok }) => ok)).deep.equal([...BAD.map(() => false), true, true, true]);
    for (const { ok, text } of answers) if (!ok) expect(text).not.equal('');
  });

  it('find nothing wrong in what the simulator says, in any of its moods', async () => {
    const frames: CapturedFrame[] = [];
    const smsc = await startSmsc({
      receiptDelayMs: 5,
      onFrame: (direction, bytes, sessionId) =>
        frames.push({ direction, bytes: Buffer.from(bytes), sessionId, at: Date.now() }),
    });
    try {
      const esme = (await new HandClient(smsc.port).bound()).acknowledge();
      const receiver = (await new HandClient(smsc.port).bound(bind('00000001'))).acknowledge();
      for (let ending = 100; ending < 118; ending++)
        esme.write(submit(ending, { to: `919876543${ending}`, tlvs: PE_ID }));
      esme.write(submit(200, { dataCoding: '08', data: '0928092e0938094d09240947' }));
      esme.write(submit(201, { esmClass: '40', data: `050003 01 02 01 ${ascii('a')}` }));
      smsc.sendMo({ from: '919876543210', to: '56767', text: 'नमस्ते '.repeat(50) });
      smsc.enquireSessions();
      await eventually(() => smsc.stats().deliveries.acknowledged >= 20, 'receipts');
      esme.write(octets('00000010 00000006 00000000 00000300'));
      await eventually(() => esme.ended, 'the end of the connection');
      receiver.close();
    } finally {
      await smsc.close();
    }

    await writePcap(frames, file, smsc.port);
    const { pdus, malformed } = await dissect(file, smsc.port);
    const unpacked = await unpackAll(frames.map(({ bytes }) => bytes));

    expect(malformed).deep.equal([]);
    expect(pdus).length(frames.length).above(80);
    expect(unpacked.filter(({ ok }) => !ok)).deep.equal([]);
  });
});
