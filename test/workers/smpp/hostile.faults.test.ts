import fc from 'fast-check';
import { eventually } from '../../support/eventually.ts';
import { openWorld, QUICK, type World } from '../../support/smpp-world.ts';

/** A PDU from hexadecimal, with its correct length. */
function pdu(command: string, status: string, sequence: string, body = ''): Buffer {
  const rest = Buffer.from([command, status, sequence, body].join('').replaceAll(' ', ''), 'hex');
  const frame = Buffer.alloc(4 + rest.length);
  frame.writeUInt32BE(frame.length);
  rest.copy(frame, 4);
  return frame;
}

const NACK = 0x80000000;
const DELIVER_RESP = 0x80000005;

/** Streams that are not SMPP, after which no PDU's start is known. */
const BROKEN: readonly (readonly [string, Buffer])[] = [
  ['a length of 0', Buffer.from('00000000000000150000000000000001', 'hex')],
  ['a length of 4', Buffer.from('00000004', 'hex')],
  ['a length of 15', Buffer.from('0000000f0000001500000000000000', 'hex')],
  ['a length above every PDU', Buffer.from('00011171000000150000000000000001', 'hex')],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
];

/** Well-framed PDUs with wrong content: refused or ignored, and the link stays. */
const ODD: readonly (readonly [string, Buffer, number | undefined])[] = [
  ['an unknown command', pdu('00000999', '00000000', '00000063'), NACK],
  ['a submit_sm from the carrier', pdu('00000004', '00000000', '00000063'), NACK],
  [
    'a TLV of one octet that has none, at the end',
    pdu('00000005', '00000000', '00000063', '00 0000 00 0000 00 04 0000 00 00 00 00 00 00 00 0427 0000'),
    DELIVER_RESP,
  ],
  ['a deliver_sm without a body', pdu('00000005', '00000000', '00000063'), DELIVER_RESP],
  [
    'a deliver_sm that ends in its first address',
    pdu('00000005', '00000000', '00000063', '00 01 01 3931'),
    DELIVER_RESP,
  ],
  [
    'a text longer than its PDU',
    pdu('00000005', '00000000', '00000063', '00 0000 00 0000 00 04 0000 00 00 00 00 00 00 ff 6964'),
    DELIVER_RESP,
  ],
  [
    'a receipt with a date that is none',
    pdu('00000005', '00000000', '00000063', '00 0000 00 0000 00 04 0000 3052 00 3052 00 00 00 00 00 00'),
    DELIVER_RESP,
  ],
  ['an answer to nothing', pdu('80000004', '00000000', '00ffffff', '4142 00'), undefined],
  ['a generic_nack to nothing', pdu('80000000', '00000003', '00000000'), undefined],
  ['an answer with a sequence of all ones', pdu('80000015', '00000000', 'ffffffff'), undefined],
  ['an alert_notification', pdu('00000102', '00000000', '00000063', '01 01 3931 00 01 01 3931 00'), undefined],
];

describe('smpp worker: hostile bytes', () => {
  let world: World;
  /** Command and status of what the worker sent, except what every session sends. */
  let heard: { readonly command: number; readonly status: number }[];
  before(async () => {
    world = await openWorld({
      carrier: { ...QUICK, enquireLinkMs: 60_000 },
      smsc: {
        deliverTries: 1,
        onFrame: (direction, bytes) => {
          if (direction === 'in') heard.push({ command: bytes.readUInt32BE(4), status: bytes.readUInt32BE(8) });
        },
      },
    });
  });
  beforeEach(() => {
    heard = [];
  });
  after(() => world.close());

  const works = async (): Promise<void> => {
    await world.reaches(await world.send({ to: '919876500000' }), 'delivered');
  };

  for (const [what, bytes, answer] of ODD) {
    it(`${what}: ${answer === undefined ? 'is ignored' : 'is answered'}, and the link stays`, async () => {
      await works();
      const { binds } = world.smsc.stats();
      heard = [];

      world.smsc.inject(bytes);
      if (answer !== undefined)
        await eventually(() => heard.some(({ command }) => command === answer), 'it is answered');
      await works();

      expect(world.smsc.stats().binds).to.equal(binds);
      if (answer === NACK) expect(heard.find(({ command }) => command === NACK)?.status).not.to.equal(0);
    });
  }

  it('an answer of another command does not count as that of a submit with its number', async () => {
    await works();
    const sequences = Array.from({ length: 40 }, (_, i) => i + 1);

    for (const sequence of sequences) {
      world.smsc.inject(pdu('80000015', '00000000', sequence.toString(16).padStart(8, '0')));
    }

    await works();
  });

  it('a frame that comes octet by octet is a frame', async () => {
    await works();
    heard = [];

    for (const octet of pdu('00000015', '00000000', '00000063')) {
      world.smsc.inject(Buffer.from([octet]));
      await new Promise((resolve) => setImmediate(resolve));
    }

    await eventually(() => heard.some(({ command }) => command === 0x80000015), 'enquire_link_resp');
  });

  it('any deliver_sm at all is answered or cut off, and the worker works on', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 120 }), async (body) => {
        await eventually(() => world.smsc.sessions().some(({ kind }) => kind === 'transceiver'), 'it is bound');
        world.smsc.inject(pdu('00000005', '00000000', '00000063', Buffer.from(body).toString('hex')));
      }),
      { numRuns: 200 },
    );

    await works();
  });
});

describe('smpp worker: streams that are no SMPP', () => {
  for (const [what, bytes] of BROKEN) {
    it(`${what}: the link is cut and bound again`, async () => {
      const world = await openWorld();
      try {
        await world.reaches(await world.send({ to: '919876500000' }), 'delivered');

        world.smsc.inject(bytes);
        await eventually(() => world.smsc.stats().binds === 2, 'it binds again');

        await world.reaches(await world.send({ to: '919876501000' }), 'delivered');
      } finally {
        await world.close();
      }
    });
  }
});
