import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { WordMeaning } from '../../../shared/carriers/receipt-profiles.ts';
import { decodeDeliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import { decodeMessageId, isResponse, readHeader } from '../../../shared/carriers/smpp/pdu.ts';
import { SmppSocket } from '../../../shared/carriers/smpp/socket.ts';
import { candidateKeys, messageKey } from '../../../workers/smpp/dialect/message-ids.ts';
import { parseReceipt } from '../../../workers/smpp/receipts/receipt.ts';
import { dialect } from '../../support/dialect.ts';
import { fuzz, mutate } from '../../support/fuzz.ts';
import { pdu, receiptPdu } from '../../support/hostile-carrier.ts';
import type { Prng } from '../../support/prng.ts';
import { INTERMEDIATE, receiptDeliver } from '../../support/receipt-deliver.ts';

const TLVS =
  '001e 0005 6162633100 0427 0001 02 0423 0003 030034 0424 0006 69643a312073 0202 0001 01 1400 0004 31323334 020c 0002 0001';

/** Good PDUs of every decoded command, and of some others. */
const GOOD: readonly [Buffer, ...Buffer[]] = [
  receiptPdu(
    1,
    'id:0123456789 sub:001 dlvrd:001 submit date:2611211004 done date:2611211005 stat:DELIVRD err:000 text:x',
  ),
  receiptPdu(2, '', TLVS),
  receiptPdu(3, 'id:1 stat:UNDELIV err:051', TLVS),
  pdu(0x103, 0, 4, `00 0101 39313938373635343332313000 0001 4841524b524100 04 01 00 ${TLVS}`),
  pdu(0x05, 0, 5, `00 0101 39313938373635343332313000 0501 4841524b524100 00 00 01 00 00 01 00 08 00 04 0939094d`),
  pdu(0x80000004, 0, 6, '61 62 63 31 00'),
  pdu(0x80000004, 0x58, 7),
  pdu(0x80000009, 0, 8, '4d 00 0210 0001 34'),
  pdu(0x15, 0, 9),
  pdu(0x80000000, 3, 10),
  pdu(0x21, 0, 11, '00 00 00 4100 02 01 0101 393100 02 4c00 00 00 00 00 00 00 00 00 00 00 02 6869'),
];
/** The commands whose body the worker decodes. */
const DECODED = [0x05, 0x103, 0x80000004, 0x80000103, 0x80000005] as const;

/** The length is correct, because framing guarantees that. */
function hostileFrame(random: Prng): Buffer {
  const bytes = random.below(5) === 0 ? random.bytes(random.below(300)) : mutate(random.pick(GOOD), random);
  const frame = bytes.length < 16 ? Buffer.concat([bytes, Buffer.alloc(16 - bytes.length)]) : bytes;
  if (random.below(2) === 0) frame.writeUInt32BE(random.pick(DECODED), 4);
  frame.writeUInt32BE(frame.length, 0);
  return frame;
}

/** The frame within a larger buffer, as from the socket: the surrounding bytes must not matter. */
function surrounded(frame: Buffer, filling: number): Buffer {
  const around = Buffer.alloc(frame.length + 512, filling);
  frame.copy(around, 256);
  return around.subarray(256, 256 + frame.length);
}

function decoded(frame: Buffer): unknown {
  const { command, sequence, status } = readHeader(frame);
  const messageId = decodeMessageId(frame); // never throws
  expect(messageId.length).to.be.at.most(frame.length);
  if (isResponse(command)) return { command, sequence, status, messageId };
  const deliver = decodeDeliver(frame); // never throws
  const { from, to, body, receiptedMessageId = '', networkErrorCode } = deliver;
  for (const text of [from, to, receiptedMessageId]) {
    if (text.includes('\0') || text.length > frame.length) throw new Error(`a text of ${text.length} characters`);
  }
  if (body.length > frame.length - 16) throw new Error(`a body of ${body.length} octets`);
  return { ...deliver, body: body.toString('hex'), networkErrorCode: networkErrorCode?.toString('hex') };
}

describe('fuzz: the PDU reader', () => {
  it('reads any frame, and nothing that stands beside it', async () => {
    const inputs = await fuzz('pdu', (random) => {
      const frame = hostileFrame(random);

      const one = decoded(surrounded(frame, 0x41));
      const other = decoded(surrounded(frame, 0x00));

      const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
      if (first !== second) throw new Error(`${frame.toString('hex')} reads ${first} and ${second}`);
    });

    expect(inputs).to.be.at.least(50_000);
  });

  it('cuts a stream into the same frames wherever its packets end, and gives it up at the first length that is none', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
    const { port } = address;

    await fuzz('stream', async (random) => {
      const frames = Array.from({ length: 1 + random.below(60) }, () => hostileFrame(random));
      let stream: Buffer = Buffer.concat(frames);
      if (random.below(2) === 0) stream = mutate(stream, random);
      const expected = cut(stream);

      const accepted = once(server, 'connection');
      const got: string[] = [];
      let reason = '';
      const closed = new Promise<void>((resolve) => {
        const options = {
          host: '127.0.0.1',
          port,
          tls: undefined,
          mayWrite: () => true,
          onFrame: (frame: Buffer) => void got.push(frame.toString('hex')),
          onClose: (why: string) => {
            reason = why;
            resolve();
          },
        };
        new SmppSocket(options, () => {});
      });
      const [peer]: Socket[] = await accepted;
      if (peer === undefined) throw new Error('nobody connected');
      peer.on('error', () => {}); // It is cut off in the middle of a bad stream.
      peer.setNoDelay(true).resume();
      for (let at = 0; at < stream.length; ) {
        const end = at + 1 + random.below(random.below(4) === 0 ? 8 : 600);
        peer.write(stream.subarray(at, end));
        at = end;
        if (random.below(4) === 0) await new Promise((turn) => setImmediate(turn));
      }
      peer.end();
      await closed;
      peer.destroy();

      expect(got).to.deep.equal(expected.frames);
      expect(reason === 'bad_frame', reason).to.equal(expected.bad);
    });
    await new Promise((done) => server.close(done));
  });
});

/** Another reading of SMPP 3.4 §3.2: a length of 16 to 70,000 octets, the length included. */
function cut(stream: Buffer): { readonly frames: string[]; readonly bad: boolean } {
  const frames: string[] = [];
  for (let at = 0; at + 4 <= stream.length; ) {
    const length = stream.readUInt32BE(at);
    if (length < 16 || length > 70_000) return { frames, bad: true };
    if (at + length > stream.length) break;
    frames.push(stream.toString('hex', at, at + length));
    at += length;
  }
  return { frames, bad: false };
}

const FOLDER = new URL('../../fixtures/receipts/', import.meta.url);
const RECEIPTS = readdirSync(FOLDER).map((name) => {
  const file = readFileSync(new URL(name, FOLDER));
  return file.subarray(file.indexOf('\n') + 1);
});
const PIECES = [
  'id:',
  'ID :',
  'stat:',
  'err:',
  'done date:',
  'submit date:',
  'text:',
  ' ',
  '  ',
  '\n',
  '\0',
  ':',
  'DELIVRD',
  'UNDELIV',
  '0'.repeat(30),
  '99999999999999',
  '2613399999',
  'é',
  '$gt',
  '__proto__',
  'constructor',
] as const;
const GENERIC = dialect();
const MEANINGS: ReadonlySet<WordMeaning> = new Set([
  ...(['delivered', 'failed', 'expired', 'rejected', 'intermediate', 'hold', 'ignore'] as const),
]);

function hostileText(random: Prng): string {
  switch (random.below(4)) {
    case 0:
      return random.bytes(random.below(260)).toString('latin1');
    case 1:
      return Array.from({ length: random.below(40) }, () => random.pick(PIECES)).join('');
    default:
      return mutate(random.pick(RECEIPTS) ?? Buffer.alloc(1), random).toString('latin1');
  }
}

describe('fuzz: the receipt parser', () => {
  it('makes something sane of any text and TLVs, or nothing, and never of the words of the customer', async () => {
    const inputs = await fuzz('receipt', (random) => {
      const text = hostileText(random);
      const tlvs = {
        ...(random.below(3) === 0 ? { receiptedMessageId: random.bytes(random.below(70)).toString('latin1') } : {}),
        ...(random.below(3) === 0 ? { messageState: random.below(300) } : {}),
        ...(random.below(3) === 0 ? { networkErrorCode: random.bytes(random.below(5)) } : {}),
      };
      const intermediate = random.below(10) === 0;
      const [at, carrier] = [new Date(), { receiptOffsetMinutes: 330 }];
      const read = (told: string) =>
        parseReceipt(
          receiptDeliver(told, { ...tlvs, ...(intermediate ? { esmClass: INTERMEDIATE } : {}) }),
          carrier,
          GENERIC,
          at,
        );

      const receipt = read(text);

      if (receipt === undefined) return;
      const { ids, meaning, isKnown, word, error = '', doneAt, excerpt } = receipt;
      if (!MEANINGS.has(meaning)) throw new Error(`meaning ${meaning}`);
      if (!isKnown && meaning !== 'ignore') throw new Error('a word that nobody knows decides');
      if (intermediate && meaning !== 'intermediate') throw new Error('a final state of an intermediate receipt');
      if (ids.length < 1 || ids.length > 2 || ids.some((id) => id.trim() !== id || id === '')) throw new Error('ids');
      if ((word === '' && isKnown && !intermediate) || error.length > 16 || excerpt.length > 200)
        throw new Error('too long or empty');
      if (doneAt !== undefined && Number.isNaN(doneAt.getTime())) throw new Error('a date that is none');
      if (/\stext:/i.test(excerpt)) throw new Error('the words of the customer are quoted');
      // The customer's own text follows `text:` and must not matter.
      const echo = /(?:^|[\s\0])text:/i.exec(text);
      if (echo !== null) {
        const other = read(`${text.slice(0, echo.index)} text:id:666 stat:REJECTD err:999`);
        expect(other).to.deep.equal(receipt);
      }
      for (const { key } of candidateKeys({ _id: 'x', idForm: 'learn' }, ids)) {
        if (key.length > 90 || !key.startsWith('x:')) throw new Error(`key ${key}`);
      }
    });

    expect(inputs).to.be.at.least(40_000);
  });

  type DateForm = readonly [text: string, resolutionMs: number];
  const WORDS: readonly [readonly [string, WordMeaning], ...(readonly [string, WordMeaning])[]] = [
    ['DELIVRD', 'delivered'],
    ['UNDELIV', 'failed'],
    ['EXPIRED', 'expired'],
    ['REJECTD', 'rejected'],
    ['DELETED', 'failed'],
    ['ACCEPTD', 'intermediate'],
  ];

  it('reads back what carriers write, in each of their notations', async () => {
    await fuzz('roundTrip', (random) => {
      const at = new Date(
        Date.UTC(
          2020 + random.below(60),
          random.below(12),
          1 + random.below(28),
          random.below(24),
          random.below(60),
          random.below(60),
        ),
      );
      const [word, meaning] = random.pick(WORDS);
      const digits = at.toISOString().replace(/\D/g, '').slice(0, 14);
      const forms: readonly [DateForm, ...DateForm[]] = [
        [digits.slice(2, 12), 60_000],
        [digits.slice(2), 1_000],
        [digits, 1_000],
        [`${digits.slice(2)}000+`, 1_000],
      ];
      const [done, resolutionMs] = random.pick(forms);
      // Some carriers write a number in hexadecimal (upper or lower case), others in decimal, some with leading zeros.
      const number = BigInt(random.uint32()) * BigInt(1 + random.uint32());
      const answered = number.toString(16);
      const id = random.pick([answered, answered.toUpperCase(), number.toString(10), `000${answered}`]);
      const error = random.pick(['001', '00B', '5601']);
      const text = random.pick([
        `id:${id} sub:001 dlvrd:001 submit date:${done} done date:${done} stat:${word} err:${error} text:id:9 stat:FAILED`,
        `id:${id} done date:${done} stat:${word} err:${error}`,
        `ID:${id} STAT:${word} ERR:${error} DONE DATE:${done} TEXT:`,
        `id: ${id} sub: 001 stat: ${word} err: ${error} done date: ${done}`,
        `id:${id} sub:001 dlvrd:001 submit date:${done} done date:${done} ${word} err:${error}`,
        `id:${id}\tstat:${word}\terr:${error}\tdone date:${done}\0`,
        `id:${id} msc: stat:${word} lac:12 err:${error} done date:${done} text:`,
      ]);

      const receipt = parseReceipt(receiptDeliver(text), { receiptOffsetMinutes: 0 }, GENERIC, at);

      const doneAt = new Date(Math.floor(at.getTime() / resolutionMs) * resolutionMs);
      expect(receipt, text).to.deep.include({ ids: [id], meaning, word, error, doneAt });
      const keys = candidateKeys({ _id: 'x', idForm: 'learn' }, [id]).map(({ key }) => key);
      expect(keys, text).to.include(messageKey('x', answered));
    });
  });
});
