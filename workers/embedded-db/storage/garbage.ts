import type { Database, KeyRange } from './database.ts';
import { prefixRange } from './prefix-range.ts';

/** In `meta`: `g<table u8><id u32>`. */
const GARBAGE = Buffer.from('g');

interface Dropped {
  readonly key: Buffer;
  readonly table: Database['documents'];
  readonly range: KeyRange;
}

/** What was dropped and is not removed yet: nobody sees it, ids are never given twice. Changed only inside `Database.write`. */
export class Garbage {
  private readonly database: Database;
  private dropped: Dropped[] = [];

  constructor(database: Database) {
    this.database = database;
    this.reload();
  }

  /** Replaces what is in memory by what is stored. */
  reload(): void {
    const { database } = this;
    const range = { start: GARBAGE, end: Buffer.from('h') };
    const stored = database.range(database.meta, range, false, Number.MAX_SAFE_INTEGER);
    this.dropped = stored.map(({ key }) => this.of(key));
  }

  get waits(): boolean {
    return this.dropped.length > 0;
  }

  /** All documents of a collection, or all entries of an index, by its id. */
  add(what: 'documents' | 'entries', id: number): void {
    const { database } = this;
    const { start } = prefixRange(id, Buffer.concat([GARBAGE, Buffer.from([database[what].id])]));
    this.dropped.push(this.of(start));
    database.put(database.meta, start, Buffer.alloc(0));
  }

  /** Removes at most `limit` keys; how many it did. */
  remove(limit: number): number {
    const first = this.dropped[0];
    if (first === undefined) return 0;
    const removed = this.database.removeRange(first.table, first.range, limit);
    if (removed < limit) {
      this.database.remove(this.database.meta, first.key);
      this.dropped.shift();
    }
    return removed;
  }

  private of(key: Buffer): Dropped {
    const { documents, entries } = this.database;
    const table = key[GARBAGE.length] === documents.id ? documents : entries;
    return { key, table, range: prefixRange(key.readUInt32BE(GARBAGE.length + 1)) };
  }
}
