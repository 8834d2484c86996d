import { StoreError } from './errors.ts';
import { TYPE, type Value, valueEnd } from './read.ts';

/** mongod's limit on a buffer that it builds. */
const BUFFER_MAX = 64 * 1024 * 1024;
/** A larger buffer is given back when the next document begins. */
const BUFFER_KEPT = 16 * 1024 * 1024;

/**
 * Builds one BSON document in a growing buffer. Containers are opened and closed; the close fills in their length.
 * `finish` copies the bytes out, so one writer serves again and again. A document longer than 64 MB throws 13548.
 */
export class BsonWriter {
  buf: Buffer;
  length = 0;

  constructor(capacity = 4096) {
    this.buf = Buffer.allocUnsafeSlow(capacity);
  }

  /** Begins a new top-level document; returns the handle that `close` takes. */
  begin(): number {
    if (this.buf.length > BUFFER_KEPT) this.buf = Buffer.allocUnsafeSlow(4096);
    this.length = 0;
    return this.openContainer();
  }

  finish(handle: number): Buffer {
    this.close(handle);
    const out = Buffer.allocUnsafe(this.length);
    this.buf.copy(out, 0, 0, this.length);
    return out;
  }

  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buf.length) return;
    if (needed > BUFFER_MAX) throw new StoreError(13548, `a document of ${needed} bytes is past the 64MB limit`);
    const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(needed, this.buf.length * 2), BUFFER_MAX));
    this.buf.copy(grown, 0, 0, this.length);
    this.buf = grown;
  }

  private openContainer(): number {
    this.reserve(5);
    const handle = this.length;
    this.length += 4;
    return handle;
  }

  close(handle: number): void {
    this.reserve(1);
    this.buf[this.length++] = 0;
    this.buf.writeInt32LE(this.length - handle, handle);
  }

  /** Type byte and name of the next element; its value must follow. */
  header(type: number, name: string | Buffer): void {
    if (typeof name !== 'string') {
      this.reserve(name.length + 2);
      this.buf[this.length++] = type;
      this.length += name.copy(this.buf, this.length);
    } else {
      if (name.includes('\0')) throw new Error('a NUL in a field name'); // Whoever lets one through to here.
      this.reserve(name.length * 3 + 2);
      this.buf[this.length++] = type;
      this.length += this.buf.write(name, this.length, 'utf8');
    }
    this.buf[this.length++] = 0;
  }

  /** Bytes as they are: whole elements or the bytes of a value. */
  raw(from: Buffer, start: number, end: number): void {
    const size = end - start;
    this.reserve(size);
    if (size <= 32) {
      // For short runs a loop beats the call into the runtime.
      for (let i = start, at = this.length; i < end; i++, at++) this.buf[at] = from[i] ?? 0;
    } else {
      from.copy(this.buf, this.length, start, end);
    }
    this.length += size;
  }

  value(name: string | Buffer, value: Value): void {
    this.header(value.type, name);
    this.raw(value.buf, value.pos, valueEnd(value.type, value.buf, value.pos));
  }

  object(name: string | Buffer): number {
    this.header(TYPE.object, name);
    return this.openContainer();
  }

  array(name: string | Buffer): number {
    this.header(TYPE.array, name);
    return this.openContainer();
  }

  document(name: string | Buffer, doc: Buffer): void {
    this.header(TYPE.object, name);
    this.raw(doc, 0, doc.length);
  }

  string(name: string, text: string): void {
    this.header(TYPE.string, name);
    this.reserve(text.length * 3 + 5);
    const size = this.buf.write(text, this.length + 4, 'utf8');
    this.buf.writeInt32LE(size + 1, this.length);
    this.length += 4 + size;
    this.buf[this.length++] = 0;
  }

  int32(name: string, number: number): void {
    this.header(TYPE.int32, name);
    this.reserve(4);
    this.buf.writeInt32LE(number, this.length);
    this.length += 4;
  }

  int64(name: string, number: bigint): void {
    this.header(TYPE.int64, name);
    this.reserve(8);
    this.buf.writeBigInt64LE(number, this.length);
    this.length += 8;
  }

  double(name: string, number: number): void {
    this.header(TYPE.double, name);
    this.reserve(8);
    this.buf.writeDoubleLE(number, this.length);
    this.length += 8;
  }

  bool(name: string, flag: boolean): void {
    this.header(TYPE.bool, name);
    this.reserve(1);
    this.buf[this.length++] = flag ? 1 : 0;
  }

  date(name: string, ms: number): void {
    this.header(TYPE.date, name);
    this.reserve(8);
    this.buf.writeBigInt64LE(BigInt(ms), this.length);
    this.length += 8;
  }

  null(name: string): void {
    this.header(TYPE.null, name);
  }
}
