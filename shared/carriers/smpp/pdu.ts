import smpp from 'smpp';

/** Only this file imports `smpp`, and only its codec (SMPP 3.4 §3.2, §4): the rest hangs or throws on hostile input. */

/** SMPP 3.4 §5.1.2.1. A response has the request's id with the highest bit set. */
export const COMMAND = {
  genericNack: 0x80000000,
  bindReceiver: 0x00000001,
  bindTransmitter: 0x00000002,
  bindTransceiver: 0x00000009,
  submitSm: 0x00000004,
  deliverSm: 0x00000005,
  unbind: 0x00000006,
  enquireLink: 0x00000015,
  alertNotification: 0x00000102,
  outbind: 0x0000000b,
  dataSm: 0x00000103,
} as const;

export const HEADER_OCTETS = 16;
/** A message_payload may have up to 64 KiB (SMPP 3.4 §5.3.2.32). */
export const MAX_PDU_OCTETS = 70_000;

export interface PduHeader {
  readonly command: number;
  readonly status: number;
  readonly sequence: number;
}

export type BindCommand = 'bind_transceiver' | 'bind_transmitter' | 'bind_receiver';

/** Named as in SMPP 3.4 §4.1. */
export interface BindFields {
  readonly system_id: string;
  readonly password: string;
  readonly system_type: string;
  readonly interface_version: number;
  readonly addr_ton: number;
  readonly addr_npi: number;
  readonly address_range: string;
}

const codec = prepareCodec();

/** Throws RangeError when the frame is shorter than a header. */
export function readHeader(frame: Buffer): PduHeader {
  return { command: frame.readUInt32BE(4), status: frame.readUInt32BE(8), sequence: frame.readUInt32BE(12) };
}

export function isResponse(command: number): boolean {
  return command >= COMMAND.genericNack;
}

export function responseOf(command: number): number {
  return (command | COMMAND.genericNack) >>> 0;
}

export function encodeBind(command: BindCommand, sequence: number, fields: BindFields): Buffer {
  return new codec.PDU(command, { ...fields, sequence_number: sequence }).toBuffer();
}

/** For enquire_link, unbind, their responses, and generic_nack. */
export function encodeHeaderOnly(header: PduHeader): Buffer {
  return encodeEmpty(header, 0);
}

/** A deliver_sm_resp or data_sm_resp. Its body is an empty message_id (§4.6.2, §4.7.2), also with an error status. */
export function encodeDeliverAnswer(request: PduHeader, status: number): Buffer {
  const answer = { command: responseOf(request.command), status, sequence: request.sequence };
  return encodeEmpty(answer, 1);
}

/** A PDU whose body is `octets` octets of zero. */
function encodeEmpty({ command, status, sequence }: PduHeader, octets: number): Buffer {
  const frame = Buffer.alloc(HEADER_OCTETS + octets);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(command, 4);
  frame.writeUInt32BE(status, 8);
  frame.writeUInt32BE(sequence, 12);
  return frame;
}

/** The message_id of a submit_sm_resp (§4.4.2). Empty when the carrier gave none. Never throws. */
export function decodeMessageId(frame: Buffer): string {
  return textIn(frame, HEADER_OCTETS, frame.length);
}

/** As ASCII, up to the first NUL. */
export function textIn(frame: Buffer, begin: number, end: number): string {
  // Decoded before the search: ASCII has seven bits, so 0x80 becomes a NUL too.
  const text = frame.toString('ascii', begin, end);
  const nul = text.indexOf('\0');
  return nul === -1 ? text : text.slice(0, nul);
}

/** For people; may contain secrets and message texts. Throws when the codec cannot read the PDU. */
export function decodeFields(frame: Buffer): Readonly<Record<string, unknown>> {
  const { command, command_length, command_id, command_status, sequence_number, ...fields } = new codec.PDU(frame);
  return fields;
}

function prepareCodec(): typeof smpp {
  smpp.PDU.maxLength = MAX_PDU_OCTETS;
  // The codec's filters turn octets into strings and dates by guessing. We read and write octets ourselves.
  for (const command of Object.values(smpp.commands)) {
    for (const field of Object.values(command.params ?? {})) delete field.filter;
  }
  for (const tlv of Object.values(smpp.tlvs)) delete tlv.filter;
  // The codec takes this for a C-string, but many carriers leave out the NUL: the codec would read on into the next
  // TLV.
  const receiptedMessageId = smpp.tlvs.receipted_message_id;
  if (receiptedMessageId !== undefined) receiptedMessageId.type = smpp.types.tlv.string;
  return smpp;
}
