import { createHash } from 'node:crypto';
import { notSupported } from './errors.ts';
import { exactDouble, exactNumber, type Fraction, nearestDouble } from './number.ts';
import { rankOf } from './order.ts';
import { byteAt, int32At, TYPE, valueEnd } from './read.ts';

/**
 * Index keys: bytes whose plain (memcmp) order is the BSON order of the values, made straight from BSON bytes.
 *
 * A value is its rank byte and then: numbers, see `number`; strings, their UTF-8 with 00 written as 00 FF and a 00 at the
 * end; objects, per element rank, name, value, and a 00 at the end; arrays, their values and a 00. What follows a string is
 * a rank, a 00, or an inverted rank (never FF), so 00 FF is greater than any end. A descending component is inverted.
 * Hence all keys with the same leading components lie between those bytes and those bytes with an FF after them.
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
   * Replaces what came after `start`, when it is too long for LMDB, by its first `KEPT_BYTES` and a SHA-256. Two such keys are equal
   * when their values are; those that begin alike have no order (`plan/long-keys.ts`).
   */
  limit(start: number): void {
    if (this.length - start <= MAX_PART) return;
    const hash = createHash('sha256').update(this.bytes.subarray(start, this.length)).digest();
    this.length = start + KEPT_BYTES;
    this.appendBytes(hash, 0, hash.length);
  }

  /** The key's bytes, valid until the buffer is used again. */
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
      case TYPE.symbol:
      case TYPE.code:
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
      case TYPE.decimal:
        this.number(type, buf, pos);
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
      case TYPE.timestamp:
        for (let i = 7; i >= 0; i--) this.bytes[this.length++] = byteAt(buf, pos + i);
        break;
      case TYPE.regex:
      case TYPE.dbPointer:
      case TYPE.codeWithScope:
        this.appendBytes(buf, pos, valueEnd(type, buf, pos));
        break;
      default: // null, missing, undefined, MinKey, MaxKey: the rank says all
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

  /**
   * The nearest double, a byte (smaller, equal, greater than that double), and, unless equal, what is left as two more
   * doubles: 3 × 53 bits hold the 34 digits of a decimal and the 63 bits of an int64 exactly.
   */
  private number(type: number, buf: Buffer, pos: number): void {
    if (type === TYPE.int64) {
      const integer = buf.readBigInt64LE(pos);
      if (integer >= -MAX_SAFE && integer <= MAX_SAFE) {
        this.orderedDouble(Number(integer));
        this.bytes[this.length++] = NO_REST;
        return;
      }
    }
    const exact = exactNumber(type, buf, pos);
    if (typeof exact === 'number') {
      this.orderedDouble(exact);
      this.bytes[this.length++] = NO_REST;
      return;
    }
    const first = nearestDouble(exact);
    const magnitude = Math.abs(first);
    if (exact.over !== 0n && (magnitude < SMALLEST_KEY || magnitude > LARGEST_KEY)) {
      throw notSupported('A Decimal128 of this magnitude in an index');
    }
    const rest = minus(exact, first);
    this.orderedDouble(first);
    if (rest.over === 0n) {
      this.bytes[this.length++] = NO_REST;
      return;
    }
    this.bytes[this.length++] = rest.over < 0n ? REST_BELOW : REST_ABOVE;
    const second = nearestDouble(rest);
    this.orderedDouble(second);
    this.orderedDouble(nearestDouble(minus(rest, second)));
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

/** Of the components and of the `_id`: together they stay below LMDB's 1,978 bytes. */
const MAX_PART = 900;
const HASH_BYTES = 32;
/** What is kept of a key that is too long. */
export const KEPT_BYTES = MAX_PART - HASH_BYTES;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const REST_BELOW = 0x40;
const NO_REST = 0x80;
const REST_ABOVE = 0xc0;
/** Between these limits a decimal's remainder is a normal double too, so that its order is exact. */
const SMALLEST_KEY = 1e-230;
const LARGEST_KEY = 1e300;

function minus(number: Fraction, part: number): Fraction {
  const exact = exactDouble(part);
  if (typeof exact === 'number') throw new Error('a rest that is not finite'); // The magnitudes above exclude it.
  return { over: number.over * exact.under - exact.over * number.under, under: number.under * exact.under };
}
