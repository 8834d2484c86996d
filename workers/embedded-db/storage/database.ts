import { randomBytes } from 'node:crypto';
import { ABORT, type Database as LmdbTable, open, type RootDatabase } from 'lmdb';
import { syncDirectory } from '../../../shared/platform/runtime/own-file.ts';
import { byteAt } from '../bson/read.ts';
import { type Key, Log, type LogPosition, STORE_ID_BYTES, sizeLog } from './log.ts';
import { LogBytes, type Recovery } from './read-log.ts';
import { isDiskFull, prepareFiles, requireLog, type StoreFiles } from './store-files.ts';

export type Durability = 'fsync' | 'none';

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** One table; `Key` is wider than the types of lmdb-js say, by way of `KEY_ENCODER`. */
interface Table {
  readonly id: number;
  readonly lmdb: LmdbTable<Buffer, Buffer>;
}

/** From `start` (included) to `end` (not). */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

const NO_OVERWRITE = { noOverwrite: true };

/** The key in `meta` of the number of the last group of the log that the tables hold (f64). */
const STORED = Buffer.from('log');
/** The key in `meta` of the store's id, created with the tables; every group of the log has it. */
const STORE_ID = Buffer.from('store');
/** A checkpoint blocks everything: longer intervals write less in total, shorter ones block for a shorter time. */
const CHECKPOINT_BYTES = 8 * 1024 * 1024;
/** After a checkpoint that failed, the log grows at least by this before the next try. */
const RETRY_BYTES = 1024 * 1024;

/**
 * Three tables of bytes in one LMDB file, with a write-ahead log. `write` changes the tables inside an LMDB transaction
 * that stays open, and returns when the log has the changes on the disk: a few kilobytes at its end, where LMDB would
 * write every changed page at scattered places. A checkpoint commits the transaction. The next open applies the log
 * after the last checkpoint again. This process is the only writer; reads see everything that was written.
 */
export class Database {
  /** `[collection u32][key of _id]` → the document's BSON as it was received. */
  readonly documents: Table;
  /** `[index u32][components][key of _id]` → its `_id`'s place (u16); unique: `[…][components][01]` → key of `_id`. */
  readonly entries: Table;
  /** The catalogue; see `catalog.ts`. */
  readonly meta: Table;
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly log: Log;
  private open: OpenTransaction | undefined;
  readonly dir: string;
  private readonly files: StoreFiles;
  private readonly sync: boolean;
  private checkpointAt = CHECKPOINT_BYTES;
  checkpointError: unknown;
  private readonly position: LogPosition & { stored: number };

  /** How many entries and documents searches have looked at since the start. */
  readonly looked = { keys: 0, documents: 0 };
  readonly recovery: Recovery;

  /** Throws `DamageFound` when the log is damaged, or belongs to another store: its sentence says what to do. */
  constructor(dir: string, durability: Durability) {
    this.dir = dir;
    const files = prepareFiles(dir);
    this.files = files;
    this.sync = durability === 'fsync';
    this.root = openTables(files.tables, this.sync);
    const table = (id: number, name: string): Table => {
      const options = { name, encoding: 'binary' as const, keyEncoder: KEY_ENCODER };
      return { id, lmdb: this.root.openDB<Buffer, Buffer>(options) };
    };
    this.documents = table(0, 'documents');
    this.entries = table(1, 'entries');
    this.meta = table(2, 'meta');
    const known = this.get(this.meta, STORE_ID);
    const stored = this.get(this.meta, STORED)?.readDoubleBE(0) ?? 0;
    requireLog(files, known !== undefined || stored > 0);
    this.position = { store: known ?? randomBytes(STORE_ID_BYTES), stored, made: known !== undefined };
    this.recovery = this.recover();
    this.log = new Log(files.log, this.sync, this.position);
    // The tables' name must be on the disk before anything is acknowledged.
    if (known === undefined) syncDirectory(dir);
  }

  /** The action's writes are on the disk on return, all or none. If it throws, call `undo`, or end this process. */
  write(action: () => void): void {
    this.open ??= beginTransaction(this.root);
    action();
    this.log.append();
  }

  /** The number of the last group in the log: the same during one `write`. */
  get lastGroup(): number {
    return this.log.last;
  }

  /** Raised by every change of the current `write`. */
  get pending(): number {
    return this.log.pending;
  }

  /**
   * Undoes a `write` that has thrown. Nothing may be read or written until it resolves, which it does within the same
   * turn of the event loop; commands come only in other turns.
   */
  async undo(): Promise<void> {
    this.log.discard();
    if (this.open !== undefined) await this.reopen();
  }

  /** Whether the log has room for `bytes` bytes more. Only between two writes. */
  hasRoom(bytes: number): boolean {
    try {
      this.log.probe(bytes);
      return true;
    } catch (error) {
      if (isDiskFull(error, this.dir)) return false;
      throw error;
    }
  }

  /** Ends the transaction. The tables are then as of the last checkpoint: applies the log since then again. */
  private async reopen(): Promise<void> {
    this.open?.end(ABORT);
    await this.open?.ended;
    this.open = beginTransaction(this.root);
    const log = new LogBytes(this.files.log);
    try {
      this.redo(log, log.recovery(this.position));
    } finally {
      log.close();
    }
  }

  get checkpointDue(): boolean {
    return this.log.size >= this.checkpointAt;
  }

  /**
   * Stores the tables. Nothing may be written until it resolves. False, with the reason in `checkpointError`, when the
   * disk did not take them: the log has everything. A failed try applies the log again, so the next is due when the log
   * is twice as long.
   */
  async checkpoint(): Promise<boolean> {
    if (this.open === undefined) return true;
    try {
      await this.store(this.open);
      return true;
    } catch (error) {
      this.checkpointError = error;
      this.checkpointAt = this.log.size + Math.max(RETRY_BYTES, this.log.size);
      await this.reopen();
      return false;
    }
  }

  private async store({ end, ended }: OpenTransaction): Promise<void> {
    this.meta.lmdb.putSync(STORED, numberBytes(this.log.last));
    this.open = undefined; // A commit that fails ends it too.
    end(undefined);
    await ended;
    this.position.stored = this.log.last;
    this.log.restart();
    this.checkpointAt = CHECKPOINT_BYTES;
  }

  /**
   * Copies the tables as of the last checkpoint to a new file, without their free space. Writes continue meanwhile.
   * Right after a checkpoint, the copy contains everything acknowledged before it.
   */
  copyTo(path: string): Promise<void> {
    return this.root.backup(path, true);
  }

  get(table: Table, key: Key): Buffer | undefined {
    // The "fast" buffer belongs to lmdb-js and lives until the next read: copied at once, into a chunk.
    const found = table.lmdb.getBinaryFast(key as Buffer); // KEY_ENCODER takes both kinds
    return found === undefined ? undefined : copyOf(found, 0, found.length);
  }

  put(table: Table, key: Key, value: Buffer): void {
    table.lmdb.putSync(key as Buffer, value); // KEY_ENCODER takes both kinds
    this.log.add(table.id, key, value);
  }

  remove(table: Table, key: Key): void {
    table.lmdb.removeSync(key as Buffer); // KEY_ENCODER takes both kinds
    this.log.add(table.id, key, undefined);
  }

  /** Stores a document under a new key. False, with nothing stored, when the key exists. */
  putNew(key: Buffer, doc: Buffer): boolean {
    // Inside a transaction lmdb-js answers at once, with a boolean that its types leave out.
    const stored: unknown = this.documents.lmdb.putSync(key, doc, NO_OVERWRITE);
    if (stored === false) return false;
    this.log.add(this.documents.id, key, doc);
    return true;
  }

  /** Up to `limit` entries of the range, from its end when `reverse`; fewer when their values have `bytes` bytes. */
  range(table: Table, { start, end }: KeyRange, reverse: boolean, limit: number, bytes = Infinity): Entry[] {
    const options = reverse
      ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true, limit }
      : { start, end, limit };
    const out: Entry[] = [];
    let left = bytes;
    for (const entry of table.lmdb.getRange(options)) {
      out.push(entry);
      left -= entry.value.length;
      if (left <= 0) break;
    }
    return out;
  }

  removeRange(table: Table, { start, end }: KeyRange, limit: number): number {
    const keys = [...table.lmdb.getKeys({ start, end, limit })];
    for (const key of keys) this.remove(table, key);
    return keys.length;
  }

  /** Call it only if no write failed. On a full disk the tables stay as they were, and the log has the rest. */
  async close(): Promise<void> {
    try {
      if (this.open !== undefined) await this.store(this.open);
    } catch (error) {
      if (!isDiskFull(error, this.dir)) throw error;
    }
    await this.root.close();
    this.log.close();
  }

  /** Applies what is in the log but not in the tables. Afterwards they are complete. */
  private recover(): Recovery {
    const log = new LogBytes(this.files.log);
    try {
      const recovery = log.recovery(this.position);
      sizeLog(this.files.log, this.sync);
      const last = recovery.groups.at(-1)?.number;
      this.root.transactionSync(() => {
        this.redo(log, recovery);
        if (last !== undefined) this.meta.lmdb.putSync(STORED, numberBytes(last));
        this.meta.lmdb.putSync(STORE_ID, this.position.store);
      });
      this.position.stored = last ?? this.position.stored;
      return recovery;
    } finally {
      log.close();
    }
  }

  private redo(log: LogBytes, { groups }: Recovery): void {
    const tables = [this.documents, this.entries, this.meta];
    for (const group of groups) {
      for (const { table, key, value } of log.changes(group)) {
        const { lmdb } = tables[table] ?? this.meta;
        if (value === undefined) lmdb.removeSync(key);
        else lmdb.putSync(key, value);
      }
    }
  }
}

/** The keys that begin with `id`, after the bytes `before`. */
export function prefixRange(id: number, before: Buffer = NOTHING): KeyRange {
  return { start: prefix(before, id), end: prefix(before, id + 1) };
}

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

function openTables(path: string, sync: boolean): RootDatabase<Buffer, Buffer> {
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

/** `end` commits the transaction, or aborts it with `ABORT`; then `ended` resolves. */
interface OpenTransaction {
  readonly end: (how: typeof ABORT | undefined) => void;
  readonly ended: Promise<unknown>;
}

function beginTransaction(root: RootDatabase<Buffer, Buffer>): OpenTransaction {
  let end: OpenTransaction['end'] = () => {};
  const held = new Promise<typeof ABORT | undefined>((resolve) => {
    end = resolve;
  });
  const ended = root.transactionSync(() => held); // open until the promise resolves
  return { end, ended };
}

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

/** Read documents and keys are copied into large chunks: an ArrayBuffer for each would cost more than its bytes. */
const CHUNK_BYTES = 256 * 1024;
let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
let chunkUsed = 0;

/** A copy of bytes of a buffer that lmdb-js will use again. */
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

function numberBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleBE(number);
  return bytes;
}
