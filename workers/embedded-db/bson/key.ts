import { createHash } from 'node:crypto';
import { rankOf } from './order.ts';
import { byteAt, int32At, TYPE, valueEnd } from './read.ts';

/**
 * Index keys: bytes whose plain (memcmp) order is the BSON order of the values, made straight from BSON bytes.
 *
 * A value is its rank byte and then: numbers, see `number`; strings, their UTF-8 with 00 written as 00 FF and a 00 at
 * the end; objects, per element rank, name, value, and a 00 at the end; arrays, their values and a 00. A string is
 * followed by a rank, a 00, or an inverted rank (never FF), so 00 FF is above any end. A descending component is
 * inverted. So all keys with the same leading components lie between those bytes and those bytes with an FF after them.
 */
export class KeyBuffer {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096);
  length = 0;

  /** Begins a key with the collection's or the index's number. */
  start(prefix: number): this {
    this.bytes.writeUInt32BE(prefix, 0);
    this.length = 4;
    return this;
  }

  /** Begins another key after the existing bytes; returns its start. */
  begin(prefix: number): number {
    this.reserve(4);
    const start = this.length;
    this.bytes.writeUInt32BE(prefix, start);
    this.length = start + 4;
    return start;
  }

  append(type: number, buf: Buffer, pos: number, descending = false): void {
    const start = this.length;
    this.put(type, buf, pos);
    if (descending) for (let i = start; i < this.length; i++) this.bytes[i] = byteAt(this.bytes, i) ^ 0xff;
  }

  appendBytes(from: Buffer, start: number, end: number): void {
    this.reserve(end - start);
    for (let i = start, at = this.length; i < end; i++, at++) this.bytes[at] = byteAt(from, i);
    this.length += end - start;
  }

  appendByte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  /**
   * Replaces the bytes after `start`, when too long for LMDB, by their first `KEPT_BYTES` and a SHA-256. Two such keys
   * are equal when their values are; those that begin alike have no order (`plan/bounds.ts`).
   */
  limit(start: number): void {
    if (this.length - start <= MAX_PART) return;
    const hash = createHash('sha256').update(this.bytes.subarray(start, this.length)).digest();
    this.length = start + KEPT_BYTES;
    this.appendBytes(hash, 0, hash.length);
  }

  /** Valid until the buffer is used again. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  copy(): Buffer {
    return Buffer.from(this.view());
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.length + bytes, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  private put(type: number, buf: Buffer, pos: number): void {
    this.reserve(32);
    this.bytes[this.length++] = rankOf(type);
    switch (type) {
      case TYPE.string:
        this.text(buf, pos + 4, pos + 3 + int32At(buf, pos));
        break;
      case TYPE.int32:
        this.orderedDouble(int32At(buf, pos));
        this.bytes[this.length++] = NO_REST;
        break;
      case TYPE.double:
        this.orderedDouble(buf.readDoubleLE(pos));
        this.bytes[this.length++] = NO_REST;
        break;
      case TYPE.int64:
        this.int64(buf.readBigInt64LE(pos));
        break;
      case TYPE.date:
        this.orderedInt64(buf, pos);
        break;
      case TYPE.bool:
        this.bytes[this.length++] = byteAt(buf, pos);
        break;
      case TYPE.objectId:
        this.appendBytes(buf, pos, pos + 12);
        break;
      case TYPE.object:
      case TYPE.array:
        this.container(type, buf, pos);
        break;
      case TYPE.binary: {
        const length = int32At(buf, pos);
        this.bytes.writeUInt32BE(length, this.length);
        this.length += 4;
        this.appendBytes(buf, pos + 4, pos + 5 + length);
        break;
      }
      default: // null, missing, undefined: the rank says all
    }
  }

  private text(buf: Buffer, start: number, end: number): void {
    this.reserve((end - start) * 2 + 1);
    const bytes = this.bytes;
    let at = this.length;
    for (let i = start; i < end; i++) {
      const byte = byteAt(buf, i);
      bytes[at++] = byte;
      if (byte === 0) bytes[at++] = 0xff;
    }
    bytes[at++] = 0;
    this.length = at;
  }

  private container(type: number, buf: Buffer, doc: number): void {
    let at = doc + 4;
    for (;;) {
      const elementType = byteAt(buf, at);
      if (elementType === 0) break;
      let nameEnd = at + 1;
      while (buf[nameEnd] !== 0) nameEnd++;
      if (type === TYPE.object) {
        this.appendByte(rankOf(elementType));
        this.text(buf, at + 1, nameEnd);
      }
      this.put(elementType, buf, nameEnd + 1);
      at = valueEnd(elementType, buf, nameEnd + 1);
    }
    this.appendByte(0);
  }

  /** The nearest double, a byte (below, equal to, above it), and, unless equal, the rest as one more double. */
  private int64(integer: bigint): void {
    const nearest = Number(integer);
    const rest = integer - BigInt(nearest);
    this.orderedDouble(nearest);
    this.bytes[this.length++] = rest === 0n ? NO_REST : rest < 0n ? REST_BELOW : REST_ABOVE;
    if (rest !== 0n) this.orderedDouble(Number(rest));
  }

  private orderedDouble(number: number): void {
    const at = this.length;
    this.length += 8;
    if (Number.isNaN(number)) {
      this.bytes.fill(0, at, at + 8);
      return;
    }
    this.bytes.writeDoubleBE(number === 0 ? 0 : number, at); // -0 and 0 are one value
    if ((byteAt(this.bytes, at) & 0x80) === 0) this.bytes[at] = byteAt(this.bytes, at) ^ 0x80;
    else for (let i = at; i < at + 8; i++) this.bytes[i] = byteAt(this.bytes, i) ^ 0xff;
  }

  private orderedInt64(buf: Buffer, pos: number): void {
    const at = this.length;
    for (let i = 0; i < 8; i++) this.bytes[at + i] = byteAt(buf, pos + 7 - i);
    this.bytes[at] = byteAt(this.bytes, at) ^ 0x80;
    this.length += 8;
  }
}

/** The limit of the components, and of the `_id`: both together stay below LMDB's 1,978 bytes. */
const MAX_PART = 900;
const HASH_BYTES = 32;
export const KEPT_BYTES = MAX_PART - HASH_BYTES;
const REST_BELOW = 0x40;
const NO_REST = 0x80;
const REST_ABOVE = 0xc0;
