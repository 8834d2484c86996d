import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { byteAt } from '../bson/read.ts';

/**
 * A group of the log on the disk: 32 bytes of header, then its changes.
 *
 *     [magic "HKG2"][id of the store 8][number f64][bytes of the changes u32][crc32 of the changes u32][crc32 of the 28 bytes before u32]
 *
 * Each change is `[table u8][bytes of the key u16][bytes of the value u32][key][value]`.
 */
export const HEADER_BYTES = 32;
const CHANGE_BYTES = 7;
/** Written in place of a value's length: the key is removed. */
const REMOVED = 0xffffffff;

export const STORE_ID_BYTES = 8;

const MAGIC = Buffer.from('HKG2');
const NUMBER_AT = MAGIC.length + STORE_ID_BYTES;
const SIZE_AT = NUMBER_AT + 8;
const CHECKSUM_AT = SIZE_AT + 4;
const HEADER_CHECKSUM_AT = CHECKSUM_AT + 4;

export interface Header {
  readonly store: Buffer;
  readonly number: number;
  /** Bytes of the changes, and their checksum. */
  readonly size: number;
  readonly checksum: number;
}

/** A new value for one key of one table; without a value the key was removed. */
export interface Change {
  readonly table: number;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

function writeHeader(group: Buffer, store: Buffer, number: number): void {
  group.set(MAGIC, 0);
  group.set(store, MAGIC.length);
  group.writeDoubleLE(number, NUMBER_AT);
  group.writeUInt32LE(group.length - HEADER_BYTES, SIZE_AT);
  group.writeUInt32LE(crc32(group.subarray(HEADER_BYTES)), CHECKSUM_AT);
  group.writeUInt32LE(crc32(group.subarray(0, HEADER_CHECKSUM_AT)), HEADER_CHECKSUM_AT);
}

/** Undefined when these 32 bytes are no header, or one that is not as it was written. */
export function readHeader(bytes: Buffer): Header | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  if (crc32(bytes.subarray(0, HEADER_CHECKSUM_AT)) !== bytes.readUInt32LE(HEADER_CHECKSUM_AT)) return undefined;
  return {
    store: Buffer.from(bytes.subarray(MAGIC.length, NUMBER_AT)),
    number: bytes.readDoubleLE(NUMBER_AT),
    size: bytes.readUInt32LE(SIZE_AT),
    checksum: bytes.readUInt32LE(CHECKSUM_AT),
  };
}

/** The beginning of every header of this store; nobody outside knows it, so no document can hold one. */
export function headerStart(store: Buffer): Buffer {
  return Buffer.concat([MAGIC, store]);
}

/** Whether these bytes are the damaged header of group `number`: at least two of magic, store and number are right. */
export function wasHeader(bytes: Buffer, store: Buffer, number: number): boolean {
  if (bytes.length < HEADER_BYTES || readHeader(bytes) !== undefined) return false;
  const signs = [
    bytes.subarray(0, MAGIC.length).equals(MAGIC),
    bytes.subarray(MAGIC.length, NUMBER_AT).equals(store),
    bytes.readDoubleLE(NUMBER_AT) === number,
  ];
  return signs.filter((sign) => sign).length >= 2;
}

export function* changesIn(bytes: Buffer): Generator<Change> {
  for (let at = 0; at < bytes.length; ) {
    const keyAt = at + CHANGE_BYTES;
    const valueAt = keyAt + bytes.readUInt16LE(at + 1);
    const valueBytes = bytes.readUInt32LE(at + 3);
    const end = valueAt + (valueBytes === REMOVED ? 0 : valueBytes);
    const value = valueBytes === REMOVED ? undefined : bytes.subarray(valueAt, end);
    yield { table: byteAt(bytes, at), key: bytes.subarray(keyAt, valueAt), value };
    at = end;
  }
}

/** A key inside a larger buffer, so that no view of it need be made. */
export interface KeySlice {
  bytes: Buffer;
  start: number;
  end: number;
}

export type Key = Buffer | KeySlice;

export interface LogPosition {
  /** The store's id, also in the header of each group, so that another store's log is recognized. */
  readonly store: Buffer;
  /** The number of the last group that the tables hold. */
  readonly stored: number;
  /** False until the tables are made: from then on the log's length is a multiple of `LOG_STEP_BYTES`. */
  readonly made: boolean;
}

const FIRST_BYTES = 1024 * 1024;
/**
 * The file's length is a multiple of this, and unwritten bytes are zero: this tells a file that was cut off from one
 * that ends. The length is synced before the first write into what it added.
 */
export const LOG_STEP_BYTES = 64 * 1024;
/** Above this length, which most stores reach, it grows by as much: each step costs an fsync. */
const LARGE_STEP_BYTES = 1024 * 1024;
/** A file that one large command made longer than this is cut when it is begun anew. */
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * The write-ahead log: what was written since the tables were last stored (a checkpoint), group by group, in one file
 * that is begun anew with each checkpoint. Groups are numbered without a gap through all its rounds. A group that was
 * only partly written fails its checksum: nobody has been told that it is stored. What lies behind the last group is
 * left from an earlier round, and its number says that the tables hold it (`read-log.ts`).
 */
export class Log {
  private readonly fd: number;
  private readonly sync: boolean;
  private readonly store: Buffer;
  private buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private used = HEADER_BYTES;
  private position = 0;
  private length: number;
  private number: number;

  /** The file must be there, and the tables hold all of it. */
  constructor(path: string, sync: boolean, { store, stored }: LogPosition) {
    this.fd = openSync(path, 'r+');
    this.sync = sync;
    this.store = store;
    this.number = stored;
    this.length = fstatSync(this.fd).size;
  }

  /** Bytes in the file since it was begun anew. */
  get size(): number {
    return this.position;
  }

  get last(): number {
    return this.number;
  }

  get pending(): number {
    return this.used;
  }

  discard(): void {
    this.used = HEADER_BYTES;
  }

  add(table: number, key: Key, value: Buffer | undefined): void {
    const keyBytes = key instanceof Uint8Array ? key.length : key.end - key.start;
    this.reserve(CHANGE_BYTES + keyBytes + (value?.length ?? 0));
    const { buffer } = this;
    let at = this.used;
    buffer[at] = table;
    buffer.writeUInt16LE(keyBytes, at + 1);
    buffer.writeUInt32LE(value?.length ?? REMOVED, at + 3);
    at += CHANGE_BYTES;
    if (key instanceof Uint8Array) buffer.set(key, at);
    else for (let i = 0; i < keyBytes; i++) buffer[at + i] = byteAt(key.bytes, key.start + i);
    at += keyBytes;
    if (value !== undefined) buffer.set(value, at);
    this.used = at + (value?.length ?? 0);
  }

  /** Writes the group; it is on the disk when this returns. Throws what the file system says. */
  append(): void {
    if (this.used === HEADER_BYTES) return;
    const { buffer, used } = this;
    if (this.position + used > this.length) this.grow(this.position + used);
    writeHeader(buffer.subarray(0, used), this.store, this.number + 1);
    for (let at = 0; at < used; ) at += writeSync(this.fd, buffer, at, used - at, this.position + at);
    // Waited for here: another thread would do it while reads go on, and cost more in waking than a quick disk takes.
    if (this.sync) this.synced();
    this.number++;
    this.position += used;
    this.used = HEADER_BYTES;
  }

  /** Takes the room for a group of `bytes` bytes; throws what the file system says. */
  probe(bytes: number): void {
    if (this.position + bytes > this.length) this.grow(this.position + bytes);
    const zeros = Buffer.alloc(Math.min(bytes, FIRST_BYTES));
    for (let at = 0; at < bytes; ) {
      at += writeSync(this.fd, zeros, 0, Math.min(zeros.length, bytes - at), this.position + at);
    }
  }

  /** The tables hold all that was appended: the next group is the first in the file. */
  restart(): void {
    if (this.position > KEPT_BYTES) {
      this.length = LOG_STEP_BYTES;
      ftruncateSync(this.fd, this.length);
      this.buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    }
    this.position = 0;
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Without the code of the cause: whatever it was, nobody knows what of the group is on the disk. */
  private synced(): void {
    try {
      fdatasyncSync(this.fd);
    } catch (cause) {
      throw new Error('the log could not be synced', { cause });
    }
  }

  private grow(bytes: number): void {
    const step = bytes > LARGE_STEP_BYTES ? LARGE_STEP_BYTES : LOG_STEP_BYTES;
    this.length = grown(this.fd, bytes, step, this.sync);
  }

  private reserve(bytes: number): void {
    if (this.used + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.used + bytes));
    larger.set(this.buffer.subarray(0, this.used));
    this.buffer = larger;
  }
}

/** Makes the file's length a multiple of the step where it is none yet. */
export function sizeLog(path: string, sync: boolean): void {
  const fd = openSync(path, 'r+');
  try {
    const { size } = fstatSync(fd);
    if (size === 0 || size % LOG_STEP_BYTES !== 0) grown(fd, Math.max(size, 1), LOG_STEP_BYTES, sync);
  } finally {
    closeSync(fd);
  }
}

/** Sets the length that `bytes` bytes need, on the disk; returns it. */
function grown(fd: number, bytes: number, step: number, sync: boolean): number {
  const length = Math.ceil(bytes / step) * step;
  ftruncateSync(fd, length);
  if (sync) fdatasyncSync(fd); // a changed length too
  return length;
}
