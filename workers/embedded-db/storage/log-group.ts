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
export const CHANGE_BYTES = 7;
/** Written in place of a value's length: the key is removed. */
export const REMOVED = 0xffffffff;

export const STORE_ID_BYTES = 8;

const MAGIC = Buffer.from('HKG2');
const NUMBER_AT = MAGIC.length + STORE_ID_BYTES;
const SIZE_AT = NUMBER_AT + 8;
const CHECKSUM_AT = SIZE_AT + 4;
const HEADER_CHECKSUM_AT = CHECKSUM_AT + 4;

export interface Header {
  /** The id of the store that wrote it. */
  readonly store: Buffer;
  readonly number: number;
  /** Bytes of the changes, and their checksum. */
  readonly size: number;
  readonly checksum: number;
}

/** What became of one key of one table; without a value it was removed. */
export interface Change {
  readonly table: number;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

/** Writes the header of the group whose changes stand behind it in `group`. */
export function writeHeader(group: Buffer, store: Buffer, number: number): void {
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

/** What every header of this store begins with; nobody outside knows it, so no document can hold one. */
export function headerStart(store: Buffer): Buffer {
  return Buffer.concat([MAGIC, store]);
}

/** Whether these bytes are the damaged header of group `number`: at least two of magic, store and number are as they must be. */
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
