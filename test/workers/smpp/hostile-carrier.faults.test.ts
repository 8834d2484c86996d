import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { OrphanDocument } from '../../../shared/messages/settlement/message-log.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type HostileCarrier,
  type HostileScript,
  pdu,
  receiptPdu,
  startHostileCarrier,
} from '../../support/hostile-carrier.ts';
import { openWorld, QUICK, type World } from '../../support/smpp-world.ts';
import { use } from '../../support/use.ts';

const SUBMIT_RESP = 0x80000004;
const DELIVER = 0x05;
const DELIVER_RESP = 0x80000005;
const ENQUIRE_RESP = 0x80000015;
const UNBIND_RESP = 0x80000006;
const NACK = 0x80000000;
/** A deliver_sm's body before its short message; its esm_class makes it a receipt. */
const DELIVER_HEAD = '00 0000 00 0000 00 04 00 00 00 00 00 00 00 00';

interface Scene {
  readonly world: World;
  readonly evil: HostileCarrier;
  sendEvil(): Promise<MessageDocument['_id']>;
  /** Fails unless the other carrier still delivers. */
  othersWork(): Promise<void>;
  close(): Promise<void>;
}

/** One worker with two carriers: the simulator for transactional messages, the hostile one for promotional ones. */
async function openScene(script: HostileScript = {}, more: object = {}): Promise<Scene> {
  const evil = await startHostileCarrier(script);
  const world = await openWorld({ carrier: { paths: ['transactional'] } });
  await world.addCarrier({
    _id: 'evil',
    name: 'Evil',
    host: '127.0.0.1',
    port: evil.port,
    systemId: 'harkara',
    password: 'secret',
    paths: ['promotional'],
    ...QUICK,
    enquireLinkMs: 20_000,
    ...more,
  });
  await eventually(() => evil.binds() > 0, 'it binds');
  return {
    world,
    evil,
    sendEvil: () => world.send({ to: '919876500000', route: 'promotional', path: 'promotional', lane: 3 }),
    othersWork: async () => {
      await world.reaches(await world.send({ to: '919876500000' }), 'delivered');
    },
    close: async () => {
      await world.close();
      await evil.close();
    },
  };
}

describe('smpp worker: a carrier that breaks the stream', () => {
  const half = pdu(0x15, 0, 7).subarray(0, 9);
  const CUT: readonly (readonly [what: string, act: (evil: HostileCarrier) => void])[] = [
    ['a length of 0', (evil) => evil.send(Buffer.from('00000000000000150000000000000001', 'hex'))],
    ['a length of 15', (evil) => evil.send(Buffer.from('0000000f0000001500000000000000', 'hex'))],
    ['a length of 2^31', (evil) => evil.send(Buffer.from('80000000000000150000000000000001', 'hex'))],
    ['a length of all ones', (evil) => evil.send(Buffer.from('ffffffff000000150000000000000001', 'hex'))],
    ['a PDU of 70,001 octets', (evil) => evil.send(pdu(DELIVER, 0, 7, Buffer.alloc(69_985)))],
    ['a bad length behind good PDUs', (evil) => evil.send(Buffer.concat([pdu(0x15, 0, 7), Buffer.alloc(4)]))],
    [
      'half a frame and the end',
      (evil) => {
        evil.send(half);
        evil.hangUp();
      },
    ],
    ['half a frame and silence', (evil) => evil.send(half)],
    ['a megabyte of noise', (evil) => evil.send(Buffer.alloc(1_048_576, 'noise '))],
    [
      'a thousand unbinds',
      (evil) => evil.send(Buffer.concat(Array.from({ length: 1_000 }, (_, i) => pdu(0x06, 0, i)))),
    ],
  ];
  for (const [what, act] of CUT) {
    it(`${what}: the bind recovers, the other carrier notices nothing`, async () => {
      const scene = await openScene();
      try {
        await scene.world.reaches(await scene.sendEvil(), 'sent');

        act(scene.evil);
        await scene.othersWork();
        await eventually(() => scene.evil.binds() >= 2, 'it binds again');

        await scene.world.reaches(await scene.sendEvil(), 'sent');
        expect(scene.world.smsc.stats().binds).to.equal(1);
      } finally {
        await scene.close();
      }
    });
  }
});

describe('smpp worker: a carrier that sends nonsense in good frames', () => {
  const scene = use(openScene);

  const many = (count: number, make: (i: number) => Buffer): Buffer =>
    Buffer.concat(Array.from({ length: count }, (_, i) => make(i)));

  /** `answer`: the command that answers each of the PDUs, `times` in all. */
  const ROWS: readonly (readonly [what: string, bytes: Buffer, answer?: number, times?: number])[] = [
    ['a TLV longer than its PDU', pdu(DELIVER, 0, 9, `${DELIVER_HEAD} 00 001e ffff 41`), DELIVER_RESP, 1],
    ['half the header of a TLV', pdu(DELIVER, 0, 9, `${DELIVER_HEAD} 00 001e 00`), DELIVER_RESP, 1],
    ['1,000 empty TLVs', pdu(DELIVER, 0, 9, `${DELIVER_HEAD} 00 ${'1400 0000'.repeat(1_000)}`), DELIVER_RESP, 1],
    ['a text that is longer than its PDU', pdu(DELIVER, 0, 9, `${DELIVER_HEAD} ff 6964`), DELIVER_RESP, 1],
    ['an address without end', pdu(DELIVER, 0, 9, `00 01 01 ${'39'.repeat(60_000)}`), DELIVER_RESP, 1],
    ['a deliver_sm without a body', pdu(DELIVER, 0, 9), DELIVER_RESP, 1],
    ['every command from 0 to 255 that there is not', many(256, (i) => pdu(0x200 + i, 0, i)), NACK, 256],
    ['binds from the wrong side', many(3, (i) => pdu([1, 2, 9][i] ?? 1, 0, i, '00')), NACK, 3],
    ['20,000 enquire_link', many(20_000, (i) => pdu(0x15, 0, i)), ENQUIRE_RESP, 20_000],
    ['20,000 generic_nack to nothing', many(20_000, (i) => pdu(NACK, 3, 0x70000000 + i))],
    ['20,000 answers to nothing', many(20_000, (i) => pdu(SUBMIT_RESP, 0, 0x70000000 + i, '4142 00'))],
    ['answers of binds and unbinds nobody asked for', many(6, (i) => pdu(0x80000001 + i, 0, i))],
    [
      '2,000 receipts of nobody',
      many(2_000, (i) => receiptPdu(i, `id:none${i} stat:DELIVRD err:000`)),
      DELIVER_RESP,
      2_000,
    ],
    [
      '2,000 messages of a handset',
      many(2_000, (i) => pdu(DELIVER, 0, i, '00 0000 00 0000 00 00 00 00 00 00 00 00 00 00 02 6869')),
      DELIVER_RESP,
      2_000,
    ],
    ['PDUs with a status where requests have none', many(10, (i) => pdu(0x15, 0xffffffff, i)), ENQUIRE_RESP, 10],
  ];
  for (const [what, bytes, answer, times = 0] of ROWS) {
    it(`${what}: the link stays, the other carrier notices nothing`, async () => {
      await scene.world.reaches(await scene.sendEvil(), 'sent');
      const binds = scene.evil.binds();
      const answers = (): number => scene.evil.heard().filter((command) => command === answer).length;
      const before = answers();

      scene.evil.send(bytes);
      await scene.othersWork();
      if (answer !== undefined) await eventually(() => answers() - before >= times, `${times} answers`, 150_000);

      await scene.world.reaches(await scene.sendEvil(), 'sent');
      expect(answers() - before).to.equal(times);
      expect(scene.evil.binds()).to.equal(binds);
    });
  }

  const TEXTS: readonly (readonly [what: string, text: Buffer])[] = [
    ['a query', Buffer.from('id:{"$gt":""} stat:DELIVRD err:000')],
    ['a name of every object', Buffer.from('id:__proto__ stat:constructor err:toString')],
    ['a dot and a dollar', Buffer.from('id:$where.a stat:DELIVRD err:$ne')],
    ['line breaks and escapes', Buffer.from('id:1\r\n\x1b[2J"}\u0000 stat:DELIVRD err:000\n{"level":50}')],
    ['250 colons', Buffer.alloc(250, ':')],
    ['250 blanks', Buffer.alloc(250, ' ')],
    ['125 times "id:"', Buffer.from('id: '.repeat(62))],
    ['all octets', Buffer.from(Array.from({ length: 250 }, (_, i) => 255 - i))],
    ['a date beyond time', Buffer.from('id:77 stat:DELIVRD done date:9999999999 err:000')],
    ['a number without end', Buffer.from(`id:${'9'.repeat(200)} stat:DELIVRD`)],
  ];
  for (const [what, text] of TEXTS) {
    it(`a receipt with ${what} is answered, and settles nothing of others`, async () => {
      const sent = await scene.world.reaches(await scene.sendEvil(), 'sent');
      const answers = (): number => scene.evil.heard().filter((command) => command === DELIVER_RESP).length;
      const before = answers();

      scene.evil.send(receiptPdu(9, text));
      await eventually(() => answers() > before, 'it is answered');

      expect((await scene.world.message(sent._id)).state).to.equal('sent');
      const kept = await scene.world.db.collection<OrphanDocument>('orphans').find().toArray();
      expect(JSON.stringify(kept)).not.to.match(/"\$/);
    });
  }
});

describe('smpp worker: a carrier that lies in its answers', () => {
  let scene: Scene | undefined;
  afterEach(async () => {
    await scene?.close();
    scene = undefined;
  });

  for (const [what, id] of [
    ['of 200 octets', Buffer.from(`${'a'.repeat(200)}\0`)],
    ['of 60 KB', Buffer.alloc(60_000, 'b')],
    ['without its end', Buffer.from('abc')],
    ['of all octets', Buffer.from(Array.from({ length: 256 }, (_, i) => 255 - i))],
    ['with a query', Buffer.from('{"$gt":""}\0')],
    ['that is not there', Buffer.alloc(0)],
  ] as const) {
    it(`a message id ${what}: the message is sent, and its receipt finds it or is kept`, async () => {
      scene = await openScene({ answer: (sequence) => pdu(SUBMIT_RESP, 0, sequence, id) });

      const message = await scene.world.reaches(await scene.sendEvil(), 'sent');

      for (const part of message.parts ?? []) expect(String(part.key ?? '').length).to.be.at.most(70);
      scene.evil.send(
        receiptPdu(1, Buffer.concat([Buffer.from('id:'), id.subarray(0, 65), Buffer.from(' stat:DELIVRD')])),
      );
      await eventually(() => scene?.evil.heard().includes(DELIVER_RESP), 'the receipt is answered');
      await scene.othersWork();
      expect(scene.evil.binds()).to.equal(1);
    });
  }

  it('answers to the wrong numbers: the submits are unknown, none is sent twice, the link and others go on', async () => {
    scene = await openScene({ answer: (sequence) => pdu(SUBMIT_RESP, 0, sequence + 0x1000000, '41 00') });
    const { world, evil } = scene;

    const id = await scene.sendEvil();
    await eventually(async () => (await world.message(id)).outcome === 'unknown', 'its outcome is unknown');
    await scene.othersWork();

    expect(evil.heard().filter((command) => command === 0x04)).to.have.length(1);
    expect(evil.binds()).to.equal(1);
  });

  it('every submit answered twice and nacked besides: it counts once', async () => {
    scene = await openScene({
      answer: (sequence) => {
        const answer = pdu(SUBMIT_RESP, 0, sequence, Buffer.from(`id${sequence}\0`));
        return Buffer.concat([answer, answer, pdu(NACK, 8, sequence), pdu(SUBMIT_RESP, 0x14, sequence)]);
      },
    });

    const message = await scene.world.reaches(await scene.sendEvil(), 'sent');
    await scene.othersWork();

    expect((await scene.world.message(message._id)).state).to.equal('sent');
    expect(scene.evil.binds()).to.equal(1);
  });

  it('nonsense before and behind the answer to the bind: it binds all the same', async () => {
    scene = await openScene({
      beforeBind: () =>
        Buffer.concat([receiptPdu(1, 'id:1 stat:DELIVRD'), pdu(SUBMIT_RESP, 0, 1, '41 00'), pdu(NACK, 3, 0x7ffffff)]),
      withBind: () => Buffer.concat([pdu(0x80000009, 5, 1), receiptPdu(2, 'id:2 stat:DELIVRD'), pdu(0x999, 0, 3)]),
    });

    await scene.world.reaches(await scene.sendEvil(), 'sent');

    const { evil } = scene;
    await eventually(() => [DELIVER_RESP, NACK].every((one) => evil.heard().includes(one)), 'the nonsense is answered');
    expect(evil.binds()).to.equal(1);
  });

  it('a carrier that asks and does not read the answers is cut off before they fill the memory', async () => {
    scene = await openScene();
    const { evil } = scene;
    const flood = Buffer.concat(Array.from({ length: 20_000 }, (_, i) => pdu(0x15, 0, i)));

    evil.setDeaf(true);
    for (let i = 0; i < 60; i++) evil.send(flood);
    await scene.othersWork();
    await eventually(() => evil.binds() >= 2, 'it binds again');

    await scene.world.reaches(await scene.sendEvil(), 'sent');
    expect(evil.heard()).not.to.include(UNBIND_RESP);
  });
});
