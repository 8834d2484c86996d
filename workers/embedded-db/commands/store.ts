import { type Build, Catalog, type Collection } from '../storage/catalog.ts';
import { Database, type Durability, type KeyRange, prefixRange } from '../storage/database.ts';
import { Documents } from '../storage/documents.ts';
import type { Backup } from '../storage/store-files.ts';
import { Cursors } from './cursors.ts';

export class Store {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly garbage: Garbage;
  readonly cursors = new Cursors();
  readonly now: () => number;
  readonly startedAtMs: number;
  backup: Backup | undefined;

  constructor(dir: string, durability: Durability, now: () => number) {
    this.database = new Database(dir, durability);
    this.catalog = new Catalog(this.database);
    this.documents = new Documents(this.database, this.catalog);
    this.garbage = new Garbage(this.database);
    this.now = now;
    this.startedAtMs = now();
    this.dropUnfinished();
  }

  reload(): void {
    this.catalog.reload();
    this.garbage.reload();
    this.documents.changed.clear();
  }

  /** The build ends, its indexes are not made. */
  discardBuild(collection: Collection, build: Build): void {
    for (const index of build.indexes) this.garbage.add('entries', index.id);
    this.catalog.removeBuild(collection, build);
  }

  /** Builds that ended with the process: whoever wants the index asks again. */
  private dropUnfinished(): void {
    const left = [...this.catalog.all()].filter(({ builds }) => builds.length > 0);
    if (left.length === 0) return;
    this.database.write(() => {
      for (const collection of left) {
        for (const build of [...collection.builds]) this.discardBuild(collection, build);
      }
      this.catalog.flush();
    });
  }
}

/** The key in `meta`: `g<table u8><id u32>`. */
const GARBAGE = Buffer.from('g');

interface Dropped {
  readonly key: Buffer;
  readonly table: Database['documents'];
  readonly range: KeyRange;
}

/** Dropped data that is not removed yet: nobody sees it. Ids are not reused. Changed only in `Database.write`. */
class Garbage {
  private readonly database: Database;
  private dropped: Dropped[] = [];

  constructor(database: Database) {
    this.database = database;
    this.reload();
  }

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

/** What a write command did in one group of the log: all of its work (a reply), or a part (`Rest`). */
export type Progress = Buffer | Rest;

/**
 * The rest of a long write. It runs in a later group, with other commands in between: as in mongod, a write of many
 * documents yields and is not atomic as a whole. A group may be undone and `next` called again, so `next` must not
 * change what it starts from.
 */
export class Rest {
  readonly next: () => Progress;

  constructor(next: () => Progress) {
    this.next = next;
  }
}

/** Units of work in a slice: about 30 ms. */
const UNITS = 2_000;
/** Units for a document that is changed. One that is only looked at is one unit. */
const CHANGE_UNITS = 4;
/** Bytes of changes, for large documents. */
const BYTES = 4 * 1024 * 1024;

/** How much one command may still do in the current group, by documents, not by time: tests can rely on it. */
export class Slice {
  private readonly store: Store;
  private readonly bytesBefore: number;
  private units = UNITS;

  constructor(store: Store) {
    this.store = store;
    this.bytesBefore = store.database.pending;
  }

  looked(documents: number): void {
    this.units -= documents;
  }

  /** A scan has looked at so many documents or bytes that it gives way. */
  paused(): void {
    this.units -= UNITS / 2;
  }

  changed(): void {
    this.units -= CHANGE_UNITS;
  }

  get over(): boolean {
    return this.units <= 0 || this.store.database.pending - this.bytesBefore > BYTES;
  }
}

/** A part of a statement; returns what is left of it. Like `Rest`, it may be called again with the same tally. */
export type Step<Tally> = (tally: Tally, slice: Slice) => Step<Tally> | undefined;
