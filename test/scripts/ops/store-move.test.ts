import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { startApp } from '../../../scripts/bench/app-process.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import { INDEXES } from '../../../shared/mongo/indexes.ts';
import { newestSchema } from '../../../shared/schema/migrate.ts';
import { builtProduct } from '../../support/built.ts';
import { eventually } from '../../support/eventually.ts';
import { bytesOf, MoveWorld } from './move-world.ts';

const SLOW_MS = 300_000;

describe('npm run ops: moving all data to another store and back', function () {
  this.timeout(SLOW_MS);
  let world: MoveWorld;
  beforeEach(async () => {
    world = await MoveWorld.open();
  });
  afterEach(() => world.close());

  const show = async (store = world.source) => JSON.parse((await world.ops(store, 'store', 'show', '--json')).out);

  it('copies every byte of what the product needs, and leaves what it makes anew', async () => {
    await world.fill(2_500);
    const before = await bytesOf(world.source.db);

    const { code, out, err } = await world.export('--json');

    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    const { audit, ...after } = await bytesOf(world.target.db);
    const { audit: auditBefore = [], ...others } = before;
    expect(after).to.deep.equal(others);
    expect(audit).to.include.members([...auditBefore]);
    const report = JSON.parse(out);
    expect(report).to.include({ ledgers: 2, balances: 1_023 });
    expect(report.collections.messages).to.include({ documents: 2_500 });
    for (const none of ['rate', 'processes']) {
      expect(await world.target.db.collection(none).countDocuments()).to.equal(0);
    }
    const indexes = await world.target.db.collection('idempotency').indexes();
    expect(indexes.map(({ name }) => name)).to.include('expiry');
    const wanted = INDEXES.filter(({ collection }) => collection === 'messages').map(({ options }) => options.name);
    const made = (await world.target.db.collection('messages').indexes()).map(({ name }) => name);
    expect(made).to.have.members(['_id_', ...wanted]);
    const actions = await world.target.db.collection('audit').find({ action: 'store.export' }).toArray();
    expect(actions).to.have.length(1);
  });

  it('marks the source as moved, which refuses starts until it is reopened, and opens the target', async () => {
    await world.fill(10);
    await world.export();

    expect(await show()).to.include({ access: 'moved' });
    expect(await show(world.target)).to.deep.include({ access: 'open', schema: newestSchema() });
    const env = { ...world.envOf(world.source), PORT: '0', METRICS_PORT: '0' };
    const gateway = startApp('gateway', { dist: await builtProduct(), env, logDir: world.dir });
    const refused = await gateway.ready.catch(String);
    const changed = await world.ops(world.source, 'account', 'create', '--name', 'Late');
    const again = await world.export();
    const reopened = await world.ops(world.source, 'store', 'reopen');

    expect(refused).to.include('were moved to').and.include('store reopen');
    expect(changed).to.include({ code: 1, out: '' });
    expect(changed.err).to.include('were moved to');
    expect(again.err).to.include('is not empty');
    expect(reopened.code).to.equal(0);
    const audited = await world.source.db.collection('audit').find({ 'subject.kind': 'store' }).toArray();
    expect(audited.map(({ action }) => action)).to.deep.equal(['store.read-only', 'store.reopen']);
    expect(await show()).to.include({ access: 'open' });
  });

  it('brings the data back by an import', async () => {
    await world.fill(100);
    await world.export();
    const { messages, accounts, ledger } = await bytesOf(world.target.db);
    await world.source.db.dropDatabase();

    const from = [world.target.uri, '--database', world.target.db.databaseName];
    const { code, err } = await world.ops(world.source, 'store', 'import', ...from);

    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    const back = await bytesOf(world.source.db);
    expect(back).to.deep.include({ messages, accounts, ledger });
    expect(await show(world.target)).to.include({ access: 'moved' });
    for (const { _id } of await world.source.db.collection('accounts').find().toArray()) {
      expect((await verifyLedger(world.source.db, _id as never)).problems).to.deep.equal([]);
    }
  });

  it('says with which settings the product uses the data from then on, in both directions', async () => {
    await world.fill(1);
    const { db, uri } = world.target;

    const { out } = await world.export();
    const shown = await world.ops(world.target, 'store', 'show');
    const embedded = { HARKARA_DATA_DIR: world.dir };
    const back = await world.opsWith(embedded, 'store', 'import', uri, '--database', db.databaseName);
    const refused = await world.ops(world.target, 'account', 'create', '--name', 'Late');

    expect(out).to.match(/is marked as moved\. Set MONGODB_URI and MONGODB_DATABASE for mongodb:/);
    expect(shown.out).to.match(/^Schema \d+; neither read-only nor moved\.$/);
    expect(back).to.include({ code: 0, err: '' });
    expect(back.out).to.include('is marked as moved. Leave MONGODB_URI out of .env, take secret.key along');
    expect(refused.err).to.include(`the embedded store in ${world.dir}`).and.to.include('remove MONGODB_URI to use');
  });

  it('goes on after kill -9 at any time, and meanwhile neither store can be used', async () => {
    await world.fill(6_000);
    const before = await bytesOf(world.source.db);
    const copied = async (): Promise<number> => {
      const state = await world.target.db
        .collection<Document>('store_state')
        .findOne({ _id: 'copy of messages' as never });
      return Number(state?.count ?? 0);
    };
    const seen: number[] = [];
    for (const share of [1, 3_000]) {
      const child = await spawnExport();
      await eventually(async () => (await copied()) >= share, `${share} messages are copied`, SLOW_MS);
      child.kill('SIGKILL');
      await once(child, 'exit');
      seen.push(await copied());
    }
    const [source, target] = [await show(), await show(world.target)];
    // As if the export had died after an insert and before it noted its progress.
    const unnoted = await world.source.db.collection<Document>('messages').find().sort({ _id: -1 }).limit(1).toArray();
    await world.target.db
      .collection<Document>('messages')
      .insertMany(unnoted)
      .catch(() => {});

    const { code, err } = await world.export();

    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
    expect([source.access, target.access]).to.deep.equal(['read_only', 'copying']);
    const { messages, ledger } = await bytesOf(world.target.db);
    expect({ messages, ledger }).to.deep.equal({ messages: before.messages, ledger: before.ledger });
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

  it('refuses what would end badly, with one sentence', async () => {
    await world.fill(10);
    const { uri, db } = world.source;
    const secret = uri.replace('mongodb://', 'mongodb://root:secret@');

    const onLine = await world.ops(world.source, 'store', 'export', secret);
    const itself = await world.ops(world.source, 'store', 'export', uri, '--database', db.databaseName);
    await world.target.db.collection<Document>('accounts').insertOne({ name: 'Somebody else' });
    const full = await world.export();
    const away = await world.ops(world.source, 'store', 'export', 'mongodb://127.0.0.1:1/');

    expect(onLine.code).to.equal(2);
    expect(onLine.err).to.include('STORE_URI').and.not.include('secret@');
    expect(itself).to.include({ code: 1 });
    expect(full.err).to.include('is not empty: it has accounts');
    expect(away.err).to.include('mongodb://127.0.0.1:1/').and.include('does not answer');
    expect(await show()).to.include({ access: 'open' });
  });

  it('refuses to go on with a copy when the source was written to since', async () => {
    await world.fill(10);
    await world.target.db
      .collection<Document>('store_state')
      .insertOne({ _id: 'access' as never, mode: 'copying', period: 'earlier', since: new Date() });

    const { code, err } = await world.export();

    expect(code).to.equal(1);
    expect(err).to.include('unfinished copy').and.include('written to since');
    expect(await show()).to.include({ access: 'open' });
  });
});
