import type { Index } from './index-definition.ts';

/** Where the key of `_id` begins in an entry's key, as the entry's value: slices of one table, made once. */
const OFFSETS = Buffer.allocUnsafeSlow(2 * 2048);
for (let i = 0; i < 2048; i++) OFFSETS.writeUInt16BE(i, i * 2);

/** What an entry with a key of so many bytes holds; `Database.entries` says why. */
export function entryValue(index: Index | undefined, keyBytes: number, idKey: Buffer): Buffer {
  if (index?.unique === true) return idKey;
  const offset = keyBytes - idKey.length;
  return OFFSETS.subarray(offset * 2, offset * 2 + 2);
}
