import type { DeliverSm } from '../../../scripts/simulator/smsc/mailboxes.ts';
import type { MessageState } from '../../../shared/messages/document/message.ts';
import { QUICK, worldPerTest } from '../../support/smpp-world.ts';

const MESSAGE_STATE = 0x0427;
const MESSAGE_PAYLOAD = 0x0424;

type Spoil = (receipt: DeliverSm) => Partial<DeliverSm>;

const prefixed =
  (hex: string): Spoil =>
  ({ userData }) => ({ userData: Buffer.concat([Buffer.from(hex, 'hex'), userData]) });
const ucs2 =
  (dataCoding: number, order: 'le' | 'be', mark = ''): Spoil =>
  ({ userData }) => {
    const octets = Buffer.from(userData.toString('latin1'), 'utf16le');
    return {
      dataCoding,
      userData: Buffer.concat([Buffer.from(mark, 'hex'), order === 'be' ? octets.swap16() : octets]),
    };
  };
const state =
  (...octets: readonly number[]): Spoil =>
  ({ tlvs }) => ({ tlvs: new Map([...tlvs, [MESSAGE_STATE, Buffer.from(octets)]]) });
const inPayload =
  (spoil: Spoil, shortMessage = ''): Spoil =>
  (receipt) => {
    const { userData, tlvs } = { ...receipt, ...spoil(receipt) };
    return { userData: Buffer.from(shortMessage, 'hex'), tlvs: new Map([...tlvs, [MESSAGE_PAYLOAD, userData]]) };
  };

describe('smpp worker: receipts as faulty carriers write them', () => {
  const open = worldPerTest();

  type Row = readonly [what: string, stat: string, spoil: Spoil, becomes: MessageState];
  const ROWS: readonly Row[] = [
    ['message_state 0 beside DELIVRD', 'DELIVRD', state(0), 'delivered'],
    ['message_state 0 beside UNDELIV', 'UNDELIV', state(0), 'failed'],
    ['message_state 0 beside EXPIRED', 'EXPIRED', state(0), 'expired'],
    ['message_state 99 beside REJECTD', 'REJECTD', state(99), 'rejected'],
    ['message_state 6 (ACCEPTED) beside DELIVRD', 'DELIVRD', state(6), 'delivered'],
    ['message_state 2 (DELIVERED) beside ENROUTE', 'ENROUTE', state(2), 'delivered'],
    ['message_state 5 (UNDELIVERABLE) beside DELIVRD', 'DELIVRD', state(5), 'failed'],
    ['message_state 2 in two octets beside ENROUTE', 'ENROUTE', state(0, 2), 'delivered'],
    ['a NUL first', 'DELIVRD', prefixed('00'), 'delivered'],
    ['a header first, without the bit that announces one', 'UNDELIV', prefixed('050003a70201'), 'failed'],
    ['UTF-16 with a mark, big-endian', 'EXPIRED', ucs2(8, 'be', 'feff'), 'expired'],
    ['UTF-16 with a mark, little-endian', 'DELIVRD', ucs2(0, 'le', 'fffe'), 'delivered'],
    ['UTF-16 with a NUL first', 'REJECTD', ucs2(8, 'be', '00'), 'rejected'],
    ['in message_payload with a NUL first', 'DELIVRD', inPayload(prefixed('00')), 'delivered'],
    ['in message_payload beside a NUL as short_message', 'UNDELIV', inPayload(() => ({}), '00'), 'failed'],
    [
      'in message_payload beside other words',
      'EXPIRED',
      inPayload(() => ({}), Buffer.from('hi').toString('hex')),
      'expired',
    ],
  ];
  for (const tlvs of [false, true]) {
    it(`${ROWS.length} kinds, ${tlvs ? 'with' : 'without'} the TLVs that say the same`, async () => {
      const rows = ROWS.filter(([what]) => tlvs || !what.startsWith('message_state'));
      const world = await open({
        carrier: QUICK,
        smsc: {
          behaviour: ({ to }) => {
            const [, stat = '', spoil] = rows[Number(to.slice(-3))] ?? [];
            return { receipts: [{ stat, tlvs, ...(spoil && { spoil }) }] };
          },
        },
      });

      const ids = await world.sendMany(rows.map((_, i) => ({ to: `919876543${String(i).padStart(3, '0')}` })));

      for (const [i, [what, , , becomes]] of rows.entries()) {
        const message = await world.reaches(ids[i] ?? expect.fail('sent'), becomes);
        expect(message.state, what).to.equal(becomes);
      }
    });
  }

  for (const idForm of ['mixed-upper', 'mixed-lower'] as const) {
    it(`ids with letters of both cases, ${idForm}: each receipt finds its message, the very first one too`, async () => {
      const world = await open({ carrier: QUICK, smsc: { idForm } });

      const ids = await world.sendMany(['000', '000', '101', '103'].map((end) => ({ to: `919876500${end}` })));

      for (const [i, becomes] of (['delivered', 'delivered', 'failed', 'rejected'] as const).entries()) {
        await world.reaches(ids[i] ?? expect.fail('sent'), becomes);
      }
    });
  }
});
