/** SMPP 3.4 values that the simulator uses, copied from the specification only, not from the product. */

/** command_id of requests (SMPP 3.4 §5.1.2.1). {@link responseTo} gives those of responses. */
export const COMMAND = {
  bindReceiver: 0x01,
  bindTransmitter: 0x02,
  querySm: 0x03,
  submitSm: 0x04,
  deliverSm: 0x05,
  unbind: 0x06,
  bindTransceiver: 0x09,
  enquireLink: 0x15,
  genericNack: 0x80000000,
} as const;

export function responseTo(command: number): number {
  return (command | COMMAND.genericNack) >>> 0;
}

/** command_status values (SMPP 3.4 §5.1.3) that the simulator answers with. */
export const STATUS = {
  ok: 0x00,
  invalidMessageLength: 0x01,
  invalidCommandLength: 0x02,
  invalidCommand: 0x03,
  invalidBindStatus: 0x04,
  alreadyBound: 0x05,
  systemError: 0x08,
  invalidSource: 0x0a,
  invalidDestination: 0x0b,
  invalidMessageId: 0x0c,
  bindFailed: 0x0d,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  messageQueueFull: 0x14,
  invalidServiceType: 0x15,
  throttled: 0x58,
  invalidSchedule: 0x61,
  invalidExpiry: 0x62,
  temporaryApplicationError: 0x64,
  queryFailed: 0x67,
  invalidTlvStream: 0xc0,
  tlvNotAllowed: 0xc1,
} as const;

/** Optional parameters (SMPP 3.4 §5.3.2) used by name. All others are kept as they came. */
export const TAG = {
  receiptedMessageId: 0x001e,
  sarReference: 0x020c,
  sarTotal: 0x020e,
  sarSequence: 0x020f,
  scInterfaceVersion: 0x0210,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;

/** message_state values (SMPP 3.4 §5.2.28) by their words in Appendix B. */
export const MESSAGE_STATE: Readonly<Record<string, number>> = {
  ENROUTE: 1,
  DELIVRD: 2,
  EXPIRED: 3,
  DELETED: 4,
  UNDELIV: 5,
  ACCEPTD: 6,
  UNKNOWN: 7,
  REJECTD: 8,
};

/** command_length, command_id, command_status, sequence_number (SMPP 3.4 §3.2). */
export const HEADER_OCTETS = 16;
/** A larger command_length ends the connection. */
const PDU_OCTETS_MAX = 70_000;

/**
 * Cuts a TCP stream into PDUs by command_length (SMPP 3.4 §3.2). Pieces of a PDU are joined once, so that a large PDU
 * in tiny pieces costs no more than its size.
 */
export class FrameReader {
  readonly #maxOctets: number;
  #held: Buffer[] = [];
  #heldOctets = 0;
  #neededOctets = 4;
  #brokenBy: number | undefined;

  constructor(maxOctets = PDU_OCTETS_MAX) {
    this.#maxOctets = maxOctets;
  }

  /**
   * Calls `take` with every PDU that `chunk` completes, in order. After an impossible command_length (below 16 or above
   * the limit) the stream is unreadable: this call and all later ones return that command_length.
   */
  read(chunk: Buffer, take: (frame: Buffer) => void): number | undefined {
    if (this.#brokenBy !== undefined) return this.#brokenBy;

    let data = chunk;
    if (this.#heldOctets > 0) {
      this.#held.push(chunk);
      this.#heldOctets += chunk.length;
      if (this.#heldOctets < this.#neededOctets) return undefined;
      data = Buffer.concat(this.#held, this.#heldOctets);
    }

    let at = 0;
    this.#neededOctets = 4;
    while (data.length - at >= 4) {
      const length = data.readUInt32BE(at);
      if (length < HEADER_OCTETS || length > this.#maxOctets) {
        this.#hold(data, data.length);
        this.#brokenBy = length;
        return length;
      }
      if (data.length - at < length) {
        this.#neededOctets = length;
        break;
      }
      take(data.subarray(at, at + length));
      at += length;
    }
    this.#hold(data, at);
    return undefined;
  }

  #hold(data: Buffer, from: number): void {
    this.#heldOctets = data.length - from;
    this.#held = this.#heldOctets > 0 ? [data.subarray(from)] : [];
  }
}

/** A PDU with an unreadable body. `status` is the command_status of the answer. */
export class MalformedPdu extends Error {
  readonly status: number;

  constructor(what: string, status: number) {
    super(what);
    this.name = 'MalformedPdu';
    this.status = status;
  }
}

/** Optional parameters by tag. The specification forbids repeated tags; here the last one counts. */
export type Tlvs = ReadonlyMap<number, Buffer>;

const NO_TLVS: Tlvs = new Map();

/** Reads mandatory parameters in order, then the optional ones. Never reads past the PDU's end. */
export class FieldReader {
  readonly #frame: Buffer;
  #at = HEADER_OCTETS;

  constructor(frame: Buffer) {
    this.#frame = frame;
  }

  uint8(): number {
    const value = this.#frame[this.#at];
    if (value === undefined) throw new MalformedPdu('the PDU ends inside its parameters', STATUS.invalidCommandLength);
    this.#at += 1;
    return value;
  }

  /** A C-octet string of at most `maxOctets` octets, NUL included (SMPP 3.4 §3.1). Throws with `status` if longer. */
  cString(maxOctets: number, status: number): string {
    const end = this.#frame.indexOf(0, this.#at);
    if (end < 0) throw new MalformedPdu('a C-octet string has no end', STATUS.invalidCommandLength);
    if (end - this.#at >= maxOctets) throw new MalformedPdu(`longer than ${maxOctets} octets`, status);
    const value = this.#frame.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return value;
  }

  octets(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#frame.length)
      throw new MalformedPdu('sm_length is longer than the PDU', STATUS.invalidMessageLength);
    const value = this.#frame.subarray(this.#at, end);
    this.#at = end;
    return value;
  }

  tlvs(): Tlvs {
    if (this.#at === this.#frame.length) return NO_TLVS;
    const tlvs = new Map<number, Buffer>();
    while (this.#at < this.#frame.length) {
      if (this.#frame.length - this.#at < 4) throw new MalformedPdu('half a TLV header', STATUS.invalidTlvStream);
      const tag = this.#frame.readUInt16BE(this.#at);
      const end = this.#at + 4 + this.#frame.readUInt16BE(this.#at + 2);
      if (end > this.#frame.length) throw new MalformedPdu('a TLV is longer than the PDU', STATUS.invalidTlvStream);
      tlvs.set(tag, this.#frame.subarray(this.#at + 4, end));
      this.#at = end;
    }
    return tlvs;
  }
}

/** The largest PDU that is written: a message_payload of 65,535 octets and everything around it. */
const SCRATCH_OCTETS = 70_000;

/** The buffer in which PDUs are built; {@link writePdu} copies each finished one. */
const scratch = Buffer.alloc(SCRATCH_OCTETS);

/** Throws RangeError if the PDU would exceed {@link SCRATCH_OCTETS}. */
class FieldWriter {
  at = HEADER_OCTETS;

  uint8(value: number): this {
    this.at = scratch.writeUInt8(value, this.at);
    return this;
  }

  /** One octet per character, then NUL. Throws if the value contains NUL, which would shift the fields after it. */
  cString(value: string): this {
    if (value.includes('\0')) throw new RangeError('a C-octet string cannot hold NUL');
    this.at += scratch.write(value, this.at, 'latin1');
    return this.uint8(0);
  }

  octets(value: Uint8Array): this {
    if (this.at + value.length > SCRATCH_OCTETS) throw new RangeError('PDU too long');
    scratch.set(value, this.at);
    this.at += value.length;
    return this;
  }

  tlv(tag: number, value: Uint8Array): this {
    this.at = scratch.writeUInt16BE(tag, this.at);
    this.at = scratch.writeUInt16BE(value.length, this.at);
    return this.octets(value);
  }
}

export function writePdu(
  command: number,
  status: number,
  sequence: number,
  fill?: (fields: FieldWriter) => void,
): Buffer {
  const fields = new FieldWriter();
  fill?.(fields);
  scratch.writeUInt32BE(fields.at, 0);
  scratch.writeUInt32BE(command, 4);
  scratch.writeUInt32BE(status, 8);
  scratch.writeUInt32BE(sequence, 12);
  return Buffer.from(scratch.subarray(0, fields.at));
}

export type BindKind = 'receiver' | 'transmitter' | 'transceiver';

/** bind_receiver, bind_transmitter or bind_transceiver (SMPP 3.4 §4.1). */
export interface BindRequest {
  readonly kind: BindKind;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  readonly interfaceVersion: number;
  readonly addressRange: string;
}

/** The lowest interface_version of a peer that may be sent optional parameters (SMPP 3.4 §1.5). */
export const VERSION_WITH_TLVS = 0x34;

export function bindKindOf(command: number): BindKind | undefined {
  switch (command) {
    case COMMAND.bindReceiver:
      return 'receiver';
    case COMMAND.bindTransmitter:
      return 'transmitter';
    case COMMAND.bindTransceiver:
      return 'transceiver';
    default:
      return undefined;
  }
}

/** Throws `MalformedPdu` with the command_status to answer. */
export function readBind(kind: BindKind, frame: Buffer): BindRequest {
  const fields = new FieldReader(frame);
  const systemId = fields.cString(16, STATUS.invalidSystemId);
  const password = fields.cString(9, STATUS.invalidPassword);
  const systemType = fields.cString(13, STATUS.bindFailed);
  const interfaceVersion = fields.uint8();
  fields.uint8(); // addr_ton
  fields.uint8(); // addr_npi
  const addressRange = fields.cString(41, STATUS.bindFailed);
  return { kind, systemId, password, systemType, interfaceVersion, addressRange };
}

/** The answer to a bind: our name, and our version if the peer's version allows optional parameters. */
export function bindResponse(command: number, sequence: number, systemId: string, interfaceVersion: number): Buffer {
  return writePdu(responseTo(command), STATUS.ok, sequence, (fields) => {
    fields.cString(systemId);
    if (interfaceVersion >= VERSION_WITH_TLVS) fields.tlv(TAG.scInterfaceVersion, Uint8Array.of(VERSION_WITH_TLVS));
  });
}
