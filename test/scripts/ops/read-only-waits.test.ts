import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { type AppProcess, startApp } from '../../../scripts/bench/app-process.ts';
import { operator } from '../../../scripts/ops/audited.ts';
import { Failure } from '../../../scripts/ops/command.ts';
import { openContext } from '../../../scripts/ops/context.ts';
import { makeReadOnly, OPS_CLOSED_MS, OPS_LOOK_MS } from '../../../scripts/ops/store/read-only.ts';
import { loadConfig } from '../../../shared/config/settings.ts';
import { WriteRefused } from '../../../shared/mongo/guarded-connection.ts';
import { type ProcessDocument, writingProcesses } from '../../../shared/processes/report.ts';
import { parseIdentity } from '../../../shared/runtime/process-identity.ts';
import { closeAccess, noteClosed, openAccess, readAccess } from '../../../shared/store-access/access-store.ts';
import { builtProduct } from '../../support/built.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const PERIOD = { mode: 'read_only', period: 'p1', since: new Date() } as const;
const ELSEWHERE = 'other@b#1/7/1';

describe('a store that becomes read-only, and writes that are under way', () => {
  let store: TestStore;
  let proxy: WireProxy;
  let dir: string;
  let app: AppProcess | undefined;
  beforeEach(async () => {
    store = await openTestStore();
    proxy = await startWireProxy(store.uri);
    dir = mkdtempSync(join(tmpdir(), 'harkara-waits-'));
  });
  afterEach(async () => {
    app?.child.kill('SIGKILL');
    await app?.ended;
    app = undefined;
    await proxy.close();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const processes = () => store.db.collection<ProcessDocument>('processes');

  it('waits for a process that ended its reports before it said that it is closed', async () => {
    const { db } = store;
    const clock = new ManualClock();
    const close = () => makeReadOnly({ db, clock, config: { auditDays: 30 }, actor: operator() });
    const at = new Date(Date.now() - 40_000);
    await processes().insertOne({ _id: ELSEWHERE, app: 'gateway', at, works: true, metrics: '[]' });

    const first = close().then(String, String);
    await eventually(async () => (await readAccess(db)) !== undefined, 'the store is read-only');
    clock.turn(200_000);
    const told = await first;
    await noteClosed(db, parseIdentity(ELSEWHERE), (await readAccess(db))?.period ?? '');
    const { mode } = await close();

    expect(told).to.include(`may still write: gateway (${ELSEWHERE})`);
    expect(mode).to.equal('read_only');
  });

  it('a gateway reports once more when it begins to close, and nobody waits for it when it has ended', async () => {
    const env = { MONGODB_URI: store.uri, MONGODB_DATABASE: store.db.databaseName, HARKARA_DATA_DIR: dir };
    const settings = { ...env, PORT: '0', METRICS_PORT: '0' };
    app = startApp('gateway', { dist: await builtProduct(), env: settings, logDir: dir });
    await app.ready;
    const own = () => processes().findOne({ app: 'gateway', _id: { $ne: ELSEWHERE } });
    await eventually(async () => (await own())?.works === true, 'it works');

    await closeAccess(store.db, PERIOD);
    await eventually(async () => (await own())?.works === false, 'it begins to close');
    await openAccess(store.db, PERIOD);
    await eventually(async () => (await own())?.works === true, 'it works again');
    app.child.kill('SIGTERM');
    await app.ended;

    expect(await own()).to.include({ ended: true });
    const waitedFor = (await writingProcesses(store.db)).filter(({ _id }) => _id !== ELSEWHERE);
    expect(waitedFor).to.deep.equal([]);
  });

  it('a command looks again when it learned late that the store was open', async () => {
    const settings = { MONGODB_URI: proxy.uri, MONGODB_DATABASE: store.db.databaseName, HARKARA_DATA_DIR: dir };
    const context = openContext(loadConfig(settings), { err: () => {} });
    const db = await context.db();
    const began = performance.now();
    await eventually(() => performance.now() - began > OPS_LOOK_MS, 'its look is old');
    const look = proxy.inject({
      command: 'find',
      collection: 'store_state',
      happens: async ({ message }, link) => {
        const open = await link.ask(message);
        await closeAccess(store.db, PERIOD);
        await wait(OPS_LOOK_MS);
        link.tell(open);
      },
    });

    const written = db.collection('things').insertOne({});
    const refused = await written.then(() => undefined).catch((error: unknown) => error);
    await context.close();

    expect(look.met).to.equal(1);
    expect(refused).to.be.instanceOf(WriteRefused);
  });

  it('a command whose write was answered later than it is waited for says that a copy may lack it', async () => {
    const settings = { MONGODB_URI: proxy.uri, MONGODB_DATABASE: store.db.databaseName, HARKARA_DATA_DIR: dir };
    const context = openContext(loadConfig(settings), { err: () => {} });
    const db = await context.db();
    const late = proxy.inject({
      command: 'insert',
      collection: 'things',
      happens: async ({ message }, link) => {
        const done = await link.ask(message);
        await closeAccess(store.db, PERIOD);
        await wait(OPS_CLOSED_MS);
        link.tell(done);
      },
    });

    const written = db.collection('things').insertOne({ late: true });
    const failed = await written.then(() => undefined).catch((error: unknown) => error);
    await context.close();

    expect(late.met).to.equal(1);
    expect(failed).to.be.instanceOf(Failure);
    expect(Reflect.get(Object(failed), 'message')).to.include('perhaps not in a copy');
  });
});
