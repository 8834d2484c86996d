import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Db, MongoClient } from 'mongodb';
import { runOps } from '../../../scripts/ops/run.ts';
import { loadConfig } from '../../../shared/platform/config/settings.ts';
import { embeddedStoreDir } from '../../../shared/platform/runtime/unix-socket.ts';
import { type EmbeddedStore, startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { tempDir } from '../../workers/embedded-db/store-under-test.ts';

interface Numbered {
  readonly _id: number;
  readonly text: string;
}

/** Always the embedded store, whatever the other tests run on: these are its own commands. */
describe('npm run ops: the embedded store as a whole', () => {
  let dataDir: string;
  let store: EmbeddedStore | undefined;
  let client: MongoClient;
  let db: Db;
  beforeEach(() => {
    dataDir = tempDir();
  });
  afterEach(async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const dirOf = (data: string) => embeddedStoreDir(data);
  async function start(data = dataDir): Promise<void> {
    store = await startEmbeddedStore({ dir: dirOf(data), durability: 'fsync' });
    client = new MongoClient(store.uri);
    db = client.db('harkara');
  }
  async function stop(): Promise<void> {
    if (store === undefined) return;
    await client.close();
    await store.close();
    store = undefined;
  }
  async function ops(line: string, data = dataDir): Promise<{ code: number; out: string; err: string }> {
    const said = { out: '', err: '' };
    const terminal = {
      out: (text: string) => {
        said.out += text;
      },
      err: (text: string) => {
        said.err += text;
      },
    };
    const code = await runOps(line.split(' '), terminal, () =>
      loadConfig({ HARKARA_DATA_DIR: data, HARKARA_MONGODB_DATABASE: 'harkara' }),
    );
    return { code, ...said };
  }
  async function fill(from: number, count: number): Promise<void> {
    const all = db.collection<Numbered>('things');
    await all.createIndex({ text: 1 });
    const text = 'x'.repeat(500);
    await all.insertMany(Array.from({ length: count }, (_, i) => ({ _id: from + i, text: `${text}${from + i}` })));
  }

  it('a backup while others write has everything that was acknowledged before, and is restored into a store that checks', async () => {
    await start();
    await fill(0, 5_000);
    let writing = true;
    const others = (async () => {
      for (let i = 10_000; writing; i++) await db.collection<Numbered>('things').insertOne({ _id: i, text: 'later' });
    })();

    const made = await ops(`store backup ${join(dataDir, 'copy.harkara')} --json`);
    writing = false;
    await others;
    const audited = await db.collection('audit').find().toArray();
    await stop();

    expect(made).to.include({ code: 0, err: '' });
    expect(audited.map(({ action, outcome }) => `${action} ${outcome}`)).to.deep.equal(['store.backup done']);
    expect(statSync(join(dataDir, 'copy.harkara')).mode & 0o777).to.equal(0o600);
    const elsewhere = tempDir();
    try {
      expect(await ops(`store restore ${join(dataDir, 'copy.harkara')}`, elsewhere)).to.include({ code: 0, err: '' });
      const checked = await ops('store check', elsewhere);
      expect(checked).to.include({ code: 0, err: '' });
      expect(checked.out).to.match(/all fit\.$/);
      await start(elsewhere);
      const there = db.collection<Numbered>('things');
      expect(await there.countDocuments({ _id: { $lt: 5_000 } })).to.equal(5_000);
      await stop();
    } finally {
      await stop();
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  it('a backup to a path that had one before is made anew, once that file was moved away', async () => {
    await start();
    const path = join(dataDir, 'nightly');
    await ops(`store backup ${path}`);
    const again = await ops(`store backup ${path}`);
    rmSync(path);
    await fill(0, 1_000);

    const next = await ops(`store backup ${path} --json`);

    expect(again).to.include({ code: 1, err: `No backup was made: ${path} is there already` });
    expect(next).to.include({ code: 0, err: '' });
    expect(statSync(path).size).to.be.above(500_000);
  });

  it('a backup is made where a killed store left the beginning of one', async () => {
    await start();
    await fill(0, 1_000);
    const path = join(dataDir, 'nightly');
    writeFileSync(`${path}.partial`, Buffer.alloc(10_000_000, 7));

    const made = await ops(`store backup ${path}`);
    await stop();

    expect(made).to.include({ code: 0, err: '' });
    expect(existsSync(`${path}.partial`)).to.equal(false);
    rmSync(dirOf(dataDir), { recursive: true });
    expect(await ops(`store restore ${path}`)).to.include({ code: 0, err: '' });
    expect((await ops('store check')).code).to.equal(0);
  });

  it('a backup stores the tables once, however often one asks whether it is done', async () => {
    await start();
    const { checkpoint } = Database.prototype;
    let stored = 0;
    Database.prototype.checkpoint = function (this: Database) {
      stored += 1;
      return checkpoint.call(this);
    };
    try {
      const path = join(dataDir, 'nightly');
      expect(await ops(`store backup ${path}`)).to.include({ code: 0 });
      await db.command({ harkaraBackup: path });
      await db.command({ harkaraBackup: path });
    } finally {
      Database.prototype.checkpoint = checkpoint;
    }

    expect(stored).to.equal(1);
  });

  it('a backup replaces no file, and one that cannot be written says so', async () => {
    await start();
    const there = join(dataDir, 'there');
    writeFileSync(there, 'mine');

    expect(await ops(`store backup ${there}`)).to.include({
      code: 1,
      err: `No backup was made: ${there} is there already`,
    });
    const nowhere = await ops(`store backup ${join(dataDir, 'no', 'such', 'folder')}`);

    expect(readFileSync(there, 'utf8')).to.equal('mine');
    expect(nowhere.code).to.equal(1);
    expect(nowhere.err).to.equal(`No backup was made: there is no directory ${join(dataDir, 'no', 'such')}`);
  });

  it('restore replaces no store, and leaves nothing of a file that is no backup', async () => {
    await start();
    await fill(0, 10);
    await stop();
    const junk = join(dataDir, 'junk');
    writeFileSync(junk, Buffer.alloc(100_000, 7));
    const elsewhere = tempDir();
    try {
      const refused = await ops(`store restore ${junk}`);
      const noBackup = await ops(`store restore ${junk}`, elsewhere);
      await start();
      const whole = join(dataDir, 'whole');
      await ops(`store backup ${whole}`);
      await stop();
      const cut = readFileSync(whole);
      writeFileSync(junk, cut.subarray(0, cut.length - 8192));
      const cutOff = await ops(`store restore ${junk}`, elsewhere);
      cut.writeUInt8(cut.readUInt8(40_000) ^ 1, 40_000);
      writeFileSync(junk, cut);
      const flipped = await ops(`store restore ${junk}`, elsewhere);

      expect(refused.code).to.equal(1);
      expect(refused.err).to.include('Move the store in');
      for (const none of [noBackup, cutOff, flipped]) {
        expect(none).to.deep.equal({
          code: 1,
          out: '',
          err: `${junk} is not a complete backup of a store, so nothing was restored. Use another one.`,
        });
      }
      await start(elsewhere);
      expect(await db.collection('things').countDocuments()).to.equal(0);
      await stop();
    } finally {
      await stop();
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  it('restore of a file that is not there says so', async () => {
    const elsewhere = tempDir();
    const missing = join(elsewhere, 'missing');

    const refused = await ops(`store restore ${missing}`, elsewhere);

    expect(refused).to.deep.equal({ code: 1, out: '', err: `There is no file ${missing}.` });
    rmSync(elsewhere, { recursive: true });
  });

  it('compact gives back the room of what was removed, and keeps the rest', async () => {
    await start();
    await fill(0, 20_000);
    await db.collection<Numbered>('things').deleteMany({ _id: { $gte: 100 } });
    await stop();

    const { code, out } = await ops('store compact --json');

    expect(code).to.equal(0);
    const { before, after } = JSON.parse(out);
    expect(after).to.be.below(before / 4);
    expect((await ops('store check')).code).to.equal(0);
    await start();
    expect(await db.collection('things').countDocuments()).to.equal(100);
  });

  it('check finds an entry that is missing, and a document that is damaged', async () => {
    await start();
    await fill(0, 100);
    await stop();
    const database = new Database(dirOf(dataDir), 'fsync');
    const [entry] = database.range(database.entries, { start: Buffer.alloc(4), end: Buffer.alloc(4, 0xff) }, false, 1);
    const [doc] = database.range(database.documents, { start: Buffer.alloc(4), end: Buffer.alloc(4, 0xff) }, true, 1);
    if (entry === undefined || doc === undefined) throw new Error('the store is empty');
    database.write(() => {
      database.remove(database.entries, entry.key);
      database.put(database.documents, doc.key, doc.value.subarray(0, doc.value.length - 3));
    });
    await database.close();

    const { code, out } = await ops('store check');

    expect(code).to.equal(1);
    expect(out).to.include('NOT ALL FIT').and.include('is missing in index text_1').and.include('is no whole BSON');
  });

  it('what needs a stopped store says so while one runs', async () => {
    await start();

    for (const verb of ['check', 'compact', 'restore /nowhere']) {
      const { code, err } = await ops(`store ${verb}`);
      expect(code).to.equal(1);
      expect(err).to.include('Stop that process first');
    }
  });
});
