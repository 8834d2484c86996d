import { HEADER_OCTETS, STATUS } from './commands.ts';

/** A PDU whose body cannot be read. The answer gets `status` as its command_status. */
export class MalformedPdu extends Error {
  readonly status: number;

  constructor(what: string, status: number) {
    super(what);
    this.name = 'MalformedPdu';
    this.status = status;
  }
}

/**
 * Optional parameters as they came, by their tag. The specification allows no tag twice. If one comes twice, the last one counts.
 */
export type Tlvs = ReadonlyMap<number, Buffer>;

const NO_TLVS: Tlvs = new Map();

/** Reads the mandatory parameters of a PDU from left to right, then the optional ones. Never reads past the PDU's end. */
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

  /**
   * Reads a C-octet string of at most `maxOctets` octets, its NUL included (SMPP 3.4 §3.1). Throws with `status` when it is
   * longer.
   */
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
