import { eventually } from '../../support/eventually.ts';
import { EMBEDDED, errorOf, type Loose } from './store-under-test.ts';
import { storesInOneDirectory } from './stores-world.ts';

if (EMBEDDED) {
  describe('embedded-db server', () => {
    const world = storesInOneDirectory();
    const { start, connect, stop } = world;

    it('keeps documents, indexes and counts over a restart', async () => {
      const first = await start();
      const before = connect(first).db('x').collection<{ _id: number; k: string; tags: string[] }>('c');
      await before.createIndex({ k: 1 }, { unique: true });
      await before.createIndex({ tags: 1 });
      await before.insertMany([1, 2, 3].map((n) => ({ _id: n, k: `k${n}`, tags: ['t', `t${n}`] })));
      await before.deleteOne({ _id: 3 });
      await stop(first);

      const after = connect(await start())
        .db('x')
        .collection<{ _id: number; k: string; tags: string[] }>('c');

      expect(await after.estimatedDocumentCount()).to.equal(2);
      expect(await after.find({ tags: 't' }).toArray()).to.have.lengthOf(2);
      expect(await errorOf(after.insertOne({ _id: 9, k: 'k1', tags: [] }))).to.include({ code: 11000 });
      expect((await after.listIndexes().toArray()).map((index) => index.name)).to.deep.equal(['_id_', 'k_1', 'tags_1']);
    });

    it('waits for its clients to leave, and serves them meanwhile', async () => {
      const store = await start();
      const client = connect(store);
      const all = client.db('x').collection<{ _id: number }>('c');
      await all.insertOne({ _id: 1 });
      let gone = false;

      const waiting = store.clientsGone(20_000).then(() => {
        gone = true;
      });
      await all.insertOne({ _id: 2 });
      expect(gone).to.equal(false);
      await client.close();
      await waiting;

      expect(gone).to.equal(true);
    });

    it('stops waiting for a client that does not leave', async () => {
      const store = await start();
      await connect(store).db('x').command({ ping: 1 });

      await store.clientsGone(60);
    });

    it('removes documents whose time is over, and only those', async () => {
      let nowMs = Date.UTC(2026, 10, 21);
      const store = await start({ ttlEveryMs: 10, now: () => nowMs });
      const all = connect(store).db('x').collection<{ _id: string; at?: unknown; keep?: boolean }>('c');
      await all.createIndex({ at: 1 }, { expireAfterSeconds: 60, partialFilterExpression: { keep: false } });
      const at = (seconds: number): Date => new Date(nowMs + seconds * 1000);
      await all.insertMany([
        { _id: 'old', at: at(-61), keep: false },
        { _id: 'old in an array', at: [at(100), at(-70)], keep: false },
        { _id: 'kept', at: at(-61), keep: true },
        { _id: 'young', at: at(-30), keep: false },
        { _id: 'no date', at: 5, keep: false },
        { _id: 'none', keep: false },
      ]);
      const ids = async (): Promise<string[]> => (await all.find().toArray()).map((doc) => doc._id);

      await eventually(async () => (await ids()).length === 4, 'the old ones are gone');
      expect(await ids()).to.have.members(['kept', 'young', 'no date', 'none']);

      nowMs += 40_000;
      await eventually(async () => !(await ids()).includes('young'), 'the young one is gone too');
    });

    it('lets others have their turn while many documents are counted', async () => {
      const store = await start({});
      const db = connect(store).db('x');
      const all = db.collection<{ _id: number; n: number }>('c');
      await all.insertMany(Array.from({ length: 50_000 }, (_, _id) => ({ _id, n: 1 })));
      // Opens two connections, one for each command below.
      await Promise.all([all.findOne({}), db.command({ ping: 1 }), all.findOne({}), db.command({ ping: 1 })]);
      const answered: string[] = [];

      const counting = all.countDocuments({ n: 1 }).then((count) => answered.push(`counted ${count}`));
      await db.command({ ping: 1 }).then(() => answered.push('ping'));
      await counting;

      expect(answered).to.deep.equal(['ping', 'counted 50000']);
    });

    it('lets others have their turn while many documents are removed', async () => {
      let nowMs = Date.UTC(2026, 10, 21);
      const store = await start({ ttlEveryMs: 10, now: () => nowMs });
      const all = connect(store).db('x').collection<{ _id: number; at: Date }>('c');
      await all.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
      const many = 20_000;
      const at = new Date(nowMs);
      await all.insertMany(Array.from({ length: many }, (_, _id) => ({ _id, at })));

      nowMs += 61_000;
      const seen = new Set<number>();
      await eventually(async () => {
        const left = await all.estimatedDocumentCount();
        seen.add(left);
        return left === 0;
      }, 'all are gone');

      expect([...seen].filter((left) => left > 0 && left < many).length).to.be.above(2);
    });

    it('shares one transaction among all clients without letting one spoil it for the others', async () => {
      const store = await start({ durability: 'fsync' });
      const collections = Array.from({ length: 8 }, () => connect(store).db('x').collection<Loose>('c'));
      await collections[0]?.insertOne({ _id: 0, n: 'text' });

      const results = await Promise.allSettled(
        collections.flatMap((all, i) => [
          all.insertOne({ _id: i + 1, n: i }),
          all.updateOne({ _id: 0 }, { $inc: { n: 1 } }),
          all.insertOne({ _id: 0, n: 0 }),
        ]),
      );

      expect(results.filter((result) => result.status === 'fulfilled')).to.have.lengthOf(8);
      expect(await collections[0]?.countDocuments()).to.equal(9);
    });

    it('tells what it has written, and what it has used', async () => {
      const client = connect(await start());
      const all = client.db('x').collection<Loose>('c');
      await all.insertMany([{ _id: 1 }, { _id: 2 }]);
      await all.updateOne({ _id: 1 }, { $set: { n: 1 } });
      await all.deleteMany({});

      const status = await client.db().command({ serverStatus: 1 });

      expect(status.metrics.document).to.deep.equal({ inserted: 2, updated: 1, deleted: 2 });
      expect(status.extra_info.user_time_us).to.be.greaterThan(0);
    });

    it('lets others in while one looks through a large collection', async () => {
      const store = await start();
      const slow = connect(store).db('x').collection('c');
      for (let i = 0; i < 10; i++) {
        await slow.insertMany(Array.from({ length: 3000 }, (_, n) => ({ n, text: 'x'.repeat(50) })));
      }
      const other = connect(store).db('x');
      await other.command({ ping: 1 });
      const order: string[] = [];

      const scan = slow.countDocuments({ text: 'y' }).then(() => order.push('scan'));
      await other.command({ ping: 1 });
      order.push('ping');
      await scan;

      expect(order).to.deep.equal(['ping', 'scan']);
    });
  });
}
