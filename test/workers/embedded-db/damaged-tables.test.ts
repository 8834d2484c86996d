import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serialize } from 'bson';
import { expect } from 'chai';
import { type Db, MongoClient } from 'mongodb';
import { DAMAGED_EXIT_CODE } from '../../../shared/runtime/lifecycle.ts';
import { int32 } from '../../../workers/embedded-db/bson/value.ts';
import { Store } from '../../../workers/embedded-db/commands/store.ts';
import type { DiskEvents } from '../../../workers/embedded-db/group-commit.ts';
import { type EmbeddedStoreOptions, startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { eventually } from '../../support/eventually.ts';
import { startStoreProcess } from './store-process.ts';
import { tempDir } from './store-under-test.ts';

const PAGE = 8192;
const FILES = ['data.mdb', 'data.log', 'data.sums'] as const;

type Files = Partial<Record<(typeof FILES)[number], Buffer>>;

describe('embedded-db tables that are not as they were written', () => {
  let dir: string;
  let copies = 0;
  /** The files after the second of two checkpoints; `before` has those after the first. */
  let files: Files;
  let before: Files;
  beforeEach(async () => {
    dir = tempDir();
    copies = 0;
    const where = join(dir, 'made');
    mkdirSync(where);
    const database = new Database(where, 'none');
    put(database, 0, 60);
    await database.checkpoint();
    before = filesIn(where);
    put(database, 50, 90);
    await database.checkpoint();
    files = filesIn(where);
    await database.close();
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function put(database: Database, from: number, to: number): void {
    database.write(() => {
      for (let i = from; i < to; i++) {
        database.put(database.documents, Buffer.from(`k${i}`), Buffer.alloc(i === 7 ? 30_000 : 2_000, `${from}.${i} `));
      }
    });
  }

  function filesIn(where: string): Files {
    const found = FILES.filter((name) => existsSync(join(where, name)));
    return Object.fromEntries(found.map((name) => [name, readFileSync(join(where, name))]));
  }

  function placed(copy: Files): string {
    const where = join(dir, `copy${copies++}`);
    mkdirSync(where);
    for (const [name, bytes] of Object.entries(copy)) writeFileSync(join(where, name), bytes);
    return where;
  }

  /** What a start with these files comes to: 'all' when every document is there as it was written, else how many or the error. */
  async function startOf(copy: Files): Promise<string> {
    const where = placed(copy);
    try {
      const database = new Database(where, 'none');
      const range = { start: Buffer.from([0]), end: Buffer.from([255]) };
      const found = database.range(database.documents, range, false, 1_000);
      const right = found.every(({ key, value }) => {
        const i = Number(key.toString().slice(1));
        return value.toString().startsWith(`${i < 50 ? 0 : 50}.${i} `) && value.length === (i === 7 ? 30_000 : 2_000);
      });
      await database.close();
      return found.length === 90 && right ? 'all' : `${found.length} found`;
    } catch (error) {
      return (error as Error).message; // Database throws Errors
    } finally {
      rmSync(where, { recursive: true });
    }
  }

  function tables(change: (bytes: Buffer) => void): Files {
    const bytes = Buffer.from(files['data.mdb'] ?? '');
    change(bytes);
    return { ...files, 'data.mdb': bytes };
  }

  const pages = (): number => (files['data.mdb']?.length ?? 0) / PAGE;

  it('start with all, or refuse with file, page and way out, whichever page is torn, lost or changed', async () => {
    const damages: readonly ((page: Buffer) => void)[] = [
      (page) => page.fill(0),
      (page) => page.fill(0, PAGE / 2),
      (page) => page.writeUInt8(page.readUInt8(5_000) ^ 1, 5_000),
    ];
    let [refused, opened] = [0, 0];
    for (let page = 0; page < pages(); page++) {
      for (const damage of damages) {
        const said = await startOf(tables((bytes) => damage(bytes.subarray(page * PAGE, (page + 1) * PAGE))));
        if (said === 'all') opened++;
        else {
          expect(said, `page ${page}`).to.match(
            /data\.mdb is (damaged: page \d+ \(.*\)|not as it was written: .*) .*(back from one backup)/,
          );
          refused++;
        }
      }
    }

    expect(opened, 'free pages').to.be.greaterThan(0);
    expect(refused).to.be.greaterThan(pages());
  });

  it('are whole when a large value became smaller between two checkpoints', async () => {
    const where = join(dir, 'smaller');
    mkdirSync(where);
    const first = new Database(where, 'none');
    for (const bytes of [30_000, 20_000, 100]) {
      first.write(() => first.put(first.documents, Buffer.from('k'), Buffer.alloc(bytes, 1)));
    }
    await first.checkpoint();
    first.write(() => first.put(first.documents, Buffer.from('other'), Buffer.alloc(10)));
    await first.close();

    const again = new Database(where, 'none');
    await again.close();

    expect(again.pages.covered).to.equal(again.pages.pages);
  });

  it('are refused when the file is shorter, or older than its checksums', async () => {
    for (let size = 0; size < pages() * PAGE; size += PAGE * 3) {
      const said = await startOf({ ...files, 'data.mdb': (files['data.mdb'] ?? Buffer.alloc(0)).subarray(0, size) });
      expect(said, `${size} bytes`).to.match(/data\.mdb is (damaged|not as it was written)|does not belong/);
    }
    const older = await startOf({ ...before, 'data.sums': files['data.sums'] ?? Buffer.alloc(0) });

    expect(older).to.match(/data\.mdb is not as it was written: it is older than data\.sums.*remove \S+data\.sums/);
    expect(await startOf(before)).to.equal('60 found');
  });

  it('start without checksums, with those of another store, and with those of the checkpoint before', async () => {
    const { 'data.sums': _sums, ...without } = files;
    const other = join(dir, 'other');
    mkdirSync(other);
    await new Database(other, 'none').close();

    expect(await startOf(without)).to.equal('all');
    expect(await startOf({ ...files, 'data.sums': readFileSync(join(other, 'data.sums')) })).to.equal('all');
    expect(await startOf({ ...files, 'data.sums': before['data.sums'] ?? Buffer.alloc(0) })).to.equal('all');
  });

  it('end the process with a code of its own, so that it is not started again and again', async () => {
    const where = join(placed({}), 'store');
    const page = PAGE * 5 + 100;
    mkdirSync(where);
    for (const [name, bytes] of Object.entries(tables((all) => all.fill(1, page, page + 50)))) {
      writeFileSync(join(where, name), bytes);
    }

    const ended = await startStoreProcess(dirname(where)).then(
      ({ kill }) => kill().then(() => 'it started'),
      (error: Error) => error.message,
    );

    expect(ended).to.equal(`ended with ${DAMAGED_EXIT_CODE}`);
  });

  it('are covered again after a start without checksums', async () => {
    const { 'data.sums': _sums, ...without } = files;
    const where = placed(without);

    await new Database(where, 'none').close();
    const database = new Database(where, 'none');
    await database.close();

    expect(database.pages.pages).to.be.greaterThan(20);
    expect(database.pages.covered).to.equal(database.pages.pages);
  });
});

describe('embedded-db document that is damaged while the store runs', () => {
  it('is never given: a read that meets it says so, others go on', async () => {
    const dir = tempDir();
    const damaged = new Store(dir, 'none', Date.now);
    const collection = damaged.catalog.ensure('x', 'c');
    const keys = [1, 2].map((n) => damaged.documents.keyOf(collection, int32(n)));
    damaged.database.write(() => {
      for (const [i, key] of keys.entries()) {
        const doc = Buffer.from(serialize({ _id: i + 1, text: 'x'.repeat(50) }));
        damaged.database.put(damaged.database.documents, key, i === 0 ? doc : doc.subarray(0, 20));
      }
    });
    const [whole = Buffer.alloc(0), cut = Buffer.alloc(0)] = keys;

    expect(damaged.documents.get(whole)).to.have.lengthOf.above(60);
    expect(() => damaged.documents.get(cut)).to.throw(/^A document of x\.c in data\.mdb is damaged.*store check/);
    await damaged.database.close();
    rmSync(dir, { recursive: true });
  });

  it('is passed over when its time is over: others are removed, and it is told once', async () => {
    const dir = tempDir();
    const told: unknown[] = [];
    const disk: DiskEvents = {
      ...{ full() {}, room() {}, notStored() {}, notNoted() {}, fatal() {} },
      notExpired: (error) => void told.push(error),
    };
    try {
      await withStore({ dir, durability: 'none' }, async (db) => {
        for (const name of ['a', 'b']) {
          await db.collection(name).createIndex({ at: 1 }, { expireAfterSeconds: 60 });
          const docs = [1, 2, 3].map((n) => ({ _id: n as never, at: new Date(n) }));
          await db.collection(name).insertMany(docs);
        }
      });
      await cutDocument(dir, 'a', 2);

      await withStore({ dir, durability: 'none', ttlEveryMs: 10, disk }, async (db) => {
        const left = async (name: string) => db.collection(name).estimatedDocumentCount();
        await eventually(async () => (await left('a')) === 1 && (await left('b')) === 0, 'the whole ones are gone');
        await db.collection('b').insertOne({ at: new Date(1) });
        await eventually(async () => (await left('b')) === 0, 'the sweeps go on');
      });
      expect(told.map(String)).to.have.lengthOf(1);
      expect(String(told[0])).to.match(/A document of x\.a in data\.mdb is damaged/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  async function withStore(options: EmbeddedStoreOptions, use: (db: Db) => Promise<void>): Promise<void> {
    const store = await startEmbeddedStore(options);
    const client = new MongoClient(store.uri);
    try {
      await use(client.db('x'));
    } finally {
      await client.close();
      await store.close();
    }
  }

  function cutDocument(dir: string, name: string, id: number): Promise<void> {
    const { database, catalog, documents } = new Store(dir, 'none', Date.now);
    const collection = catalog.ensure('x', name);
    const key = documents.keyOf(collection, int32(id));
    const doc = database.get(database.documents, key) ?? Buffer.alloc(0);
    database.write(() => database.put(database.documents, key, doc.subarray(0, doc.length - 3)));
    return database.close();
  }
});
