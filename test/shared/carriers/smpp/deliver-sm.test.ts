import fc from 'fast-check';
import { type Deliver, decodeDeliver } from '../../../../shared/carriers/smpp/deliver-sm.ts';
import { COMMAND, decodeFields, decodeMessageId } from '../../../../shared/carriers/smpp/pdu.ts';

const { deliverSm, dataSm } = COMMAND;

function frameOf(command: number, body: Buffer): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(16 + body.length, 0);
  header.writeUInt32BE(command, 4);
  return Buffer.concat([header, body]);
}

function tlv(tag: number, value: Uint8Array, length = value.length): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(tag, 0);
  head.writeUInt16BE(length, 2);
  return Buffer.concat([head, value]);
}

function mandatory(command: number, values: { readonly octets: readonly number[]; readonly text: Uint8Array }): Buffer {
  const { octets, text } = values;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = octets;
  const cString = Buffer.from('98198\0');
  const common = [Buffer.from('CMT\0'), [a, b], cString, [c, d], Buffer.from('HARKRA\0'), [e]];
  const rest =
    command === dataSm ? [[1, f]] : [[1, 2], Buffer.from('260101000000000R\0'), Buffer.from('\0'), [1, 0, f, 0]];
  const message = command === dataSm ? [] : [[text.length], text];
  return Buffer.concat([...common, ...rest, ...message].map((part) => Uint8Array.from(part)));
}

/** The result of the package `smpp`, whose codec shares nothing with our reader. */
function byCodec(frame: Buffer): Omit<Deliver, 'otherTlvs'> {
  const fields = decodeFields(frame);
  const text = (value: unknown): string => (typeof value === 'string' ? (value.split('\0')[0] ?? '') : '');
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  const octets = (value: unknown): Buffer => (Buffer.isBuffer(value) ? value : Buffer.alloc(0));
  const [shortMessage, payload] = [octets(fields.short_message), octets(fields.message_payload)];
  const reference = number(fields.sar_msg_ref_num);
  const [total, part] = [number(fields.sar_total_segments), number(fields.sar_segment_seqnum)];
  return {
    from: text(fields.source_addr),
    fromTon: number(fields.source_addr_ton),
    to: text(fields.destination_addr),
    esmClass: number(fields.esm_class) ?? 0,
    dataCoding: number(fields.data_coding) ?? 0,
    body: payload.length > shortMessage.length ? payload : shortMessage,
    sar:
      reference === undefined || total === undefined || part === undefined
        ? undefined
        : { reference, total, number: part },
    receiptedMessageId: text(fields.receipted_message_id) || undefined,
    messageState: number(fields.message_state),
    networkErrorCode: Buffer.isBuffer(fields.network_error_code) ? fields.network_error_code : undefined,
  };
}

describe('reading deliver_sm and data_sm', () => {
  const octets = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const some = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((value) => tlv(0x001e, value)),
    fc.uint8Array({ maxLength: 300 }).map((value) => tlv(0x0424, value)),
    fc.uint8Array({ maxLength: 5 }).map((value) => tlv(0x0423, value)),
    fc.uint8Array({ maxLength: 9 }).map((value) => tlv(0x1400, value)),
    octets(2).map((value) => tlv(0x020c, value)),
    fc.constantFrom(0x020e, 0x020f, 0x0427).chain((tag) => octets(1).map((value) => tlv(tag, value))),
  );
  const head = fc.record({
    octets: fc.array(fc.nat(255), { minLength: 6, maxLength: 6 }),
    text: fc.uint8Array({ maxLength: 255 }),
  });

  it('reads what the codec reads, whatever the values and the order of the optional parameters', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(deliverSm, dataSm),
        head,
        fc.array(some, { maxLength: 8 }),
        (command, values, tlvs) => {
          const frame = frameOf(command, Buffer.concat([mandatory(command, values), ...tlvs]));

          const { otherTlvs = [], ...read } = decodeDeliver(frame);
          expect(read).to.deep.equal(byCodec(frame));
          const unread = tlvs.filter((one) => one.readUInt16BE(0) === 0x1400).slice(0, 8);
          expect(otherTlvs.map(({ tag, value }) => tlv(tag, value))).to.deep.equal(unread);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('reads what the codec reads of a frame that ends before its message does', () => {
    for (const command of [deliverSm, dataSm]) {
      const whole = mandatory(command, { octets: [1, 1, 5, 0, 4, 8], text: Buffer.from('id:1 stat:DELIVRD') });
      for (let length = 0; length < whole.length; length++) {
        const frame = frameOf(command, whole.subarray(0, length));

        const { otherTlvs, ...read } = decodeDeliver(frame);
        expect(read, `${length} octets`).to.deep.equal(byCodec(frame));
        expect(otherTlvs).to.equal(undefined);
      }
    }
  });

  describe('an optional parameter that is shorter than its number', () => {
    const after = tlv(0x001e, Buffer.from('abc'));
    const CASES = [
      ['without an octet', tlv(0x0427, Buffer.alloc(0))],
      ['behind the end of the frame', undefined],
    ] as const;
    for (const [what, empty] of CASES) {
      it(`${what}: it is absent, and the others are read`, () => {
        const parts = empty === undefined ? [after, tlv(0x0427, Buffer.alloc(0), 1)] : [empty, after];
        const values = { octets: [1, 1, 5, 0, 4, 8], text: Buffer.from('x') };
        const frame = frameOf(deliverSm, Buffer.concat([mandatory(deliverSm, values), ...parts]));

        expect(decodeDeliver(frame)).to.include({ messageState: undefined, receiptedMessageId: 'abc' });
      });
    }

    it('a reference of one octet: the message is not taken for a part', () => {
      const parts = [tlv(0x020c, Buffer.from([7])), tlv(0x020e, Buffer.from([2])), tlv(0x020f, Buffer.from([1]))];
      const values = { octets: [1, 1, 5, 0, 4, 8], text: Buffer.from('x') };
      const frame = frameOf(deliverSm, Buffer.concat([mandatory(deliverSm, values), ...parts]));

      expect(decodeDeliver(frame).sar).to.equal(undefined);
    });
  });

  it('of a short_message and a message_payload the longer is read: the other is a NUL, a placeholder or a beginning', () => {
    const bodyOf = (short: string, payload?: string) => {
      const values = { octets: [1, 1, 5, 0, 4, 0], text: Buffer.from(short) };
      const tlvs = payload === undefined ? [] : [tlv(0x0424, Buffer.from(payload))];
      return decodeDeliver(frameOf(deliverSm, Buffer.concat([mandatory(deliverSm, values), ...tlvs]))).body.toString();
    };

    expect(bodyOf('\0')).to.equal('\0');
    for (const short of ['', '\0', '\0\0', ' ', 'see below', 'id:1 sub:001'])
      expect(bodyOf(short, 'id:1 sub:001 stat:DELIVRD')).to.equal('id:1 sub:001 stat:DELIVRD');
    for (const payload of ['', '\0', 'text'])
      expect(bodyOf('id:1 stat:DELIVRD', payload)).to.equal('id:1 stat:DELIVRD');
  });

  it('a message_state in one, two or four octets of either byte order is the octet that is not zero', () => {
    const values = { octets: [1, 1, 5, 0, 4, 0], text: Buffer.from('x') };
    for (const [hex, state] of [
      ['02', 2],
      ['0002', 2],
      ['0200', 2],
      ['00000005', 5],
      ['00', 0],
      ['0000', 0],
    ] as const) {
      const frame = frameOf(
        deliverSm,
        Buffer.concat([mandatory(deliverSm, values), tlv(0x0427, Buffer.from(hex, 'hex'))]),
      );

      expect(decodeDeliver(frame).messageState, hex).to.equal(state);
    }
  });

  it('reads the id of a submit_sm_resp, with and without its NUL, or none', () => {
    const idOf = (body: string) => decodeMessageId(frameOf(0x80000004, Buffer.from(body)));

    expect([idOf('abc\0'), idOf('abc'), idOf('abc\0def'), idOf('\0'), idOf('')]).to.deep.equal([
      'abc',
      'abc',
      'abc',
      '',
      '',
    ]);
  });
});
