import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connectStore, type Store } from '../../../../shared/platform/mongo/connect.ts';
import { StartError } from '../../../../shared/platform/runtime/lifecycle.ts';
import { embeddedStoreDir } from '../../../../shared/platform/runtime/unix-socket.ts';
import { startEmbeddedStore } from '../../../../workers/embedded-db/server.ts';

/** Longer than the driver looks for a server (3 s). */
const LATE_MS = 3_500;

describe('connectStore', () => {
  let dataDir: string;
  const closers: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'harkara-connect-'));
    mkdirSync(join(dataDir, 'store'));
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('waits for a store that starts later than the driver would wait', async () => {
    const connecting: Promise<Store> = connectStore({ mongodbUri: '', dataDir, mongodbDatabase: 'x' }, 30_000);
    connecting.catch(() => {}); // Awaited below.
    await wait(LATE_MS);
    const server = await startEmbeddedStore({ dir: join(dataDir, 'store'), durability: 'none' });
    closers.push(() => server.close());

    const store = await connecting;
    closers.unshift(() => store.close());

    expect(await store.db.collection('things').countDocuments()).to.equal(0);
  });

  it('finds the store of a data directory whose path is too long for a Unix socket', async () => {
    const deep = join(dataDir, 'd'.repeat(120));
    const server = await startEmbeddedStore({ dir: embeddedStoreDir(deep), durability: 'none' });
    closers.push(() => server.close());

    const store = await connectStore({ mongodbUri: '', dataDir: deep, mongodbDatabase: 'x' }, 0);
    closers.unshift(() => store.close());

    expect(await store.db.collection('things').countDocuments()).to.equal(0);
  });

  it('reads from the primary and writes to a majority, once, whatever the address asks for', async () => {
    const server = await startEmbeddedStore({ dir: embeddedStoreDir(dataDir), durability: 'none' });
    closers.push(() => server.close());
    const weak = 'w=1&journal=false&wtimeoutMS=10&readPreference=secondaryPreferred&readConcernLevel=majority';

    const mongodbUri = `${server.uri}/?retryWrites=true&${weak}`;
    const store = await connectStore({ mongodbUri, dataDir, mongodbDatabase: 'x' }, 0);
    closers.unshift(() => store.close());

    const { readPreference, readConcern, writeConcern } = store.db.collection('ledger');
    expect(readPreference?.mode).to.equal('primary');
    expect(readConcern?.level).to.equal('local');
    expect(writeConcern).to.include({ w: 'majority', journal: true }).and.not.to.have.property('wtimeoutMS');
    expect(store.db.client.options.retryWrites).to.equal(false);
  });

  it('says in one sentence when there is none', async () => {
    const error: unknown = await connectStore({ mongodbUri: '', dataDir, mongodbDatabase: 'x' }, 0).catch(
      (reason: unknown) => reason,
    );

    expect(error).to.be.instanceOf(StartError);
    expect(error)
      .to.have.property('message')
      .that.matches(/^The embedded store does not answer as MongoDB: /);
  });

  it('says in one sentence when HARKARA_MONGODB_URI is no address', async () => {
    const error: unknown = await connectStore({ mongodbUri: 'localhost', dataDir, mongodbDatabase: 'x' }, 0).catch(
      (reason: unknown) => reason,
    );

    expect(error)
      .to.be.instanceOf(StartError)
      .and.to.have.property('message')
      .that.includes('HARKARA_MONGODB_URI is not');
  });
});
