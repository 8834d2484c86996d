import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { StartError } from '../../../shared/runtime/lifecycle.ts';
import { byteAt } from '../bson/read.ts';
import { CHANGE_BYTES, HEADER_BYTES, REMOVED } from './log.ts';

/** What became of one key of one table; without a value it was removed. */
export interface Change {
  readonly table: number;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

export interface Group {
  readonly number: number;
  readonly changes: Iterable<Change>;
}

/**
 * The groups in the file after group `stored`, in their order. Throws `StartError` when groups between are missing (one of the
 * two files is from somewhere else) or damaged (a whole group lies behind one that is not).
 */
export function* readLog(path: string, stored: number): Generator<Group> {
  if (!existsSync(path)) {
    if (stored === 0) return;
    throw new StartError(
      `${path} is missing: it belongs to the data.mdb beside it, and may have what that has not. If the store ended by itself, make an empty one.`,
    );
  }
  const fd = openSync(path, 'r');
  try {
    for (let at = 0, before: number | undefined; ; ) {
      const group = readGroup(fd, at);
      if (group === undefined || (before !== undefined && group.number !== before + 1)) return;
      if (!group.whole) {
        const next = readGroup(fd, group.end);
        if (next?.whole !== true || next.number !== group.number + 1) return;
        throw new StartError(
          `${path} is damaged: group ${group.number} is not as it was written, and others follow it.`,
        );
      }
      if (before === undefined && group.number > stored + 1) {
        throw new StartError(
          `${path} does not belong to the data.mdb beside it: it begins with group ${group.number}, that ends with ${stored}.`,
        );
      }
      if (group.number > stored) yield { number: group.number, changes: changesIn(group.bytes) };
      before = group.number;
      at = group.end;
    }
  } finally {
    closeSync(fd);
  }
}

interface FoundGroup {
  readonly number: number;
  /** Its checksum fits. */
  readonly whole: boolean;
  /** Number and changes. */
  readonly bytes: Buffer;
  readonly end: number;
}

/** What may be a group; undefined where the file ends before it does. */
function readGroup(fd: number, at: number): FoundGroup | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(fd, header, 0, HEADER_BYTES, at) < HEADER_BYTES) return undefined;
  const end = at + HEADER_BYTES + header.readUInt32LE(0);
  if (end > fstatSync(fd).size) return undefined;
  const bytes = Buffer.allocUnsafe(end - at - 8);
  for (let read = 0; read < bytes.length; ) read += readSync(fd, bytes, read, bytes.length - read, at + 8 + read);
  return { number: bytes.readDoubleLE(0), whole: crc32(bytes) === header.readUInt32LE(4), bytes, end };
}

function* changesIn(bytes: Buffer): Generator<Change> {
  for (let at = 8; at < bytes.length; ) {
    const keyAt = at + CHANGE_BYTES;
    const valueAt = keyAt + bytes.readUInt16LE(at + 1);
    const valueBytes = bytes.readUInt32LE(at + 3);
    const end = valueAt + (valueBytes === REMOVED ? 0 : valueBytes);
    const value = valueBytes === REMOVED ? undefined : bytes.subarray(valueAt, end);
    yield { table: byteAt(bytes, at), key: bytes.subarray(keyAt, valueAt), value };
    at = end;
  }
}
