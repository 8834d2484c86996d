import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Smsc, startSmsc } from '../../scripts/simulator/smsc.ts';
import { ascii } from '../scripts/simulator/hand-client.ts';
import { debianProgram, perlModule } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type CapturedFrame, writePcap } from '../support/pcap.ts';
import { dissect } from '../support/tshark.ts';

const CLIENT = join(import.meta.dirname, 'net-smpp-client.pl');

describe('the simulator and Net::SMPP', () => {
  let smsc: Smsc;
  let frames: CapturedFrame[];
  const folder = mkdtempSync(join(tmpdir(), 'net-smpp-'));

  /** Runs the Perl client to its end and returns its output lines. */
  async function client(kind: string, receipts: number, ...messages: string[]): Promise<string[]> {
    const perl = await debianProgram('perl', 'perl');
    const { stdout } = await promisify(execFile)(perl, [
      CLIENT,
      String(smsc.port),
      kind,
      String(receipts),
      ...messages,
    ]);
    return stdout.trimEnd().split('\n');
  }

  before(() => perlModule('Net::SMPP', 'libnet-smpp-perl'));

  beforeEach(async () => {
    frames = [];
    smsc = await startSmsc({
      receiptDelayMs: 20,
      onFrame: (direction, bytes, sessionId) => frames.push({ direction, bytes: Buffer.from(bytes), sessionId }),
    });
  });

  afterEach(async () => {
    await smsc.close();
    const file = join(folder, 'capture.pcap');
    await writePcap(frames, file, smsc.port);
    expect((await dissect(file, smsc.port)).malformed).deep.equal([]);
  });

  after(() => rmSync(folder, { recursive: true }));

  for (const kind of ['receiver', 'transmitter', 'transceiver']) {
    it(`bind, live and unbind as ${kind}`, async () => {
      expect(await client(kind, 0)).deep.equal(['bound 0 SIMULATOR 34', 'alive 0', 'unbound 0']);
      expect(smsc.sessions()).deep.equal([]);
    });
  }

  it('exchange GSM, UCS-2 and three segments, each answered and with its receipt', async () => {
    const segment = (part: number, text: string) => `919876543103:0:64:0500032a030${part}${ascii(text)}`;

    const lines = await client(
      'transceiver',
      5,
      `919876543000:0:0:${ascii('Hello ')}1b65`,
      '919876543101:8:0:0928092e0938094d09240947',
      ...[segment(1, 'one '), segment(2, 'two '), segment(3, 'three')],
    );

    expect(smsc.texts().map(({ text }) => text)).deep.equal(['Hello €', 'नमस्ते', 'one two three']);
    const ids = lines
      .filter((line) => line.startsWith('submitted 0 '))
      .map((line) => line.slice('submitted 0 '.length));
    expect(ids).deep.equal(smsc.messages().map(({ messageId }) => messageId));
    const receipts = lines.filter((line) => line.startsWith('receipt '));
    const expected = [
      [4, '919876543000', 'DELIVRD', '000', '02'],
      [4, '919876543101', 'UNDELIV', '001', '05'],
      ...[1, 2, 3].map(() => [4, '919876543103', 'REJECTD', '052', '08']),
    ];
    for (const [at, [esmClass, from, stat, err, state]] of expected.entries()) {
      const id = ids[at];
      expect(receipts[at]).match(
        new RegExp(
          `^receipt ${esmClass} ${from} ACMEIN id:${id} .* stat:${stat} err:${err} text:.*\\|${id}\0?\\|${state}$`,
        ),
      );
    }
    expect(lines.slice(-2)).deep.equal(['alive 0', 'unbound 0']);
  });

  it('share an account: what a transmitter submitted is told to a receiver that binds later', async () => {
    await client('transmitter', 0, `919876543000:0:0:${ascii('first')}`, `919876543000:0:0:${ascii('second')}`);
    await eventually(() => smsc.stats().waiting.perl === 2, 'two receipts waiting');

    const lines = await client('receiver', 2);

    expect(lines.filter((line) => line.includes('stat:DELIVRD'))).length(2);
    expect(smsc.stats()).include({ pending: 0 });
  });
});
