import { KEPT_BYTES, KeyBuffer } from '../bson/key.ts';
import { fieldOf } from '../bson/read.ts';
import type { Entry, KeyRange } from '../storage/database.ts';
import type { Index } from '../storage/index-definition.ts';
import { EntryKeys } from '../storage/index-keys.ts';

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
export function widened({ start, end }: KeyRange): KeyRange {
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
const buffer = new KeyBuffer();
const ID = Buffer.from('_id');

/** The key of this entry of the document as it would be without a limit of length, for comparing. */
export function wholeKey(index: Index | undefined, { key }: Entry, idKey: Buffer, doc: Buffer): Buffer {
  if (index === undefined) {
    const id = fieldOf(doc, 0, ID);
    buffer.start(0).append(id.type, id.buf, id.pos);
    return buffer.copy();
  }
  whole.clear();
  kept.clear();
  whole.add(index, doc, idKey);
  kept.add(index, doc, idKey);
  for (let k = 0; k < kept.count; k++) if (kept.view(k).equals(key)) return Buffer.from(whole.view(k));
  return key; // the document has changed since the entry was read
}
