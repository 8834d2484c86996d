import { COMMAND, HEADER_OCTETS, textIn } from './pdu.ts';

/**
 * Reads deliver_sm and data_sm (SMPP 3.4 §4.6.1, §4.7.1) straight from the frame. Receipts are the PDU that we read
 * most, and the codec takes six times as long. The codec also reads beyond the end of an optional parameter that is too
 * short.
 */

/** The sar_ parameters (§5.3.2.22 to §5.3.2.24): which part of which message this is. */
export interface Sar {
  readonly reference: number;
  readonly total: number;
  readonly number: number;
}

/** The fields of a deliver_sm or data_sm. If the frame ends early, the fields after its end are empty. */
export interface Deliver {
  readonly from: string;
  /** Type of number of `from` (§5.2.5). 0 if the carrier sent none. */
  readonly fromTon?: number | undefined;
  readonly to: string;
  readonly esmClass: number;
  readonly dataCoding: number;
  /** short_message or message_payload: the shorter holds a NUL, a placeholder or only the beginning. */
  readonly body: Buffer;
  readonly sar?: Sar | undefined;
  readonly receiptedMessageId?: string | undefined;
  readonly messageState?: number | undefined;
  /** One octet for the type of network, then two for the error code (§5.3.2.31). */
  readonly networkErrorCode?: Buffer | undefined;
  /** The first TLVs that we do not read, a carrier's own (0x1400 to 0x3FFF) among them. */
  readonly otherTlvs?: readonly OtherTlv[] | undefined;
}

export interface OtherTlv {
  readonly tag: number;
  readonly value: Buffer;
}

const OTHERS_MAX = 8;
const OTHER_OCTETS_MAX = 64;

/** Optional parameters (§5.3.2). */
const TAG = {
  receiptedMessageId: 0x001e,
  sarReference: 0x020c,
  sarTotal: 0x020e,
  sarNumber: 0x020f,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;
const TLV_HEADER_OCTETS = 4;

/** Never throws: whatever can be read is used. */
export function decodeDeliver(frame: Buffer): Deliver {
  const reader = new Reader(frame);
  reader.cString(); // service_type
  const fromTon = reader.octet();
  reader.octet(); // source_addr_npi
  const from = reader.cString();
  reader.octet(); // dest_addr_ton
  reader.octet(); // dest_addr_npi
  const to = reader.cString();
  const esmClass = reader.octet() ?? 0;
  const isData = frame.readUInt32BE(4) === COMMAND.dataSm;
  if (!isData) {
    reader.octet(); // protocol_id
    reader.octet(); // priority_flag
    reader.cString(); // schedule_delivery_time
    reader.cString(); // validity_period
  }
  reader.octet(); // registered_delivery
  if (!isData) reader.octet(); // replace_if_present_flag
  const dataCoding = reader.octet() ?? 0;
  if (!isData) reader.octet(); // sm_default_msg_id
  const shortMessage = isData ? EMPTY : reader.octets();
  const tlvs = reader.tlvs();
  const { sarReference: reference, sarTotal: total, sarNumber: number } = tlvs;
  return {
    from,
    fromTon,
    to,
    esmClass,
    dataCoding,
    body: tlvs.messagePayload.length > shortMessage.length ? tlvs.messagePayload : shortMessage,
    sar:
      reference === undefined || total === undefined || number === undefined ? undefined : { reference, total, number },
    receiptedMessageId: tlvs.receiptedMessageId === '' ? undefined : tlvs.receiptedMessageId,
    messageState: tlvs.messageState,
    networkErrorCode: tlvs.networkErrorCode,
    otherTlvs: tlvs.others,
  };
}

const EMPTY = Buffer.alloc(0);

class Tlvs {
  receiptedMessageId = '';
  sarReference: number | undefined;
  sarTotal: number | undefined;
  sarNumber: number | undefined;
  networkErrorCode: Buffer | undefined;
  messagePayload: Buffer = EMPTY;
  messageState: number | undefined;
  others: OtherTlv[] | undefined;

  addOther(tag: number, value: Buffer): void {
    this.others ??= [];
    if (this.others.length < OTHERS_MAX) this.others.push({ tag, value });
  }
}

/** Fields beyond the end of the frame are absent. */
class Reader {
  readonly #frame: Buffer;
  #at = HEADER_OCTETS;

  constructor(frame: Buffer) {
    this.#frame = frame;
  }

  octet(): number | undefined {
    return this.#frame[this.#at++];
  }

  /** Without its NUL. One that is not terminated reaches to the end of the frame. */
  cString(): string {
    const begin = this.#at;
    const end = this.#frame.indexOf(0, begin);
    this.#at = end === -1 ? this.#frame.length + 1 : end + 1;
    return textIn(this.#frame, begin, this.#at - 1);
  }

  /** As many octets as the octet before them says; fewer if the frame ends. */
  octets(): Buffer {
    const length = this.octet() ?? 0;
    const begin = this.#at;
    this.#at += length;
    return length === 0 ? EMPTY : this.#frame.subarray(begin, begin + length);
  }

  /** The rest of the frame. Of two parameters with the same tag the last one counts. */
  tlvs(): Tlvs {
    const tlvs = new Tlvs();
    const frame = this.#frame;
    while (this.#at + TLV_HEADER_OCTETS <= frame.length) {
      const tag = frame.readUInt16BE(this.#at);
      const begin = this.#at + TLV_HEADER_OCTETS;
      const end = begin + frame.readUInt16BE(this.#at + 2);
      this.#at = end;
      // Many carriers leave out the NUL.
      if (tag === TAG.receiptedMessageId) tlvs.receiptedMessageId = textIn(frame, begin, end);
      else if (tag === TAG.messageState) tlvs.messageState = stateIn(frame, begin, end);
      else if (tag === TAG.networkErrorCode) tlvs.networkErrorCode = frame.subarray(begin, end);
      else if (tag === TAG.messagePayload) tlvs.messagePayload = frame.subarray(begin, end);
      else if (tag === TAG.sarReference) tlvs.sarReference = twoOctetsIn(frame, begin, end);
      else if (tag === TAG.sarTotal) tlvs.sarTotal = octetIn(frame, begin, end);
      else if (tag === TAG.sarNumber) tlvs.sarNumber = octetIn(frame, begin, end);
      else tlvs.addOther(tag, frame.subarray(begin, Math.min(end, begin + OTHER_OCTETS_MAX)));
    }
    return tlvs;
  }
}

function octetIn(frame: Buffer, begin: number, end: number): number | undefined {
  return begin < end ? frame[begin] : undefined;
}

/** A state has one octet, but some carriers write two or four, in either byte order. */
function stateIn(frame: Buffer, begin: number, end: number): number | undefined {
  const octets = frame.subarray(begin, end);
  return octets.find((octet) => octet !== 0) ?? octets[0];
}

function twoOctetsIn(frame: Buffer, begin: number, end: number): number | undefined {
  return begin + 2 <= Math.min(end, frame.length) ? frame.readUInt16BE(begin) : undefined;
}
