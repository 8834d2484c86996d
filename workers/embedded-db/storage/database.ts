import { open, type RootDatabase, type Database as Table } from 'lmdb';

export type Durability = 'fsync' | 'none';

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** A range of keys: from `start` (included) to `end` (not). */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

const NO_OVERWRITE = { noOverwrite: true };

/**
 * The LMDB environment: one file, three tables of bytes. Reads outside `write` see the last commit; inside it, what has
 * been written so far. There is one writer, this process, and its writes are synchronous: they return with the fsync done.
 */
export class Database {
  /** `[collection u32][key of _id]` → the document's BSON as it was received. */
  readonly documents: Table<Buffer, Buffer>;
  /** `[index u32][components][key of _id]` → where that `_id` begins (u16); unique: `[index u32][components][01]` → the key of `_id`. */
  readonly entries: Table<Buffer, Buffer>;
  /** The catalogue; see `catalog.ts`. */
  readonly meta: Table<Buffer, Buffer>;
  private readonly root: RootDatabase<Buffer, Buffer>;

  constructor(dir: string, durability: Durability) {
    this.root = open<Buffer, Buffer>({
      path: `${dir}/data.mdb`,
      noSubdir: true,
      maxDbs: 4,
      encoding: 'binary',
      keyEncoding: 'binary',
      // One commit is one fsync, done when the call returns; lmdb-js's overlapping sync would return before it.
      overlappingSync: false,
      noSync: durability === 'none',
    });
    const table = (name: string): Table<Buffer, Buffer> =>
      this.root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
    this.documents = table('documents');
    this.entries = table('entries');
    this.meta = table('meta');
  }

  /** Runs `action` in one transaction and commits it durably. When it throws, nothing of it is stored. */
  write(action: () => void): void {
    this.root.transactionSync(action);
  }

  get(table: Table<Buffer, Buffer>, key: Buffer): Buffer | undefined {
    return table.getBinary(key);
  }

  /** Stores a document under a key that must be new; false, and nothing stored, when it is not. */
  putNew(key: Buffer, doc: Buffer): boolean {
    // Inside a transaction lmdb-js answers at once, with a boolean that its types leave out.
    const stored: unknown = this.documents.putSync(key, doc, NO_OVERWRITE);
    return stored !== false;
  }

  /** Up to `limit` entries of the range, from its end when `reverse`. */
  range(table: Table<Buffer, Buffer>, { start, end }: KeyRange, reverse: boolean, limit: number): Entry[] {
    const options = reverse
      ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true, limit }
      : { start, end, limit };
    const out: Entry[] = [];
    for (const entry of table.getRange(options)) out.push(entry);
    return out;
  }

  /** Removes up to `limit` entries of the range; true when there may be more. */
  removeRange(table: Table<Buffer, Buffer>, { start, end }: KeyRange, limit: number): boolean {
    const keys = [...table.getKeys({ start, end, limit })];
    for (const key of keys) table.removeSync(key);
    return keys.length === limit;
  }

  async close(): Promise<void> {
    await this.root.close();
  }
}
