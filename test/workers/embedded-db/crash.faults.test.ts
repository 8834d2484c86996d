import { type ChildProcess, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { embeddedSocketPath } from '../../../shared/platform/runtime/unix-socket.ts';
import { checkStore } from '../../../workers/embedded-db/offline.ts';
import { startEmbeddedStore } from '../../../workers/embedded-db/server.ts';
import { eventually } from '../../support/eventually.ts';
import { giveRoom, startStoreProcess, storeCommand } from './store-process.ts';
import { EMBEDDED, errorOf, tempDir } from './store-under-test.ts';

interface Doc {
  _id: number;
  group: number;
  k: string;
  tags: string[];
  padding: string;
}

if (EMBEDDED) {
  describe('embedded-db process', () => {
    let dir: string;
    let child: ChildProcess | undefined;
    beforeEach(() => {
      dir = tempDir();
    });
    afterEach(() => {
      child?.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    });

    async function startProcess(fileBlocks?: number): Promise<ChildProcess> {
      const started = await startStoreProcess(dir, fileBlocks);
      child = started.child;
      return child;
    }

    async function endProcess(): Promise<void> {
      child?.kill('SIGTERM');
      await eventually(() => child?.exitCode !== null, 'it has ended');
    }

    function uri(): string {
      return `mongodb://${encodeURIComponent(embeddedSocketPath(join(dir, 'store')))}`;
    }

    /** Writes groups of ten from several clients until the server is gone; returns the acknowledged groups. */
    async function writeUntilGone(onGroups: (acknowledged: number) => void, padding = ''): Promise<number[]> {
      const client = new MongoClient(uri(), { serverSelectionTimeoutMS: 2_000 });
      const all = client.db('x').collection<Doc>('c');
      await all.createIndexes([{ key: { k: 1 }, unique: true }, { key: { tags: 1 } }]);
      const acknowledged: number[] = [];
      let next = 0;
      await Promise.all(
        Array.from({ length: 6 }, async () => {
          for (;;) {
            const group = next++;
            try {
              await all.insertMany(
                Array.from({ length: 10 }, (_, i) => ({
                  _id: group * 10 + i,
                  group,
                  k: `${group}-${i}`,
                  tags: ['all', `g${group}`],
                  padding,
                })),
              );
            } catch {
              return; // the server is gone: whether this group was stored is unknown
            }
            acknowledged.push(group);
            onGroups(acknowledged.length);
          }
        }),
      );
      await client.close();
      return acknowledged;
    }

    /** Opens what is left: acknowledged groups exist, every group is whole, indexes and count agree. */
    async function check(acknowledged: readonly number[]): Promise<void> {
      const store = await startEmbeddedStore({ dir: join(dir, 'store'), durability: 'none' });
      const client = new MongoClient(store.uri);
      try {
        const all = client.db('x').collection<Doc>('c');
        const docs = await all.find().toArray();
        const sizes = new Map<number, number>();
        for (const { group } of docs) sizes.set(group, (sizes.get(group) ?? 0) + 1);

        expect([...sizes.values()].every((size) => size === 10)).to.equal(true);
        expect(acknowledged.filter((group) => !sizes.has(group))).to.deep.equal([]);
        expect(await all.estimatedDocumentCount()).to.equal(docs.length);
        expect(await all.countDocuments({ tags: 'all' })).to.equal(docs.length);
        expect(await all.countDocuments({ k: { $gte: '' } })).to.equal(docs.length);
      } finally {
        await client.close();
        await store.close();
      }
    }

    it('loses nothing acknowledged and nothing half when it is killed under load', async () => {
      const server = await startProcess();

      const acknowledged = await writeUntilGone((groups) => {
        if (groups === 60) server.kill('SIGKILL');
      });

      expect(acknowledged.length).to.be.at.least(60);
      await check(acknowledged);
    });

    it('loses nothing when it is killed after its log was begun anew', async () => {
      const server = await startProcess();

      const acknowledged = await writeUntilGone((groups) => {
        if (groups === 250) server.kill('SIGKILL'); // after 20 MB: the tables have been stored twice by then
      }, 'x'.repeat(8_000));

      expect(acknowledged.length).to.be.at.least(250);
      await check(acknowledged);
    });

    it('has all documents and no half index when it is killed while indexes are built', async () => {
      const server = await startProcess();
      const client = new MongoClient(uri(), { serverSelectionTimeoutMS: 2_000 });
      const all = client.db('x').collection<{ _id: number; k: string }>('c');
      const docs = 12_000;
      await all.insertMany(
        Array.from({ length: docs }, (_, _id) => ({ _id, k: `k${_id}`, l: [_id, -_id], b: _id % 7 })),
      );

      const built = all
        .createIndexes([{ key: { k: 1 }, unique: true }, { key: { l: 1 } }, { key: { b: 1, k: 1 } }])
        .then(
          () => true,
          () => false, // the server is gone
        );
      const inserts = Array.from({ length: 5 }, (_, i) => all.insertOne({ _id: docs + i, k: `k${docs + i}` }));
      await Promise.race(inserts);
      server.kill('SIGKILL');
      const ready = await built;
      const kept = (await Promise.allSettled(inserts)).filter(({ status }) => status === 'fulfilled').length;
      await client.close();

      await startProcess();
      const again = new MongoClient(uri());
      const after = again.db('x').collection<{ _id: number; k: string }>('c');
      expect(await after.countDocuments({ _id: { $gte: 0 } })).to.be.within(docs + kept, docs + inserts.length);
      if (!ready) expect(await after.listIndexes().toArray()).to.have.lengthOf(1);
      await after.createIndexes([{ key: { k: 1 }, unique: true }, { key: { l: 1 } }, { key: { b: 1, k: 1 } }]);
      expect(await after.countDocuments({ k: { $gte: '' } })).to.equal(await after.countDocuments());
      await again.close();
      await endProcess();
      expect((await checkStore(join(dir, 'store'), () => {})).problems).to.deep.equal([]);
    });

    it('refuses writes while the disk is full, has all it acknowledged, and goes on by itself', async () => {
      const server = await startProcess(4096);
      const client = new MongoClient(uri());
      const others = client.db('x').collection<{ _id: number; padding: string }>('others');

      const acknowledged = await writeUntilGone(() => {}); // until an error
      const refused = await errorOf(others.insertOne({ _id: 1, padding: 'x'.repeat(200_000) }));
      const read = await client.db('x').collection('c').countDocuments({ tags: 'all' });
      giveRoom(server);
      await others.insertOne({ _id: 1, padding: '' });
      await client.close();
      server.kill('SIGKILL');
      await eventually(() => server.signalCode !== null, 'it is gone', 20_000);

      expect(refused).to.include({ code: 14031, codeName: 'OutOfDiskSpace' });
      expect(refused.message).to.match(/^the disk is full: nothing could be written in \S+ \(EFBIG.*Make room/);
      expect(acknowledged.length).to.be.greaterThan(0);
      expect(read).to.equal(acknowledged.length * 10);
      await check(acknowledged);
    });

    it('refuses to run beside one in another container that shares the directory', async function () {
      const unshare = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child'];
      if (spawnSync('unshare', [...unshare, 'true']).status !== 0) {
        console.log('      no user namespaces here: server.test.ts has the same without them');
        this.skip();
      }
      await startProcess();
      const client = new MongoClient(uri());
      await client.db('x').collection<{ _id: number }>('c').insertOne({ _id: 1 });

      const inside = spawnSync('unshare', [...unshare, ...(await storeCommand())], {
        env: { ...process.env, HARKARA_DATA_DIR: dir, HARKARA_LOG_LEVEL: 'silent' },
        encoding: 'utf8',
        timeout: 20_000,
      });

      expect(inside.stderr).to.match(/is in use by process \d+\. Stop that process first/);
      expect(inside.status).to.equal(1);
      expect(await client.db('x').collection('c').countDocuments()).to.equal(1);
      await client.close();
    });

    it('refuses to run beside another, and leaves last when it is told to stop', async () => {
      const first = await startProcess();
      const refused = await startProcess().then(
        () => 'started',
        (error: Error) => error.message,
      );
      expect(refused).to.equal('ended with 1');
      const client = new MongoClient(uri());
      const all = client.db('x').collection<{ _id: number }>('c');
      await all.insertOne({ _id: 1 });
      let ended = false;
      first.once('exit', () => {
        ended = true;
      });

      first.kill('SIGINT');
      await all.insertOne({ _id: 2 });
      expect(ended).to.equal(false);
      await client.close();

      await eventually(() => ended, 'the store ends after its last client');
      expect(first.exitCode).to.equal(0);
    });
  });
}
