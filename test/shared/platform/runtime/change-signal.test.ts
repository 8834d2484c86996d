import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Db } from 'mongodb';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { changeListener } from '../../../../shared/platform/runtime/change-signal.ts';
import { embeddedStoreDir } from '../../../../shared/platform/runtime/unix-socket.ts';
import { startEmbeddedStore } from '../../../../workers/embedded-db/server.ts';
import { eventually } from '../../../support/eventually.ts';

describe('signals of changed collections', () => {
  let dataDir: string;
  let db: Db;
  const closers: (() => Promise<unknown> | unknown)[] = [];

  before(async () => {
    dataDir = mkdtempSync(`${tmpdir()}/harkara-changes-`);
    const server = await startEmbeddedStore({ dir: embeddedStoreDir(dataDir), durability: 'none' });
    const store = await connectStore({ mongodbUri: '', dataDir, mongodbDatabase: 'shop' });
    closers.push(
      () => store.close(),
      () => server.close(),
      () => rmSync(dataDir, { recursive: true, force: true }),
    );
    db = store.db;
  });
  after(async () => {
    for (const close of closers) await close();
  });

  /** Counts signals. Returns once the store knows the listener, which takes some inserts of documents with `fields`. */
  async function listen(changing: string, collection = changing, fields = {}): Promise<{ heard: number }> {
    const count = { heard: 0 };
    const stop = changeListener(embeddedStoreDir(dataDir), 'shop')(changing, () => {
      count.heard += 1;
    });
    expect(stop).to.be.a('function');
    closers.unshift(() => stop?.());
    // A listener hears its own signal at once, and changes once the store knows the listener's file.
    let n = 0;
    let told = 0;
    let before = count.heard;
    await eventually(async () => {
      if (count.heard > before) told += 1;
      before = count.heard;
      await db.collection<{ _id: string }>(collection).insertOne({ _id: `first ${changing} ${n++}`, ...fields });
      return told > 3;
    }, 'the store sees the listener');
    return count;
  }

  it('an insert is heard, and an update, and what is heard of can be read', async () => {
    const orders = db.collection<{ _id: number; paid?: boolean }>('orders');
    const count = await listen('orders');

    await orders.insertOne({ _id: 1 });
    await orders.updateOne({ _id: 1 }, { $set: { paid: true } });
    const found = new Promise((resolve) => {
      const stop = changeListener(embeddedStoreDir(dataDir), 'shop')('orders', () => {
        void orders.findOne({ _id: 2 }).then((order) => order !== null && resolve(order));
      });
      closers.unshift(() => stop?.());
    });
    const before = count.heard;
    await orders.insertOne({ _id: 2 });

    expect(await found).to.deep.equal({ _id: 2 });
    await eventually(() => count.heard > before, 'the other listener hears it too');
  });

  it('a new listener hears itself begin, so that it knows that it can hear', async () => {
    let heard = 0;
    const stop = changeListener(embeddedStoreDir(dataDir), 'shop')('nothing', () => {
      heard += 1;
    });
    closers.unshift(() => stop?.());

    await eventually(() => heard > 0, 'its own signal');
  });

  it('the last of many changes is heard after it happened', async () => {
    const ticks = db.collection<{ _id: string; n: number }>('ticks');
    let seen = 0;
    await listen('ticks');
    const stop = changeListener(embeddedStoreDir(dataDir), 'shop')('ticks', () => {
      void ticks.findOne({ _id: 'last' }).then((tick) => {
        seen = Math.max(seen, tick?.n ?? 0);
      });
    });
    closers.unshift(() => stop?.());

    for (let n = 1; n <= 100; n++) await ticks.updateOne({ _id: 'last' }, { $set: { n } }, { upsert: true });

    await eventually(() => seen === 100, 'the hundredth change is read because it was told');
  });

  it('of an index the entries that it gets are heard, not those that it loses and not what leaves them as they are', async () => {
    const jobs = db.collection<{ _id: number | string; state: string; n?: number }>('jobs');
    await jobs.createIndex({ state: 1 }, { name: 'waiting', partialFilterExpression: { state: 'waits' } });
    const all = await listen('jobs', 'jobs', { state: 'waits' });
    const waiting = await listen('jobs/waiting', 'jobs', { state: 'waits' });
    const heardBy = async (change: () => Promise<unknown>): Promise<boolean> => {
      const [before, other] = [waiting.heard, all.heard];
      await change();
      await eventually(() => all.heard > other, 'the change is told');
      // The index's signal would come with the collection's, or before the next one.
      const last = all.heard;
      await jobs.updateOne({ _id: 2 }, { $inc: { n: 1 } });
      await eventually(() => all.heard > last, 'the next change is told');
      return waiting.heard > before;
    };
    await jobs.insertOne({ _id: 2, state: 'done' });
    await eventually(
      async () => !(await heardBy(async () => jobs.updateOne({ _id: 2 }, { $inc: { n: 1 } }))),
      'silence',
    );

    expect(await heardBy(() => jobs.insertOne({ _id: 1, state: 'waits' })), 'an insert into it').to.equal(true);
    expect(await heardBy(() => jobs.updateOne({ _id: 1 }, { $set: { n: 1 } })), 'another field').to.equal(false);
    expect(await heardBy(() => jobs.updateOne({ _id: 1 }, { $set: { state: 'done' } })), 'out of it').to.equal(false);
    expect(await heardBy(() => jobs.insertOne({ _id: 3, state: 'done' })), 'beside it').to.equal(false);
    expect(await heardBy(() => jobs.updateOne({ _id: 1 }, { $set: { state: 'waits' } })), 'into it').to.equal(true);
  });

  it('other collections and reads are not heard', async () => {
    const quiet = await listen('quiet');
    const loud = await listen('loud');
    // All signals of the first documents are here when `quiet` hears nothing between two signals of `loud`.
    await eventually(async () => {
      const [before, other] = [quiet.heard, loud.heard];
      await db.collection('loud').insertOne({});
      await eventually(() => loud.heard > other, 'a signal passes');
      return quiet.heard === before;
    }, 'silence');
    const [before, other] = [quiet.heard, loud.heard];

    await db.collection('quiet').find().toArray();
    await db.collection('quiet').updateOne({ _id: 'nobody' as never }, { $set: { n: 1 } });
    await db.collection('loud').insertOne({});
    await eventually(() => loud.heard > other, 'the other collection is heard');

    expect(quiet.heard).to.equal(before);
  });
});
