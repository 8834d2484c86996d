import type { KeyRange } from './database.ts';

/** The keys that begin with `id`, after the bytes `before`. */
export function prefixRange(id: number, before: Buffer = NOTHING): KeyRange {
  return { start: prefix(before, id), end: prefix(before, id + 1) };
}

/** The lowest key after `key`. */
export function after(key: Buffer): Buffer {
  return Buffer.concat([key, ZERO]);
}

const NOTHING = Buffer.alloc(0);
const ZERO = Buffer.from([0]);

function prefix(before: Buffer, id: number): Buffer {
  const bytes = Buffer.allocUnsafe(before.length + 4);
  before.copy(bytes);
  bytes.writeUInt32BE(id, before.length);
  return bytes;
}
