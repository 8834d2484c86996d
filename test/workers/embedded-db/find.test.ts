import { Binary, type Document, Long, ObjectId } from 'mongodb';
import { use } from '../../support/use.ts';
import { errorOf, expectRefused, storeUnderTest } from './store-under-test.ts';

describe('embedded-db find', () => {
  const store = use(storeUnderTest);

  it('gives nothing for a collection that is not there', async () => {
    expect(await store.collection().find({ a: 1 }).toArray()).to.deep.equal([]);
  });

  it('sorts values of all types in BSON order, with and without an index', async () => {
    const ordered = [
      null,
      Number.NaN,
      -1,
      0.5,
      Long.fromNumber(1),
      '',
      'A',
      'a',
      'b',
      {},
      { a: 1 },
      { a: 2 },
      { b: 0 },
      new Binary(Buffer.from('zz')),
      new Binary(Buffer.from('aaa')),
      new ObjectId('650000000000000000000001'),
      false,
      true,
      new Date(-5),
      new Date(5),
    ];
    for (const indexed of [false, true]) {
      const all = store.collection();
      if (indexed) await all.createIndex({ v: 1 });
      const docs = ordered.map((v, rank) => ({ _id: rank, v }));
      await all.insertMany([...docs.slice(8), ...docs.slice(0, 8)]);

      const up = await all
        .find({}, { projection: { _id: 1 } })
        .sort({ v: 1 })
        .toArray();
      const down = await all
        .find({}, { projection: { _id: 1 } })
        .sort({ v: -1 })
        .toArray();

      expect(up.map((doc) => doc._id)).to.deep.equal(docs.map((doc) => doc._id));
      expect(down.map((doc) => doc._id)).to.deep.equal(docs.map((doc) => doc._id).reverse());
    }
  });

  it('sorts an array by its smallest element upwards, by its greatest downwards', async () => {
    const all = store.collection();
    await all.insertMany([
      { _id: 1, a: [5, 9] },
      { _id: 2, a: 6 },
      { _id: 3, a: [] },
      { _id: 4 },
      { _id: 5, a: [1, 7] },
    ]);

    const ids = async (direction: 1 | -1): Promise<unknown[]> =>
      (await all.find().sort({ a: direction, _id: 1 }).toArray()).map((doc) => doc._id);

    expect(await ids(1)).to.deep.equal([3, 4, 5, 1, 2]);
    expect(await ids(-1)).to.deep.equal([1, 5, 2, 4, 3]);
  });

  it('skips and limits, sorted or not', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, n: 19 - i })));

    const plain = await all.find().skip(5).limit(3).toArray();
    const sorted = await all.find().sort({ n: 1 }).skip(5).limit(3).toArray();

    expect(plain.map((doc) => doc._id)).to.deep.equal([5, 6, 7]);
    expect(sorted.map((doc) => doc.n)).to.deep.equal([5, 6, 7]);
  });

  it('gives large results in batches, every document once', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 2500 }, (_, i) => ({ _id: i })));

    for (const batchSize of [1, 7, 101, 5000]) {
      const seen = await all.find({ _id: { $gte: 0 } }, { batchSize: batchSize === 1 ? 250 : batchSize }).toArray();
      expect(seen.map((doc) => doc._id)).to.deep.equal(Array.from({ length: 2500 }, (_, i) => i));
    }
  });

  it('goes on after a getMore although documents come and go meanwhile', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i })));
    const cursor = all.find({}, { batchSize: 10 }).sort({ _id: 1 });
    const seen: unknown[] = [];

    for await (const doc of cursor) {
      seen.push(doc._id);
      if (seen.length === 15) await all.deleteMany({ _id: { $gte: 100, $lt: 200 } });
      if (seen.length === 16) await all.insertOne({ _id: 500 });
    }

    expect(seen.slice(0, 30)).to.deep.equal(Array.from({ length: 30 }, (_, i) => i));
    expect(new Set(seen).size).to.equal(seen.length);
    expect(seen.at(-1)).to.equal(500);
  });

  it('keeps an exhausted or killed cursor no longer', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i })));
    const open = await store.db.command({ find: all.collectionName, batchSize: 2 });
    const id = Long.isLong(open.cursor.id) ? open.cursor.id : Long.fromNumber(open.cursor.id);

    const killed = await store.db.command({ killCursors: all.collectionName, cursors: [id] });

    expect(killed.cursorsKilled).to.have.lengthOf(1);
    const error = await errorOf(store.db.command({ getMore: id, collection: all.collectionName }));
    expect(error).to.include({ code: 43, codeName: 'CursorNotFound' });
  });

  it('ends a cursor with an error when its collection or its index is dropped, not as if that were all', async () => {
    for (const drop of ['collection', 'index'] as const) {
      const all = store.collection();
      await all.createIndex({ a: 1 });
      await all.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i, a: i })));
      const cursor = all.find({ a: { $gte: 0 } }, { batchSize: 2 });
      await cursor.next();

      if (drop === 'index') await all.dropIndex('a_1');
      else await all.drop();
      if (drop === 'collection') await all.insertOne({ _id: 5000, a: 5000 });

      expect(await errorOf(cursor.toArray()), drop).to.include({ code: 175, codeName: 'QueryPlanKilled' });
    }
  });

  const PROJECTIONS: readonly (readonly [projection: Document, result: Document])[] = [
    [{ a: 1 }, { _id: 1, a: 1 }],
    [{ a: 1, _id: 0 }, { a: 1 }],
    [{ _id: 1 }, { _id: 1 }],
    [{ 'o.x': 1 }, { _id: 1, o: { x: 1 } }],
    [{ 'l.k': true }, { _id: 1, l: [{ k: 1 }, { k: 2 }] }],
    [{ 'a.b': 1, nothing: 1 }, { _id: 1 }],
    [
      { o: 0, l: 0 },
      { _id: 1, a: 1 },
    ],
    [
      { 'o.x': 0, 'l.k': 0 },
      { _id: 1, a: 1, o: { y: { z: 2 } }, l: [{ v: 1 }, { v: 2 }, 3] },
    ],
    [{ _id: 0, o: 0, l: 0 }, { a: 1 }],
    [{}, { _id: 1, a: 1, o: { x: 1, y: { z: 2 } }, l: [{ k: 1, v: 1 }, { k: 2, v: 2 }, 3] }],
  ];
  for (const [projection, result] of PROJECTIONS) {
    it(`projects ${JSON.stringify(projection)}`, async () => {
      const all = store.collection();
      await all.insertOne({ _id: 1, a: 1, o: { x: 1, y: { z: 2 } }, l: [{ k: 1, v: 1 }, { k: 2, v: 2 }, 3] });

      expect(await all.findOne({}, { projection })).to.deep.equal(result);
    });
  }

  it('refuses to include and exclude at once', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1 });

    expectRefused(await errorOf(all.findOne({}, { projection: { a: 1, b: 0 } })));
    expectRefused(await errorOf(all.findOne({}, { projection: { a: 0, b: 1 } })));
  });

  it('counts, with a filter and a limit', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i, even: i % 2 === 0 })));

    expect(await all.countDocuments()).to.equal(10);
    expect(await all.countDocuments({ even: true })).to.equal(5);
    expect(await all.countDocuments({ even: true }, { limit: 3 })).to.equal(3);
    expect(await all.countDocuments({ even: 'none' })).to.equal(0);
    expect(await all.estimatedDocumentCount()).to.equal(10);
  });

  it('aggregates: match, limit, group', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i, k: i % 3, v: i })));

    const groups = await all
      .aggregate([{ $match: { v: { $gt: 0 } } }, { $group: { _id: '$k', n: { $sum: 1 }, sum: { $sum: '$v' } } }])
      .toArray();
    const some = await all.aggregate([{ $limit: 4 }, { $group: { _id: null, n: { $sum: 1 } } }]).toArray();

    expect(groups).to.have.deep.members([
      { _id: 0, n: 3, sum: 18 },
      { _id: 1, n: 3, sum: 12 },
      { _id: 2, n: 3, sum: 15 },
    ]);
    expect(some).to.deep.equal([{ _id: null, n: 4 }]);
  });
});
