import { type Database as LmdbTable, open, type RootDatabase } from 'lmdb';
import { byteAt } from '../bson/read.ts';

export type Durability = 'fsync' | 'none';

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** One table; `Key` is wider than the types of lmdb-js say, by way of `KEY_ENCODER`. */
type Table = LmdbTable<Buffer, Buffer>;

/** A range of keys: from `start` (included) to `end` (not). */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

const NO_OVERWRITE = { noOverwrite: true };

/** A key inside a larger buffer, so that no view of it need be made. */
export interface KeySlice {
  bytes: Buffer;
  start: number;
  end: number;
}

export type Key = Buffer | KeySlice;

/** How lmdb-js writes and reads keys: as they are. */
const KEY_ENCODER = {
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

/** Documents and keys read are copied into large chunks: an ArrayBuffer for each would cost more than its bytes. */
const CHUNK_BYTES = 256 * 1024;
let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
let chunkUsed = 0;

function copyOf(source: Buffer, start: number, end: number): Buffer {
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

/**
 * The LMDB environment: one file, three tables of bytes. Reads outside `write` see the last commit; inside it, what has
 * been written so far. There is one writer, this process, and its writes are synchronous: they return with the fsync done.
 */
export class Database {
  /** `[collection u32][key of _id]` → the document's BSON as it was received. */
  readonly documents: Table;
  /** `[index u32][components][key of _id]` → where that `_id` begins (u16); unique: `[index u32][components][01]` → the key of `_id`. */
  readonly entries: Table;
  /** The catalogue; see `catalog.ts`. */
  readonly meta: Table;
  private readonly root: RootDatabase<Buffer, Buffer>;

  constructor(dir: string, durability: Durability) {
    this.root = open<Buffer, Buffer>({
      path: `${dir}/data.mdb`,
      noSubdir: true,
      maxDbs: 4,
      encoding: 'binary',
      // One commit is one fsync, done when the call returns; lmdb-js's overlapping sync would return before it.
      overlappingSync: false,
      // Documents of 1 KB grow in place more often than on pages of 4 KB: updates cost a tenth less.
      pageSize: 8192,
      noSync: durability === 'none',
    });
    const table = (name: string): Table => {
      const options = { name, encoding: 'binary' as const, keyEncoder: KEY_ENCODER };
      return this.root.openDB<Buffer, Buffer>(options);
    };
    this.documents = table('documents');
    this.entries = table('entries');
    this.meta = table('meta');
  }

  /** Runs `action` in one transaction and commits it durably. When it throws, nothing of it is stored. */
  write(action: () => void): void {
    this.root.transactionSync(action);
  }

  get(table: Table, key: Key): Buffer | undefined {
    // The "fast" buffer belongs to lmdb-js and lives until the next read: copied at once, into a chunk.
    const found = table.getBinaryFast(key as Buffer); // KEY_ENCODER takes both kinds
    return found === undefined ? undefined : copyOf(found, 0, found.length);
  }

  put(table: Table, key: Key, value: Buffer): void {
    table.putSync(key as Buffer, value); // KEY_ENCODER takes both kinds
  }

  remove(table: Table, key: Key): void {
    table.removeSync(key as Buffer); // KEY_ENCODER takes both kinds
  }

  /** Stores a document under a key that must be new; false, and nothing stored, when it is not. */
  putNew(key: Buffer, doc: Buffer): boolean {
    // Inside a transaction lmdb-js answers at once, with a boolean that its types leave out.
    const stored: unknown = this.documents.putSync(key, doc, NO_OVERWRITE);
    return stored !== false;
  }

  /** Up to `limit` entries of the range, from its end when `reverse`. */
  range(table: Table, { start, end }: KeyRange, reverse: boolean, limit: number): Entry[] {
    const options = reverse
      ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true, limit }
      : { start, end, limit };
    const out: Entry[] = [];
    for (const entry of table.getRange(options)) out.push(entry);
    return out;
  }

  /** Removes up to `limit` entries of the range; true when there may be more. */
  removeRange(table: Table, { start, end }: KeyRange, limit: number): boolean {
    const keys = [...table.getKeys({ start, end, limit })];
    for (const key of keys) table.removeSync(key);
    return keys.length === limit;
  }

  async close(): Promise<void> {
    await this.root.close();
  }
}
