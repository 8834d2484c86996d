import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AppProcess, startApp } from '../../../../scripts/bench/app-process.ts';
import { connectStore, type Store } from '../../../../shared/platform/mongo/connect.ts';
import { countWorking, livingProcesses, type ProcessDocument } from '../../../../shared/platform/processes/report.ts';
import { builtProduct } from '../../../support/built.ts';
import { eventually } from '../../../support/eventually.ts';
import { latch } from '../../../support/latch.ts';
import { held } from '../../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../../support/mongo-wire/proxy.ts';
import { useStore } from '../../../support/store.ts';

describe('reports of processes', () => {
  const store = useStore();

  it('of those that do not work yet, or no more, count as no workers, but as living', async () => {
    const report = (machine: string, app: string, works: boolean): ProcessDocument => {
      return { _id: `${machine}@b#1/7/1`, app, at: new Date(), works, metrics: '[]' };
    };
    await store.db
      .collection<ProcessDocument>('processes')
      .insertMany([
        report('working', 'webhooks', true),
        report('starting', 'webhooks', false),
        report('other', 'batches', true),
      ]);

    expect(await countWorking('webhooks', store.db)).to.equal(2); // with the process that asks
    expect((await livingProcesses(store.db)).length).to.equal(3);
  });

  describe('that build indexes, then work, then stop', () => {
    let fresh: Store;
    let proxy: WireProxy;
    let dir: string;
    let app: AppProcess | undefined;
    before(async () => {
      const mongodbDatabase = `${store.db.databaseName}_fresh`;
      fresh = await connectStore({ mongodbUri: store.uri, dataDir: '', mongodbDatabase });
      proxy = await startWireProxy(store.uri);
      dir = mkdtempSync(join(tmpdir(), 'harkara-report-'));
    });
    after(async () => {
      app?.child.kill('SIGKILL');
      await app?.ended;
      await fresh.db.dropDatabase();
      await fresh.close();
      await proxy.close();
      rmSync(dir, { recursive: true, force: true });
    });

    it('say so', async () => {
      const { db } = fresh;
      const [building, stopping] = [latch(), latch()];
      const builds = proxy.inject({ command: 'createIndexes', collection: 'accounts', happens: held(building.opened) });
      const env = { HARKARA_MONGODB_URI: proxy.uri, HARKARA_MONGODB_DATABASE: db.databaseName, HARKARA_DATA_DIR: dir };
      app = startApp('webhooks', { dist: await builtProduct(), env, logDir: dir });
      app.ready.catch(() => {});
      const told = () => db.collection<ProcessDocument>('processes').findOne({ app: 'webhooks' });

      await eventually(() => builds.met === 1, 'it builds indexes');
      const preparing = await told();
      building.open();
      await app.ready;
      await eventually(async () => (await told())?.works === true, 'it works');
      // It cannot renew its leases, nor give them back.
      proxy.inject({ command: 'update', collection: 'leases', happens: held(stopping.opened) });
      app.child.kill('SIGTERM');
      await eventually(async () => (await told())?.works === false, 'it stops');
      stopping.open();
      await app.ended;

      expect(preparing?.works).to.equal(false);
      expect(await told()).to.include({ works: false, ended: true });
      expect((await livingProcesses(db)).map((one) => one.app)).not.to.include('webhooks');
    });
  });
});
