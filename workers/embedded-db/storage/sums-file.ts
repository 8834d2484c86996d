import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { State, TreePage } from './page-tree.ts';

/**
 * Checksums of the pages of data.mdb, in a file beside it (docs/decisions/0077):
 *
 *     [magic "HKPS2"][id of the store 8][last transaction f64][crc32 of its meta page u32][crc32 of what is before u32], zeros to 4096
 *     per page [low half of the transaction that wrote it u32][crc32 of its bytes u32]
 *
 * They are written after a checkpoint and synced before the header says so. Pages of later transactions count as not covered.
 */
const MAGIC = Buffer.from('HKPS2');
const STORE_AT = MAGIC.length;
const TXN_AT = STORE_AT + 8;
const META_AT = TXN_AT + 8;
const CHECKSUM_AT = META_AT + 4;
const HEADER_BYTES = CHECKSUM_AT + 4;
const SUMS_AT = 4096;
const SUM_BYTES = 8;

export interface Sums {
  readonly store: Buffer;
  /** All pages of transactions up to this one have a checksum. */
  readonly txn: number;
  /** Of the meta page of that transaction. */
  readonly meta: number;
  /** The file, or only its header. */
  readonly bytes: Buffer;
}

/** Undefined when there are none, or none that can be believed. Only the header, unless `all`. */
export function readSums(path: string, all: boolean): Sums | undefined {
  if (!existsSync(path)) return undefined;
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(all ? fstatSync(fd).size : HEADER_BYTES);
    for (let at = 0, more = 1; more > 0 && at < bytes.length; at += more) {
      more = readSync(fd, bytes, at, bytes.length - at, at);
    }
    if (bytes.length < HEADER_BYTES || !bytes.subarray(0, STORE_AT).equals(MAGIC)) return undefined;
    if (crc32(bytes.subarray(0, CHECKSUM_AT)) !== bytes.readUInt32LE(CHECKSUM_AT)) return undefined;
    const store = bytes.subarray(STORE_AT, TXN_AT);
    return { store, txn: bytes.readDoubleLE(TXN_AT), meta: bytes.readUInt32LE(META_AT), bytes };
  } finally {
    closeSync(fd);
  }
}

/** Whether all pages of `state`, and no later ones, have a checksum. */
export function areOf(sums: Sums, state: State): boolean {
  return sums.txn === state.txn && sums.meta === state.sum;
}

/** For the beginning of the file. */
export function sumsHeader(store: Buffer, state: State): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.set(MAGIC, 0);
  header.set(store, STORE_AT);
  header.writeDoubleLE(state.txn, TXN_AT);
  header.writeUInt32LE(state.sum, META_AT);
  header.writeUInt32LE(crc32(header.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
  return header;
}

/** The entry of a page. Its place in the file is `sumAt(page.number)`. */
export function sumOf(page: TreePage): Buffer {
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32LE(page.txn % 2 ** 32, 0);
  sum.writeUInt32LE(crc32(page.bytes), 4);
  return sum;
}

/** An entry that no page has: a page with it counts as damaged. */
export const NO_SUM = Buffer.alloc(SUM_BYTES);

export function sumAt(page: number): number {
  return SUMS_AT + page * SUM_BYTES;
}

/** What the file has of a page; undefined behind its end. */
export function notedOf({ bytes }: Sums, page: number): Buffer | undefined {
  const at = sumAt(page);
  return at + SUM_BYTES <= bytes.length ? bytes.subarray(at, at + SUM_BYTES) : undefined;
}

/** Whether the page was noted, and not after the transaction `since`. */
export function isNotedBy(sums: Sums, page: number, since: number): boolean {
  const noted = notedOf(sums, page);
  return noted !== undefined && !noted.equals(NO_SUM) && noted.readUInt32LE(0) <= since % 2 ** 32;
}
