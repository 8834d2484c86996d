import { HEADER_OCTETS } from './commands.ts';

/** Largest body that is ever written: a message_payload of 65,535 octets and everything around it. */
const SCRATCH_OCTETS = 70_000;

/** One buffer for all PDUs in the making; each finished one is copied out, so nothing outlives a call of {@link writePdu}. */
const scratch = Buffer.alloc(SCRATCH_OCTETS);

/** Appends parameters to the PDU in the making. Throws RangeError when it would grow past {@link SCRATCH_OCTETS}. */
class FieldWriter {
  at = HEADER_OCTETS;

  uint8(value: number): this {
    this.at = scratch.writeUInt8(value, this.at);
    return this;
  }

  /** A C-octet string: one octet per character, then NUL. A NUL inside would shift all fields after it: refused. */
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

/** One whole PDU; `fill` writes its parameters. */
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
