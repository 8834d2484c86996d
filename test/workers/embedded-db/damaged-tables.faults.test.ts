import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'bson';
import { type Db, MongoClient } from 'mongodb';
import { DAMAGED_EXIT_CODE, DamageFound } from '../../../shared/platform/runtime/lifecycle.ts';
import { int32 } from '../../../workers/embedded-db/bson/value.ts';
import { Store } from '../../../workers/embedded-db/commands/store.ts';
import type { DiskEvents } from '../../../workers/embedded-db/group-commit.ts';
import { checkStore } from '../../../workers/embedded-db/offline.ts';
import { type EmbeddedStoreOptions, startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { eventually } from '../../support/eventually.ts';
import { startStoreProcess } from './store-process.ts';
import { tempDir } from './store-under-test.ts';

/** LMDB's two meta pages. */
const META_BYTES = 2 * 8192;

describe('embedded-db tables that LMDB cannot read', () => {
  let dir: string;
  let store: string;
  beforeEach(async () => {
    dir = tempDir();
    store = join(dir, 'store');
    mkdirSync(store);
    const database = new Database(store, 'none');
    database.write(() => {
      for (let i = 0; i < 90; i++) database.put(database.documents, Buffer.from(`k${i}`), Buffer.alloc(2_000, i));
    });
    await database.close();
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function spoil(from: number, to: number, change: (byte: number) => number): void {
    const path = join(store, 'data.mdb');
    const bytes = readFileSync(path).subarray(from, to);
    const fd = openSync(path, 'r+');
    writeSync(fd, bytes.map(change), 0, bytes.length, from); // In place, because a running store has mapped the file.
    closeSync(fd);
  }

  for (const [what, from, to, change, why] of [
    ['zeros in place of all pages', META_BYTES, Infinity, () => 0, '(MDB_CORRUPTED: '],
    ['other bytes in all pages', META_BYTES, Infinity, (byte: number) => byte ^ 0x55, '(MDB_PAGE_NOTFOUND: '],
    ['zeros in place of a first page', 0, 8192, () => 0, 'its first pages are none of LMDB'],
    ['zeros in place of all that says what the file is', 0, META_BYTES, () => 0, 'its first pages are none of LMDB'],
  ] as const) {
    it(`are refused with file, reason and way out: ${what}`, async () => {
      spoil(from, to, change);

      const said = await startEmbeddedStore({ dir: store, durability: 'none' }).catch((error: unknown) => error);

      expect(said).to.be.instanceOf(DamageFound);
      expect(String(said)).to.match(/data\.mdb is damaged \(.*\): .*from one backup.*store restore FILE/);
      expect(String(said)).to.include(why);
    });
  }

  it('end the process with a code of its own, so that it is not started again and again', async () => {
    spoil(META_BYTES, Infinity, () => 0);

    const ended = await startStoreProcess(dir).then(
      ({ kill }) => kill().then(() => 'it started'),
      (error: Error) => error.message,
    );

    expect(ended).to.equal(`ended with ${DAMAGED_EXIT_CODE}`);
  });

  it('are told by the check, too', async () => {
    spoil(META_BYTES, Infinity, () => 0);

    const said = await checkStore(store, () => {}).catch((error: unknown) => error);

    expect(said).to.be.instanceOf(DamageFound);
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
      ...{ full() {}, room() {}, notStored() {}, fatal() {} },
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

  function cutDocument(dir: string, name: string, id: number): Promise<void> {
    const { database, catalog, documents } = new Store(dir, 'none', Date.now);
    const collection = catalog.ensure('x', name);
    const key = documents.keyOf(collection, int32(id));
    const doc = database.get(database.documents, key) ?? Buffer.alloc(0);
    database.write(() => database.put(database.documents, key, doc.subarray(0, doc.length - 3)));
    return database.close();
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
