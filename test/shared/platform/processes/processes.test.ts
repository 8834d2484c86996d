import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type AppProcess, startApp } from '../../../../scripts/bench/fleet.ts';
import { createCarrier } from '../../../../shared/carriers/carrier-store.ts';
import { connectStore, type Store } from '../../../../shared/platform/mongo/connect.ts';
import { countWorking, livingProcesses, type ProcessDocument } from '../../../../shared/platform/processes/report.ts';
import { openSecretBox } from '../../../../shared/platform/processes/run-app.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { StartError } from '../../../../shared/platform/runtime/lifecycle.ts';
import { builtProduct } from '../../../support/built.ts';
import { eventually } from '../../../support/eventually.ts';
import { latch } from '../../../support/latch.ts';
import { answered, held, pass } from '../../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../../support/mongo-wire/proxy.ts';
import { openScriptedMongo, type ScriptedAnswer } from '../../../support/scripted-mongo.ts';
import { openTestStore, type TestStore, useStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

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

    expect(await countWorking('webhooks', store.db)).to.equal(2); // includes the process that asks
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

const KEY = 'ab'.repeat(32);

const PLACE = ['carriers', 'acme', 'password'] as const;

describe('the box of the secret key', () => {
  let store: TestStore;
  let dataDir: string;
  let file: string;
  beforeEach(async () => {
    store = await openTestStore();
    dataDir = mkdtempSync(join(tmpdir(), 'harkara-'));
    file = join(dataDir, 'secret.key');
  });
  afterEach(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const open = (secretKey = '') => openSecretBox({ secretKey, dataDir }, store.db);
  const seal = async () =>
    createCarrier(store.db, systemClock, await open(), {
      ...{ _id: 'acme', name: 'Acme', host: 'smpp.example.com', port: 2775, systemId: 'us', password: 'secret' },
    });

  it('makes the key once, when several processes start for the first time', async () => {
    const boxes = await Promise.all([open(), open(), open()]);

    expect(boxes.map((box) => box.open(boxes[0]?.seal('word', PLACE) ?? '', PLACE))).to.deep.equal([
      'word',
      'word',
      'word',
    ]);
    expect(existsSync(file)).to.equal(true);
  });

  it('makes no other one when the key is missing and secrets were sealed with it; the old one put back works', async () => {
    const { password } = await seal();
    renameSync(file, `${file}.away`);

    const refusal = await open().catch((error: unknown) => error);

    expect(refusal).to.be.instanceOf(StartError);
    expect(String(refusal)).to.include(file).and.to.include('put it back');
    expect(existsSync(file)).to.equal(false);
    renameSync(`${file}.away`, file);
    expect((await open()).open(password, PLACE)).to.equal('secret');
  });

  it('takes a key that was made on purpose, or comes from the setting', async () => {
    await seal();
    rmSync(file);

    await open(KEY);
    expect(existsSync(file)).to.equal(false);
    writeFileSync(file, `${KEY}\n`);
    const own = await open();

    expect((await open(KEY)).open(own.seal('word', PLACE), PLACE)).to.equal('word');
  });
});

/** The messages of a process that starts on a server with this answer to each command but hello. */
async function said(answer: ScriptedAnswer): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'harkara-first-read-'));
  const server = await openScriptedMongo({ answer: () => answer });
  const child = spawn(process.execPath, [join(await builtProduct(), 'workers', 'background', 'main.js')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HARKARA_MONGODB_URI: server.uri, HARKARA_DATA_DIR: folder, HARKARA_LOG_LEVEL: 'silent' },
  });
  try {
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(code).to.equal(1);
    return err.trim().split('\n');
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a start whose first read fails', () => {
  it('says in one sentence that the user may read nothing', async () => {
    expect(await said({ ok: 0, code: 13, errmsg: 'command find requires authentication' })).to.deep.equal([
      'The server behind HARKARA_MONGODB_URI lets its user read nothing (command find requires authentication): name a user with a password in it, who has the role readWrite on the database.',
    ]);
  });

  it('says in one sentence what nobody knows', async () => {
    expect(await said({ ok: 0, code: 50_463_173, errmsg: 'unexpected' })).to.deep.equal([
      'HARKARA_MONGODB_URI does not answer as MongoDB: unexpected',
    ]);
  });
});

/** The answer of Microsoft's DocumentDB and others to an unknown variable. */
const REFUSED = answered({ ok: 0, code: 9, errmsg: 'Use of undefined variable: NOW' });

describe('a start on a server without `$$NOW`', function () {
  this.timeout(60_000);
  const store = useStore();
  const proxy = use(() => startWireProxy(store.uri));
  let dir: string;
  before(async () => {
    proxy.inject({
      times: Number.POSITIVE_INFINITY,
      happens: (command, link) =>
        JSON.stringify(command.body()).includes('$$NOW') ? REFUSED(command, link) : pass(command, link),
    });
    dir = mkdtempSync(join(tmpdir(), 'harkara-refused-'));
  });
  after(async () => {
    rmSync(dir, { recursive: true, force: true });
  });

  for (const app of ['gateway', 'workers/background']) {
    it(`${app} ends with one sentence that says what is missing`, async () => {
      const main = join(await builtProduct(), app, 'main.js');
      const child = spawn(process.execPath, [main], {
        env: {
          ...{
            PATH: process.env.PATH,
            HARKARA_DATA_DIR: dir,
            HARKARA_LOG_LEVEL: 'silent',
            HARKARA_PORT: '0',
            HARKARA_METRICS_PORT: '0',
          },
          ...{ HARKARA_MONGODB_URI: proxy.uri, HARKARA_MONGODB_DATABASE: store.db.databaseName },
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

      expect(said).to.equal(
        'The server behind HARKARA_MONGODB_URI lacks what Harkara needs: `$$NOW` (Use of undefined variable: NOW). AWS DocumentDB and Azure Cosmos DB are not enough: run MongoDB 6.0 or newer.\n',
      );
      expect(code).to.equal(1);
      expect(await store.db.collection('processes').countDocuments()).to.equal(0);
    });
  }
});
