import { HEADER_OCTETS } from './commands.ts';

/** Size of the largest PDU that is written: a message_payload of 65,535 octets and everything around it. */
const SCRATCH_OCTETS = 70_000;

/** PDUs are built in this one buffer. {@link writePdu} copies each finished PDU, so nothing refers to the buffer afterwards. */
const scratch = Buffer.alloc(SCRATCH_OCTETS);

/** Appends fields to the PDU that is being built. Throws RangeError when it would exceed {@link SCRATCH_OCTETS}. */
class FieldWriter {
  at = HEADER_OCTETS;

  uint8(value: number): this {
    this.at = scratch.writeUInt8(value, this.at);
    return this;
  }

  /**
   * Writes a C-octet string: one octet per character, then a NUL. Throws if the value contains a NUL, because that would shift
   * all fields after it.
   */
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

/** Writes one whole PDU. `fill` adds its fields. */
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
