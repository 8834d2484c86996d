import { rmSync } from 'node:fs';
import { deserialize, serialize } from 'bson';
import { ChangeSignal } from '../../../shared/platform/runtime/change-signal.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { StoreError } from '../../../workers/embedded-db/bson/errors.ts';
import { Command } from '../../../workers/embedded-db/commands/command.ts';
import { handlerOf } from '../../../workers/embedded-db/commands/registry.ts';
import { type Progress, Store } from '../../../workers/embedded-db/commands/store.ts';
import { GroupCommit } from '../../../workers/embedded-db/group-commit.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { EMBEDDED, errorOf, storeUnderTest, tempDir } from './store-under-test.ts';

/** A command that inserts and then meets a programming error of ours, which no command from the wire can cause. */
describe('embedded-db command that meets a fault in the midst of its writes', () => {
  let dir: string;
  let store: Store;
  let commits: GroupCommit;
  let fatal: unknown[];
  beforeEach(() => {
    dir = tempDir();
    fatal = [];
    store = new Store(dir, 'none', Date.now);
    commits = new GroupCommit(store, new ChangeSignal(dir, systemClock), {
      full: () => {},
      room: () => {},
      notStored: () => {},
      notExpired: () => {},
      fatal: (error) => void fatal.push(error),
    });
  });
  afterEach(async () => {
    await store.database.close();
    rmSync(dir, { recursive: true, force: true });
  });

  type Reply = Readonly<Record<string, unknown>>;

  /** Runs a command in this turn's group; `then` runs at its end and may throw. */
  async function run(body: object, then: () => void = () => {}): Promise<Reply> {
    const command = new Command(Buffer.from(serialize({ ...body, $db: 'x' })), new Map());
    const handler = handlerOf(command);
    return new Promise((resolve) => {
      const work = (): Progress => {
        const reply = handler.run(store, command);
        if (reply instanceof Promise) throw new Error('a write answers at once');
        then();
        return reply;
      };
      commits.add(work, (reply) => resolve(deserialize(reply)));
    });
  }

  const fault = (): never => {
    throw new TypeError('a fault of ours');
  };

  const refuse = (): never => {
    throw new StoreError(2, 'a mistake of the client');
  };

  function count(ns: string): number | undefined {
    return store.catalog.get(ns)?.count;
  }

  const insert = (into: string, ...ids: number[]): object => ({
    insert: into,
    documents: ids.map((_id) => ({ _id, k: _id })),
  });

  it('is undone alone: the others of its group, and all before, stay', async () => {
    await run({ createIndexes: 'c', indexes: [{ key: { k: 1 }, name: 'k_1', unique: true }] });
    await run(insert('c', 1));

    const replies = await Promise.all([
      run(insert('c', 2)),
      run(insert('c', 3, 4), fault),
      run(insert('c', 4)),
      run(insert('new', 1), fault),
      run(insert('c', 5, 1)),
    ]);

    expect(replies.map(({ ok, n, code }) => [ok, n, code])).to.deep.equal([
      [1, 1, undefined],
      [0, undefined, 1],
      [1, 1, undefined],
      [0, undefined, 1],
      [1, 1, undefined],
    ]);
    expect(fatal).to.deep.equal([]);
    expect(count('x.c')).to.equal(4);
    expect(count('x.new')).to.equal(undefined);
    expect((await run(insert('c', 3))).n, 'its entries went too').to.equal(1);
    expect((await run({ insert: 'c', documents: [{ _id: 9, k: 4 }] })).writeErrors).to.have.lengthOf(1);
  });

  it('is undone over what the tables have stored and the log has since', async () => {
    await run(insert('c', 1));
    await store.database.checkpoint();
    await run(insert('c', 2));

    expect(await run({ drop: 'c' }, fault)).to.include({ ok: 0, code: 1 });

    expect(count('x.c')).to.equal(2);
    await run(insert('c', 3));
    await store.database.close();
    store = new Store(dir, 'none', Date.now);
    expect(count('x.c')).to.equal(3);
  });

  it('is undone before anything else can be read', async () => {
    await run(insert('c', 1));
    await store.database.checkpoint();
    await run(insert('c', 2)); // In the log, not in the tables to which undoing returns.
    const seen: unknown[] = [];
    const turns = 10;
    /** Reads in each of the next turns, like sockets with new data and resumed scans. */
    const read = async (): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        const find = new Command(Buffer.from(serialize({ find: 'c', $db: 'x' })), new Map());
        const reply = deserialize((await handlerOf(find).run(store, find)) as Buffer); // the answer of reads
        seen.push(reply.cursor.firstBatch.map(({ _id }: { _id: number }) => _id).join());
      }
    };
    let reads: Promise<void> | undefined;

    const reply = await run(insert('c', 3), () => {
      reads = read();
      fault();
    });
    await reads;

    expect(reply).to.include({ ok: 0, code: 1 });
    expect(seen).to.deep.equal(Array.from({ length: turns }, () => '1,2'));
  });

  it('is not undone when it was refused before it wrote anything', async () => {
    const undo = store.database.undo.bind(store.database);
    let undone = 0;
    store.database.undo = async () => {
      undone++;
      await undo();
    };

    const replies = await Promise.all([
      run(insert('c', 1)),
      run({ drop: 'none' }, refuse),
      run({ delete: 'c', deletes: [{ q: { _id: 7 }, limit: 1 }] }, refuse),
    ]);

    expect(replies.map(({ ok }) => ok)).to.deep.equal([1, 0, 0]);
    expect(undone).to.equal(0);
    expect(count('x.c')).to.equal(1);
  });

  it('is undone when LMDB fails in its first read or write, and what follows works', async () => {
    await run({ createIndexes: 'c', indexes: [{ key: { k: 1 }, name: 'k_1', unique: true }] });
    await run(insert('c', 1));
    const { documents, entries } = store.database;
    const failures: readonly [object, string][] = [
      [documents.lmdb, 'putSync'],
      [entries.lmdb, 'getBinaryFast'],
    ];

    for (const [i, [table, method]] of failures.entries()) {
      const id = 10 * (i + 1);
      const restore = failing(store.database, table, method);
      const replies = await Promise.all([run(insert('c', id)), run(insert('c', id + 1)), run(insert('c', id + 2))]);
      restore();

      expect(
        replies.map(({ ok, code }) => [ok, code]),
        method,
      ).to.deep.equal([
        [0, 1],
        [1, undefined],
        [1, undefined],
      ]);
    }
    expect(fatal).to.deep.equal([]);
    expect(count('x.c')).to.equal(5);
  });

  it('is undone and answered with 14031 when LMDB finds no room', async () => {
    await run(insert('c', 1));
    const restore = failing(store.database, store.database.documents.lmdb, 'putSync', 28);

    const reply = await run(insert('c', 2));
    restore();

    expect(reply).to.include({ ok: 0, code: 14031 });
    expect(await run(insert('c', 2))).to.include({ ok: 1, n: 1 });
    expect(fatal).to.deep.equal([]);
  });

  it('may be a checkpoint: what it could not store is stored by the next', async () => {
    await run(insert('c', 1));
    const restore = failing(store.database, store.database.meta.lmdb, 'putSync');

    const stored = await store.database.checkpoint();
    restore();
    await run(insert('c', 2));

    expect([stored, await store.database.checkpoint()]).to.deep.equal([false, true]);
    await store.database.close();
    store = new Store(dir, 'none', Date.now);
    expect(store.database.recovery.groups).to.deep.equal([]);
    expect(count('x.c')).to.equal(2);
  });
});

describe('embedded-db read for which LMDB fails', () => {
  if (!EMBEDDED) return;

  it('leaves nothing behind for the reads and writes after it', async () => {
    const { collection, close } = await storeUnderTest();
    const all = collection();
    await all.insertMany([{ _id: 1 }, { _id: 2 }]);
    const { get, undo } = Database.prototype;
    let failed = false;
    Database.prototype.get = () => {
      failed = true;
      throw lmdbError(-30796);
    };
    Database.prototype.undo = async function (this: Database) {
      Object.assign(Database.prototype, { get, undo });
      await this.undo();
    };
    try {
      expect(await errorOf(all.findOne({ _id: 1 }))).to.include({ code: 1 });

      expect(await all.findOne({ _id: 1 })).to.deep.equal({ _id: 1 });
      await all.insertOne({ _id: 3 });
      expect(await all.countDocuments()).to.equal(3);
      expect(failed).to.equal(true);
    } finally {
      Object.assign(Database.prototype, { get, undo });
      await close();
    }
  });
});

/** As thrown by lmdb-js. */
function lmdbError(code: number): Error {
  return Object.assign(new Error('LMDB failed'), { code });
}

/**
 * The next call of a table's method fails, and so do all later ones until the transaction ends, as in LMDB
 * (`MDB_TXN_ERROR`, then `MDB_BAD_TXN`).
 */
function failing(database: Database, table: object, method: string, code = 12): () => void {
  let bad = true;
  const transaction = database as unknown as { reopen(): Promise<void> }; // a private method
  const { reopen } = transaction;
  const right: unknown = Reflect.get(table, method);
  if (typeof right !== 'function') throw new Error(`no ${method}`);
  transaction.reopen = async () => {
    bad = false;
    await reopen.call(database);
  };
  Reflect.set(table, method, (...args: unknown[]) => {
    if (bad) throw lmdbError(code);
    return right.apply(table, args);
  });
  return () => {
    Reflect.deleteProperty(transaction, 'reopen');
    Reflect.deleteProperty(table, method);
  };
}
