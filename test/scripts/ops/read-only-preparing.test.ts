import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApp } from '../../../scripts/bench/app-process.ts';
import { operator } from '../../../scripts/ops/audited.ts';
import { makeReadOnly } from '../../../scripts/ops/store/read-only.ts';
import { connectStore, type Store } from '../../../shared/mongo/connect.ts';
import { writingProcesses } from '../../../shared/processes/report.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { closedProcesses, readAccess } from '../../../shared/store-access/access-store.ts';
import { builtProduct } from '../../support/built.ts';
import { eventually } from '../../support/eventually.ts';
import { held } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('a process that builds indexes when the store becomes read-only', () => {
  let store: TestStore;
  let fresh: Store;
  let proxy: WireProxy;
  let dir: string;
  before(async () => {
    store = await openTestStore();
    const mongodbDatabase = `${store.db.databaseName}_fresh`;
    fresh = await connectStore({ mongodbUri: store.uri, dataDir: '', mongodbDatabase });
    proxy = await startWireProxy(store.uri);
    dir = mkdtempSync(join(tmpdir(), 'harkara-preparing-'));
  });
  after(async () => {
    await fresh.db.dropDatabase();
    await fresh.close();
    await proxy.close();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is known, and waited for', async () => {
    const { db } = fresh;
    let goOn = (): void => {};
    const building = proxy.inject({
      command: 'createIndexes',
      collection: 'accounts',
      happens: held(
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
      ),
    });
    const env = { MONGODB_URI: proxy.uri, MONGODB_DATABASE: db.databaseName, HARKARA_DATA_DIR: dir };
    const app = startApp('background', { dist: await builtProduct(), env, logDir: dir });
    app.ready.catch(() => {});
    await eventually(() => building.met === 1, 'it builds indexes');

    const closing = makeReadOnly({ db, clock: systemClock, config: { auditDays: 30 }, actor: operator() });
    await eventually(async () => (await readAccess(db)) !== undefined, 'the store is read-only');
    const [known, ...others] = await writingProcesses(db);
    goOn();
    const { period } = await closing;

    expect(known).to.include({ app: 'background' });
    expect(others).to.deep.equal([]);
    expect(await closedProcesses(db, period)).to.deep.equal(new Set([known?._id]));
    app.child.kill('SIGTERM');
    await app.ended;
  });
});
