import { type ABORT, open, type RootDatabase } from 'lmdb';
import { byteAt } from '../bson/read.ts';
import type { Key } from './log.ts';

/** LMDB on the tables' file, made when it is missing. */
export function openTables(path: string, sync: boolean): RootDatabase<Buffer, Buffer> {
  const options = {
    path,
    noSubdir: true,
    maxDbs: 4,
    encoding: 'binary' as const,
    // One commit is one fsync, done when the call returns; lmdb-js's overlapping sync would return before it.
    overlappingSync: false,
    // Documents of 1 KB grow in place more often than on pages of 4 KB: updates cost a tenth less.
    pageSize: 8192,
    noSync: !sync,
    permissionsMode: 0o600, // Of data.mdb and data.mdb-lock; lmdb-js's types leave it out.
  };
  return open<Buffer, Buffer>(options);
}

/** An open LMDB transaction. `end` commits it, or aborts it with `ABORT`; then `ended` resolves. */
export interface OpenTransaction {
  readonly end: (how: typeof ABORT | undefined) => void;
  readonly ended: Promise<unknown>;
}

export function beginTransaction(root: RootDatabase<Buffer, Buffer>): OpenTransaction {
  let end: OpenTransaction['end'] = () => {};
  const held = new Promise<typeof ABORT | undefined>((resolve) => {
    end = resolve;
  });
  const ended = root.transactionSync(() => held); // open until the promise resolves
  return { end, ended };
}

/** How lmdb-js writes and reads keys: as they are. */
export const KEY_ENCODER = {
  writeKey(key: Key, target: Buffer, position: number): number {
    if (key instanceof Uint8Array) {
      target.set(key, position);
      return position + key.length;
    }
    const { bytes, start, end } = key;
    let at = position;
    for (let i = start; i < end; i++) target[at++] = byteAt(bytes, i);
    return at;
  },
  readKey: (source: Buffer, start: number, end: number): Buffer => copyOf(source, start, end),
};

/** Documents and keys that are read are copied into large chunks: an ArrayBuffer for each would cost more than its bytes. */
const CHUNK_BYTES = 256 * 1024;
let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
let chunkUsed = 0;

/** A copy of bytes of a buffer that lmdb-js will use again. */
export function copyOf(source: Buffer, start: number, end: number): Buffer {
  const size = end - start;
  let target: Buffer;
  if (size > CHUNK_BYTES / 8) {
    target = Buffer.allocUnsafeSlow(size);
  } else {
    if (chunkUsed + size > CHUNK_BYTES) {
      chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      chunkUsed = 0;
    }
    target = chunk.subarray(chunkUsed, chunkUsed + size);
    chunkUsed += size;
  }
  if (size <= 64) for (let i = 0; i < size; i++) target[i] = byteAt(source, start + i);
  // Not `source.copy`: the `length` of lmdb-js's own buffer is not that of its memory.
  else target.set(new Uint8Array(source.buffer, source.byteOffset + start, size));
  return target;
}

export function numberBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleBE(number);
  return bytes;
}
