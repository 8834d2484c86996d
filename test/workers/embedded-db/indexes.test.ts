import type { Document } from 'mongodb';
import { lookedAt } from '../../support/looked-at.ts';
import { use } from '../../support/use.ts';
import { EMBEDDED, errorOf, expectRefused, storeUnderTest } from './store-under-test.ts';

describe('embedded-db indexes', () => {
  const store = use(storeUnderTest);

  it('are listed as they were made', async () => {
    const all = store.collection();

    await all.createIndex({ a: 1, b: -1 });
    await all.createIndex({ email: 1 }, { unique: true, sparse: true, name: 'mail' });
    await all.createIndex({ due: 1 }, { partialFilterExpression: { due: { $exists: true } } });
    await all.createIndex({ at: 1 }, { expireAfterSeconds: 60 });

    expect(await all.listIndexes().toArray()).to.deep.equal([
      { v: 2, key: { _id: 1 }, name: '_id_' },
      { v: 2, key: { a: 1, b: -1 }, name: 'a_1_b_-1' },
      { v: 2, key: { email: 1 }, name: 'mail', unique: true, sparse: true },
      { v: 2, key: { due: 1 }, name: 'due_1', partialFilterExpression: { due: { $exists: true } } },
      { v: 2, key: { at: 1 }, name: 'at_1', expireAfterSeconds: 60 },
    ]);
  });

  it('can be made twice, but not differently under the same name or key', async () => {
    const all = store.collection();
    await all.createIndex({ a: 1 });

    await all.createIndex({ a: 1 });

    expect(await errorOf(all.createIndex({ b: 1 }, { name: 'a_1' }))).to.include({ code: 86 });
    expect(await errorOf(all.createIndex({ a: 1 }, { name: 'other' }))).to.include({ code: 85 });
    expect(await errorOf(all.createIndex({ a: 1 }, { expireAfterSeconds: 5 }))).to.include({ code: 85 });
    expect(await all.listIndexes().toArray()).to.have.lengthOf(2);
  });

  it('follow each field, also after an update of one whose name has a space', async () => {
    const all = store.collection();
    await all.createIndex({ a: 1 });
    await all.insertOne({ _id: 1 as never, a: 1, b: 1 });

    await all.updateOne({ _id: 1 as never }, { $set: { 'b a': 5 } });
    await all.updateOne({ _id: 1 as never }, { $set: { b: 2, a: 7 } });

    expect(await all.find({ a: 7 }).toArray()).to.deep.equal([{ _id: 1, a: 7, b: 2, 'b a': 5 }]);
    expect(await all.find({ a: 1 }).toArray()).to.deep.equal([]);
  });

  it('are refused when they are none', async () => {
    const all = store.collection();
    const create = (spec: Document): Promise<unknown> =>
      store.db.command({ createIndexes: all.collectionName, indexes: [spec] });

    const malformed: readonly Document[] = [
      { key: {}, name: 'x' },
      { key: { a: 0 }, name: 'x' },
      { key: { 'a..b': 1 }, name: 'x' },
      { key: { a: 1, b: 1 }, name: 'x', expireAfterSeconds: 1 },
      { key: { a: 1 }, name: 'x', expireAfterSeconds: -1 },
      { key: { a: 1 }, name: 'x', sparse: true, partialFilterExpression: { a: 1 } },
      { key: { a: 1 }, name: 'x', partialFilterExpression: { a: { $ne: 1 } } },
    ];
    for (const spec of malformed) expectRefused(await errorOf(create(spec)), JSON.stringify(spec));
  });

  it('are dropped by name', async () => {
    const all = store.collection();
    await all.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]);
    const names = async (): Promise<string[]> => (await all.listIndexes().toArray()).map((index) => index.name);

    await all.dropIndex('a_1');
    expect(await names()).to.deep.equal(['_id_', 'b_1']);
    expect(await errorOf(all.dropIndex('a_1'))).to.include({ code: 27 });
    expect(await errorOf(all.dropIndex('_id_'))).to.include({ code: EMBEDDED ? 27 : 72 });
  });

  it('of documents that are already there find them', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 2500 }, (_, i) => ({ _id: i, k: i % 10 })));

    await all.createIndex({ k: 1 });

    expect(await lookedAt(store.db, all.find({ k: 3 }))).to.include({ found: 250, documents: 250 });
  });

  describe('unique', () => {
    it('refuse a second document with the same key, at insert, update and build', async () => {
      const all = store.collection();
      await all.createIndex({ a: 1, b: 1 }, { unique: true });
      await all.insertMany([
        { _id: 1, a: 1, b: 1 },
        { _id: 2, a: 1, b: 2 },
      ]);

      const inserted = await errorOf(all.insertOne({ _id: 3, a: 1, b: 1 }));
      const updated = await errorOf(all.updateOne({ _id: 2 }, { $set: { b: 1 } }));

      expect(inserted).to.include({ code: 11000 });
      expect(inserted.message).to.equal(
        `E11000 duplicate key error collection: ${all.namespace} index: a_1_b_1 dup key: { a: 1, b: 1 }`,
      );
      expect(updated.keyPattern).to.deep.equal({ a: 1, b: 1 });
      expect(updated.keyValue).to.deep.equal({ a: 1, b: 1 });
      expect(await errorOf(all.createIndex({ a: 1 }, { unique: true }))).to.include({ code: 11000 });
      expect(await all.listIndexes().toArray()).to.have.lengthOf(2);
      expect(await all.find().toArray()).to.have.lengthOf(2);
    });

    it('let a document keep its key, and another take one that was given up', async () => {
      const all = store.collection();
      await all.createIndex({ k: 1 }, { unique: true });
      await all.insertMany([
        { _id: 1, k: 'a' },
        { _id: 2, k: 'b' },
      ]);

      await all.updateOne({ _id: 1 }, { $set: { k: 'a', x: 1 } });
      await all.updateOne({ _id: 1 }, { $set: { k: 'c' } });
      await all.updateOne({ _id: 2 }, { $set: { k: 'a' } });
      await all.deleteOne({ _id: 1 });
      await all.insertOne({ _id: 3, k: 'c' });

      expect(await all.find().sort({ k: 1 }).toArray()).to.deep.equal([
        { _id: 2, k: 'a' },
        { _id: 3, k: 'c' },
      ]);
    });

    it('count missing as null, unless sparse or partial', async () => {
      const [plain, sparse, partial] = [store.collection(), store.collection(), store.collection()];
      await plain.createIndex({ k: 1 }, { unique: true });
      await sparse.createIndex({ k: 1 }, { unique: true, sparse: true });
      await partial.createIndex({ k: 1 }, { unique: true, partialFilterExpression: { live: true } });

      await plain.insertOne({ _id: 1 });
      expect(await errorOf(plain.insertOne({ _id: 2, k: null }))).to.include({ code: 11000 });
      await sparse.insertMany([{ _id: 1 }, { _id: 2 }]);
      await partial.insertMany([
        { _id: 1, k: 1 },
        { _id: 2, k: 1, live: true },
        { _id: 3, k: 1, live: false },
      ]);
      expect(await errorOf(partial.updateOne({ _id: 1 }, { $set: { live: true } }))).to.include({ code: 11000 });
    });

    it('look at each element of an array', async () => {
      const all = store.collection();
      await all.createIndex({ tags: 1 }, { unique: true });
      await all.insertOne({ _id: 1, tags: ['a', 'b', 'a'] });

      expect(await errorOf(all.insertOne({ _id: 2, tags: ['c', 'b'] }))).to.include({ code: 11000 });
      await all.insertOne({ _id: 3, tags: ['c'] });
    });

    it('hold for keys that are too long to be kept whole', async () => {
      const all = store.collection();
      await all.createIndex({ k: 1 }, { unique: true });
      const long = 'x'.repeat(3000);
      await all.insertOne({ _id: 1, k: `${long}1` });

      expect(await errorOf(all.insertOne({ _id: 2, k: `${long}1` }))).to.include({ code: 11000 });
      await all.insertOne({ _id: 3, k: `${long}2` });
      expect(await all.find({ k: { $gt: long } }).toArray()).to.have.lengthOf(2);
    });
  });

  it('refuse parallel arrays', async () => {
    const all = store.collection();
    await all.createIndex({ a: 1, b: 1 });

    expect(await errorOf(all.insertOne({ a: [1, 2], b: [1, 2] }))).to.include({ code: 171 });
    await all.insertOne({ a: [1, 2], b: 1 });
  });

  if (EMBEDDED) {
    it('of an $or are all used when every branch has one', async () => {
      const all = store.collection();
      await all.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]);
      await all.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: i, a: i, b: 49 - i })));

      const looked = async (filter: Document) => (await lookedAt(store.db, all.find(filter))).documents;
      expect(await looked({ $or: [{ a: 1 }, { b: 1 }] })).to.equal(2);
      expect(
        (await all.find({ $or: [{ a: 1 }, { b: 48 }, { b: 2 }] }).toArray()).map((doc) => doc._id),
      ).to.have.members([1, 47]);
      expect(await looked({ $or: [{ a: 1 }, { c: 1 }] })).to.equal(50);
    });
  }
});
