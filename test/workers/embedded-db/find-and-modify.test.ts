import { type Document, MongoClient } from 'mongodb';
import { use } from '../../support/use.ts';
import { errorOf, expectRefused, storeUnderTest } from './store-under-test.ts';

describe('embedded-db findAndModify', () => {
  const store = use(storeUnderTest);

  it('gives the document before or after, as asked, with the fields asked for', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1, n: 1, big: 'x' });

    const before = await all.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } });
    const after = await all.findOneAndUpdate(
      { _id: 1 },
      { $inc: { n: 1 } },
      { returnDocument: 'after', projection: { n: 1 } },
    );

    expect(before).to.deep.equal({ _id: 1, n: 1, big: 'x' });
    expect(after).to.deep.equal({ _id: 1, n: 3 });
  });

  it('takes the first in the order asked for', async () => {
    const all = store.collection();
    await all.insertMany([3, 1, 2].map((n) => ({ _id: n, n })));

    const taken: unknown[] = [];
    for (let i = 0; i < 4; i++) taken.push((await all.findOneAndDelete({}, { sort: { n: -1 } }))?.n);

    expect(taken).to.deep.equal([3, 2, 1, undefined]);
  });

  it('tells whether it updated or inserted', async () => {
    const all = store.collection();
    const options = { upsert: true, returnDocument: 'after', includeResultMetadata: true } as const;

    const inserted = await all.findOneAndUpdate({ _id: 'a' }, { $set: { n: 1 } }, options);
    const updated = await all.findOneAndReplace({ _id: 'a' }, { n: 2 }, options);

    expect(inserted.lastErrorObject).to.deep.equal({ n: 1, updatedExisting: false, upserted: 'a' });
    expect(updated.lastErrorObject).to.deep.equal({ n: 1, updatedExisting: true });
    expect(updated.value).to.deep.equal({ _id: 'a', n: 2 });
  });

  it('gives null when nothing matches', async () => {
    const all = store.collection();

    expect(await all.findOneAndUpdate({ _id: 1 }, { $set: { n: 1 } })).to.equal(null);
    expect(await all.findOneAndDelete({ _id: 1 })).to.equal(null);
    expect(await all.findOneAndUpdate({ _id: 1 }, { $set: { n: 1 } }, { upsert: true })).to.equal(null);
  });

  it('answers a duplicate key as an error of the command', async () => {
    const all = store.collection();
    await all.createIndex({ k: 1 }, { unique: true });
    await all.insertMany([
      { _id: 1, k: 'a' },
      { _id: 2, k: 'b' },
    ]);

    const error = await errorOf(all.findOneAndUpdate({ _id: 2 }, { $set: { k: 'a' } }));

    expect(error).to.include({ code: 11000 });
    expect(error.keyPattern).to.deep.equal({ k: 1 });
    expect(error.keyValue).to.deep.equal({ k: 'a' });
  });

  it('refuses contradictory options with 9', async () => {
    const all = store.collection();
    const run = (options: object): Promise<unknown> =>
      store.db.command({ findAndModify: all.collectionName, query: {}, ...options });

    for (const options of [{}, { remove: true, update: { $set: { a: 1 } } }, { remove: true, new: true }]) {
      expectRefused(await errorOf(run(options)), JSON.stringify(options));
    }
  });

  it('gives a job scheduler its next job: null and missing locks, expired locks, by time and priority', async () => {
    const jobs = store.collection();
    await jobs.createIndex({ name: 1, nextRunAt: 1, priority: -1, lockedAt: 1, disabled: 1 });
    const at = (seconds: number): Date => new Date(Date.UTC(2026, 10, 21) + seconds * 1000);
    await jobs.insertMany([
      { _id: 'later', name: 'n', nextRunAt: at(99) },
      { _id: 'locked', name: 'n', nextRunAt: at(-9), lockedAt: at(-1) },
      { _id: 'disabled', name: 'n', nextRunAt: at(-9), disabled: true },
      { _id: 'other', name: 'm', nextRunAt: at(-9) },
      { _id: 'low', name: 'n', nextRunAt: at(-5), priority: 0, lockedAt: null },
      { _id: 'high', name: 'n', nextRunAt: at(-5), priority: 10 },
      { _id: 'expired', name: 'n', nextRunAt: at(-2), lockedAt: at(-700) },
    ]);
    const next = (): Promise<Document | null> =>
      jobs.findOneAndUpdate(
        {
          name: 'n',
          disabled: { $ne: true },
          $or: [{ lockedAt: { $eq: null }, nextRunAt: { $lte: at(0) } }, { lockedAt: { $lte: at(-600) } }],
        },
        { $set: { lockedAt: at(0) } },
        { sort: { nextRunAt: 1, priority: -1 }, returnDocument: 'after' },
      );

    const order: unknown[] = [];
    for (let i = 0; i < 4; i++) order.push((await next())?._id);

    expect(order).to.deep.equal(['high', 'low', 'expired', undefined]);
  });

  it('gives each document to one of many competing clients only', async () => {
    const all = store.collection();
    await all.createIndex({ state: 1, n: 1 });
    await all.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: n, n, state: 'free' })));
    const clients = [1, 2, 3].map(() => new MongoClient(store.uri));

    const taken = await Promise.all(
      clients.flatMap((client) =>
        Array.from({ length: 5 }, async () => {
          const mine: unknown[] = [];
          const theirs = client.db(store.db.databaseName).collection(all.collectionName);
          for (;;) {
            const doc = await theirs.findOneAndUpdate(
              { state: 'free' },
              { $set: { state: 'taken' } },
              { sort: { n: 1 } },
            );
            if (doc === null) return mine;
            mine.push(doc._id);
          }
        }),
      ),
    );
    await Promise.all(clients.map((client) => client.close()));

    const ids = taken.flat();
    expect(ids).to.have.lengthOf(300);
    expect(new Set(ids).size).to.equal(300);
  });
});
