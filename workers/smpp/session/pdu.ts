import smpp from 'smpp';

/**
 * PDUs as bytes (SMPP 3.4 §3.2, §4). Only this file imports the `smpp` package, and only for its codec. The package's session layer
 * and its conversions of text and time are not used: input that a peer chooses makes them stop the parser for ever, or throw.
 */

/** Command ids, SMPP 3.4 §5.1.2.1. A response has the highest bit set. */
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
/** A message_payload holds up to 64 KiB (SMPP 3.4 §5.3.2.32). */
export const MAX_PDU_OCTETS = 70_000;

export interface PduHeader {
  readonly command: number;
  readonly status: number;
  readonly sequence: number;
}

export type BindCommand = 'bind_transceiver' | 'bind_transmitter' | 'bind_receiver';

/** Fields of a bind, by their names in SMPP 3.4 §4.1. */
export interface BindFields {
  readonly system_id: string;
  readonly password: string;
  readonly system_type: string;
  readonly interface_version: number;
  readonly addr_ton: number;
  readonly addr_npi: number;
  readonly address_range: string;
}

/** Fields of submit_sm that we set, by their names in SMPP 3.4 §4.4.1; the others are null or 0. */
export interface SubmitFields {
  readonly service_type?: string;
  readonly source_addr_ton: number;
  readonly source_addr_npi: number;
  readonly source_addr: string;
  readonly dest_addr_ton: number;
  readonly dest_addr_npi: number;
  readonly destination_addr: string;
  readonly esm_class: number;
  readonly protocol_id?: number;
  readonly priority_flag?: number;
  /** Relative or absolute (§7.1.1), or empty. */
  readonly validity_period: string;
  readonly registered_delivery: number;
  readonly data_coding: number;
  /** User data header and text, at most 254 octets. */
  readonly short_message: Buffer;
  /** Behind the fields, in this order. */
  readonly tlvs?: readonly Tlv[];
}

/** An optional parameter (§5.3.1). Written by ourselves: the codec knows a tag by one name and type for all carriers. */
export interface Tlv {
  readonly tag: number;
  readonly value: Buffer;
}

/** The three sar_ parameters (§5.3.2.22 to 24): which part of which message it is. */
export interface Sar {
  readonly reference: number;
  readonly total: number;
  readonly number: number;
}

/** deliver_sm or data_sm as it came. Fields that the frame is too short for are empty. */
export interface Deliver {
  readonly from: string;
  /** Type of number of `from` (§5.2.5); 0 when absent. */
  readonly fromTon?: number;
  readonly to: string;
  readonly esmClass: number;
  readonly dataCoding: number;
  /** short_message, or message_payload when that is empty. */
  readonly body: Buffer;
  readonly sar?: Sar;
  readonly receiptedMessageId?: string;
  readonly messageState?: number;
  /** One octet of network type and two of code (§5.3.2.31). */
  readonly networkErrorCode?: Buffer;
}

const codec = prepareCodec();

/** Throws RangeError when the frame is shorter than a header. */
export function readHeader(frame: Buffer): PduHeader {
  return { command: frame.readUInt32BE(4), status: frame.readUInt32BE(8), sequence: frame.readUInt32BE(12) };
}

export function isResponse(command: number): boolean {
  return command >= COMMAND.genericNack;
}

/** The command id of the answer to a request. */
export function responseOf(command: number): number {
  return (command | COMMAND.genericNack) >>> 0;
}

export function encodeBind(command: BindCommand, sequence: number, fields: BindFields): Buffer {
  return new codec.PDU(command, { ...fields, sequence_number: sequence }).toBuffer();
}

/** With sequence number 0, for `setSequence`. Throws RangeError when the short message is longer than 254 octets. */
export function encodeSubmit({ tlvs = [], ...fields }: SubmitFields): Buffer {
  const frame = new codec.PDU('submit_sm', fields).toBuffer();
  if (tlvs.length === 0) return frame;
  const whole = Buffer.concat([frame, ...tlvs.flatMap(({ tag, value }) => [tlvHeader(tag, value.length), value])]);
  whole.writeUInt32BE(whole.length, 0);
  return whole;
}

function tlvHeader(tag: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(4);
  header.writeUInt16BE(tag, 0);
  header.writeUInt16BE(length, 2);
  return header;
}

export function setSequence(frame: Buffer, sequence: number): void {
  frame.writeUInt32BE(sequence, 12);
}

/** A PDU without a body: enquire_link, unbind, their answers, generic_nack. */
export function encodeHeaderOnly({ command, status, sequence }: PduHeader): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_OCTETS);
  frame.writeUInt32BE(HEADER_OCTETS, 0);
  frame.writeUInt32BE(command, 4);
  frame.writeUInt32BE(status, 8);
  frame.writeUInt32BE(sequence, 12);
  return frame;
}

/**
 * deliver_sm_resp or data_sm_resp: the body is an empty message_id (§4.6.2, §4.7.2), also when the status is an error: only
 * submit_sm_resp has no body then (§4.4.2).
 */
export function encodeDeliverAnswer(request: PduHeader, status: number): Buffer {
  const answer = { command: responseOf(request.command), status, sequence: request.sequence };
  const frame = Buffer.concat([encodeHeaderOnly(answer), Buffer.from([0])]);
  frame.writeUInt32BE(frame.length, 0);
  return frame;
}

/** Throws when the codec cannot read the body. */
export function decodeDeliver(frame: Buffer): Deliver {
  const pdu = new codec.PDU(frame);
  const shortMessage = bufferOf(pdu.short_message);
  const receiptedMessageId = textOf(pdu.receipted_message_id);
  return {
    from: textOf(pdu.source_addr),
    ...optional('fromTon', numberOf(pdu.source_addr_ton)),
    to: textOf(pdu.destination_addr),
    esmClass: numberOf(pdu.esm_class) ?? 0,
    dataCoding: numberOf(pdu.data_coding) ?? 0,
    body: shortMessage.length > 0 ? shortMessage : bufferOf(pdu.message_payload),
    ...optional('sar', sarOf(pdu)),
    ...(receiptedMessageId === '' ? {} : { receiptedMessageId }),
    ...optional('messageState', numberOf(pdu.message_state)),
    ...optional('networkErrorCode', Buffer.isBuffer(pdu.network_error_code) ? pdu.network_error_code : undefined),
  };
}

/** The message_id of submit_sm_resp; empty when the carrier gave none or its body cannot be read. */
export function decodeMessageId(frame: Buffer): string {
  if (frame.length <= HEADER_OCTETS) return '';
  try {
    return textOf(new codec.PDU(frame).message_id);
  } catch {
    return ''; // Accepted all the same: the status said so. Without an id its receipt finds it only by its addresses.
  }
}

/** Every field and TLV of a PDU, for people. Throws when the codec cannot read it. The values may hold secrets and texts. */
export function decodeFields(frame: Buffer): Readonly<Record<string, unknown>> {
  const { command, command_length, command_id, command_status, sequence_number, ...fields } = new codec.PDU(frame);
  return fields;
}

function prepareCodec(): typeof smpp {
  smpp.PDU.maxLength = MAX_PDU_OCTETS;
  // Filters turn text and times into strings and dates, by guess. We give and take octets.
  for (const command of Object.values(smpp.commands)) {
    for (const field of Object.values(command.params ?? {})) delete field.filter;
  }
  for (const tlv of Object.values(smpp.tlvs)) delete tlv.filter;
  // Declared as a C-string, but many carriers leave out the NUL: then it would read on into the next TLV.
  const receiptedMessageId = smpp.tlvs.receipted_message_id;
  if (receiptedMessageId !== undefined) receiptedMessageId.type = smpp.types.tlv.string;
  return smpp;
}

/** Up to the first NUL. */
function textOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  const end = value.indexOf('\0');
  return end === -1 ? value : value.slice(0, end);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function bufferOf(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function sarOf(pdu: Readonly<Record<string, unknown>>): Sar | undefined {
  const [reference, total, number] = [pdu.sar_msg_ref_num, pdu.sar_total_segments, pdu.sar_segment_seqnum].map(
    numberOf,
  );
  return reference === undefined || total === undefined || number === undefined
    ? undefined
    : { reference, total, number };
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [N in Name]?: Value } {
  const found: { [N in Name]?: Value } = {};
  if (value !== undefined) found[name] = value;
  return found;
}
