import { KEPT_BYTES, KeyBuffer } from '../bson/key.ts';
import { rankOf } from '../bson/order.ts';
import { fieldOf, TYPE, type Value } from '../bson/read.ts';
import type { Entry, KeyRange } from '../storage/database.ts';
import type { Index, IndexField } from '../storage/index-definition.ts';
import { EntryKeys } from '../storage/index-keys.ts';
import type { Bounds } from './bounds.ts';

const buffer = new KeyBuffer();

/**
 * The keys of an index (or of a collection's documents) whose first fields have the values of `prefix` and whose next field lies
 * within `bounds`. `apart`: the bounds may hold for two elements of an array, so only one of them narrows the range.
 */
export function keyRange(...args: Parameters<typeof wholeRange>): KeyRange {
  return widened(wholeRange(...args));
}

function wholeRange(
  id: number,
  fields: readonly IndexField[],
  prefix: readonly Value[],
  bounds: Bounds | undefined,
  apart: boolean,
): KeyRange {
  buffer.start(id);
  for (const [i, value] of prefix.entries()) {
    buffer.append(value.type, value.buf, value.pos, fields[i]?.descending ?? false);
  }
  const common = buffer.copy();
  if (bounds === undefined) {
    if (prefix.length > 0) return { start: common, end: plus(common, 0xff) };
    const end = Buffer.allocUnsafe(4);
    end.writeUInt32BE(id + 1, 0);
    return { start: common, end };
  }
  const low = bounds.low;
  const high = apart && low !== undefined ? undefined : bounds.high;
  const descending = fields[prefix.length]?.descending ?? false;
  const rank = rankOf((low ?? high)?.value.type ?? TYPE.null);
  const [first, last] = descending ? [high, low] : [low, high];
  const encode = (value: Value): Buffer => {
    buffer.start(id).appendBytes(common, 4, common.length);
    buffer.append(value.type, value.buf, value.pos, descending);
    return buffer.copy();
  };
  const bracket = descending ? rank ^ 0xff : rank;
  const start =
    first === undefined
      ? plus(common, bracket)
      : first.inclusive
        ? encode(first.value)
        : plus(encode(first.value), 0xff);
  const end =
    last === undefined
      ? plus(common, bracket + 1)
      : last.inclusive
        ? plus(encode(last.value), 0xff)
        : descending
          ? plus(encode(last.value), 0x01) // a string that goes on after a NUL is greater, and lies before that
          : encode(last.value);
  return { start, end };
}

function plus(bytes: Buffer, byte: number): Buffer {
  const out = Buffer.allocUnsafe(bytes.length + 1);
  bytes.copy(out);
  out[bytes.length] = byte;
  return out;
}

/**
 * Keys too long for LMDB keep their first bytes, then a hash stands for the rest (`bson/key.ts`). They lie between the right
 * neighbours, but among those that begin alike in no order. So a range whose bounds are as long takes all that begin alike, and
 * what is found is compared with the filter anyway; and where an order is asked for, entries that begin alike are sorted by their
 * documents.
 */
const PREFIX_BYTES = 4;
const KEPT_END = PREFIX_BYTES + KEPT_BYTES;
/** Longer than any hash: greater than every key that begins alike. */
const AFTER_ALL = Buffer.alloc(40, 0xff);

/** The range with bounds no longer than what long keys keep. */
function widened({ start, end }: KeyRange): KeyRange {
  return {
    start: start.length > KEPT_END ? start.subarray(0, KEPT_END) : start,
    end: end.length > KEPT_END ? Buffer.concat([end.subarray(0, KEPT_END), AFTER_ALL]) : end,
  };
}

/** Whether the range may hold keys that lie outside its bounds. */
export function isWide({ start, end }: KeyRange): boolean {
  return start.length >= KEPT_END || end.length >= KEPT_END;
}

/** What an entry of this length shares with those it has no order with; undefined for others. */
export function startOfLong({ key, value }: Entry, index: Index | undefined): Buffer | undefined {
  if (key.length < KEPT_END) return undefined;
  const end = index === undefined ? key.length : index.unique ? key.length - 1 : value.readUInt16BE(0);
  return end < KEPT_END ? undefined : key.subarray(0, KEPT_END);
}

const whole = new EntryKeys(true);
const kept = new EntryKeys();
const idBuffer = new KeyBuffer();
const ID = Buffer.from('_id');

/** The key of this entry of the document as it would be without a limit of length, for comparing. */
export function wholeKey(index: Index | undefined, { key }: Entry, idKey: Buffer, doc: Buffer): Buffer {
  if (index === undefined) {
    const id = fieldOf(doc, 0, ID);
    idBuffer.start(0).append(id.type, id.buf, id.pos);
    return idBuffer.copy();
  }
  whole.clear();
  kept.clear();
  whole.add(index, doc, idKey);
  kept.add(index, doc, idKey);
  for (let k = 0; k < kept.count; k++) if (kept.view(k).equals(key)) return Buffer.from(whole.view(k));
  return key; // the document has changed since the entry was read
}
