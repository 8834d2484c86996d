import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import { startApp } from '../../../scripts/bench/fleet.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { INDEXES } from '../../../shared/platform/mongo/indexes.ts';
import { readSchema, SCHEMA, UNFINISHED_COPY } from '../../../shared/platform/mongo/schema.ts';
import { embeddedStoreDir } from '../../../shared/platform/runtime/unix-socket.ts';
import { startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { builtProduct } from '../../support/built.ts';
import { eventually } from '../../support/eventually.ts';
import { bytesOf, MoveWorld } from './move-world.ts';

const SLOW_MS = 300_000;

describe('npm run ops: copying all data to another store and back', function () {
  this.timeout(SLOW_MS);
  let world: MoveWorld;
  beforeEach(async () => {
    world = await MoveWorld.open();
  });
  afterEach(() => world.close());

  it('copies every byte of what the product needs, and leaves what it makes anew', async () => {
    await world.fill(2_500);
    const before = await bytesOf(world.source.db);

    const { code, out, err } = await world.export('--json');

    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    const { audit, ...after } = await bytesOf(world.target.db);
    const { audit: auditBefore = [], ...others } = before;
    expect(after).to.deep.equal(others);
    expect(audit).to.include.members([...auditBefore]);
    expect(await bytesOf(world.source.db)).to.deep.equal(before);
    const report = JSON.parse(out);
    expect(report).to.include({ ledgers: 2, balances: 1_023 });
    expect(report.collections.messages).to.include({ documents: 2_500 });
    expect(await world.target.db.collection('rate').countDocuments()).to.equal(0);
    const indexes = await world.target.db.collection('idempotency').indexes();
    expect(indexes.map(({ name }) => name)).to.include('expiry');
    const wanted = INDEXES.filter(({ collection }) => collection === 'messages').map(({ options }) => options.name);
    const made = (await world.target.db.collection('messages').indexes()).map(({ name }) => name);
    expect(made).to.have.members(['_id_', ...wanted]);
    const actions = await world.target.db.collection('audit').find({ action: 'store.export' }).toArray();
    expect(actions.map(({ outcome }) => outcome)).to.deep.equal(['done']);
    expect(await readSchema(world.target.db)).to.equal(SCHEMA);
  });

  it('brings the data into an embedded store, and says with which settings the product uses them', async () => {
    await world.fill(100);
    const { messages, accounts, ledger } = await bytesOf(world.source.db);
    const { uri, db } = world.source;
    const embedded = { HARKARA_DATA_DIR: world.dir, HARKARA_MONGODB_DATABASE: world.target.db.databaseName };

    const into = await world.opsWith(embedded, 'store', 'import', uri, '--database', db.databaseName);
    const out = await world.opsWith(embedded, 'store', 'export', world.target.uri);

    expect({ code: into.code, err: into.err }).to.deep.equal({ code: 0, err: '' });
    expect(into.out).to.include('Leave HARKARA_MONGODB_URI out of .env, take secret.key along');
    expect({ code: out.code, err: out.err }).to.deep.equal({ code: 0, err: '' });
    expect(out.out).to.match(/Set HARKARA_MONGODB_URI and HARKARA_MONGODB_DATABASE for mongodb:/);
    expect(await bytesOf(world.target.db)).to.deep.include({ messages, accounts, ledger });
    for (const { _id } of await world.target.db.collection('accounts').find().toArray()) {
      expect((await verifyLedger(world.target.db, _id as never)).problems).to.deep.equal([]);
    }
  });

  it('begins anew after kill -9, and until it is done no process and no command uses the target', async () => {
    await world.fill(6_000);
    const before = await bytesOf(world.source.db);
    const child = await spawnExport();
    const copied = () => world.target.db.collection('messages').estimatedDocumentCount();
    await eventually(async () => (await copied()) >= 1_000, 'messages are copied', SLOW_MS);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const env = { ...world.envOf(world.target), HARKARA_PORT: '0', HARKARA_METRICS_PORT: '0' };
    const gateway = startApp('gateway', { dist: await builtProduct(), env, logDir: world.dir });
    const refused = await gateway.ready.catch(String);
    const changed = await world.ops(world.target, 'account', 'create', '--name', 'Early');
    const schema = await readSchema(world.target.db);
    // No longer in the source when the command is run again.
    await world.target.db.collection<Document>('conversations').insertOne({ _id: 'left' as never });

    const { code, err } = await world.export();

    expect(schema).to.equal(UNFINISHED_COPY);
    for (const said of [refused, changed.err]) expect(said).to.include('a copy that is not complete');
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    const { audit: _, ...after } = await bytesOf(world.target.db);
    const { audit: __, ...others } = before;
    expect(after).to.deep.equal(others);
    expect(await world.target.db.collection('conversations').countDocuments()).to.equal(0);
    expect(await readSchema(world.target.db)).to.equal(SCHEMA);
  });

  async function spawnExport(): Promise<ChildProcess> {
    const { uri, db } = world.target;
    const words = ['store', 'export', uri, '--database', db.databaseName];
    const program = join(await builtProduct(), '../scripts/ops/main.js');
    return spawn(process.execPath, [program, ...words], {
      stdio: 'ignore',
      env: { ...process.env, ...world.envOf(world.source) },
    });
  }

  it('refuses while a process uses one of the two, and changes nothing', async () => {
    await world.fill(10);
    const dist = await builtProduct();
    for (const used of [world.source, world.target]) {
      const env = { ...world.envOf(used), HARKARA_DATA_DIR: world.dir };
      const app = startApp('webhooks', { dist, env, logDir: world.dir });
      await app.ready;
      const { code, err } = await world.export();
      app.child.kill('SIGTERM');
      await app.ended;

      expect(code).to.equal(1);
      expect(err).to.include('is in use by webhooks: stop the product first');
      expect(await world.target.db.collection('accounts').countDocuments()).to.equal(0);
    }
    const embedded = await startEmbeddedStore({ dir: embeddedStoreDir(world.dir), durability: 'none' });
    const { uri, db } = world.source;
    const held = await world.opsWith(
      { HARKARA_DATA_DIR: world.dir },
      'store',
      'import',
      uri,
      '--database',
      db.databaseName,
    );
    await embedded.close();

    expect(held.code).to.equal(1);
    expect(held.err).to.match(/is in use by process \d+/);
  });

  it('refuses what would end badly, with one sentence', async () => {
    await world.fill(10);
    const { uri, db } = world.source;
    const secret = uri.replace('mongodb://', 'mongodb://root:secret@');

    const onLine = await world.ops(world.source, 'store', 'export', secret);
    const itself = await world.ops(world.source, 'store', 'export', uri, '--database', db.databaseName);
    const nothing = await world.ops(world.target, 'store', 'export', uri, '--database', 'another_name');
    await world.target.db.collection<Document>('accounts').insertOne({ name: 'Somebody else' });
    const full = await world.export();
    const away = await world.ops(world.source, 'store', 'export', 'mongodb://127.0.0.1:1/');

    expect(onLine.code).to.equal(2);
    expect(onLine.err).to.include('HARKARA_STORE_URI').and.not.include('secret@');
    expect(itself).to.include({ code: 1 });
    expect(nothing.err).to.include('has no data of this product');
    expect(full.err).to.include('is not empty: it has accounts');
    expect(away.err).to.include('mongodb://127.0.0.1:1/').and.include('does not answer');
    expect(await readSchema(world.source.db)).to.equal(SCHEMA);
  });
});
