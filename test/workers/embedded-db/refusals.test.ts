import type { Document } from 'mongodb';
import { use } from '../../support/use.ts';
import { answerTo, EMBEDDED, errorOf, storeUnderTest } from './store-under-test.ts';

/** The embedded store refuses by name what only MongoDB can do: nothing is ever half done. */
if (EMBEDDED) {
  describe('embedded-db refusals', () => {
    const store = use(storeUnderTest);
    let name: string;
    before(async () => {
      const all = store.collection();
      await all.insertMany([
        { _id: 1, a: [1, 2] },
        { _id: 2, a: [3] },
      ]);
      name = all.collectionName;
    });

    const find = (options: Document): Document => ({ find: 'c0', filter: {}, ...options });
    const update = (u: unknown, options: Document = {}): Document => ({
      update: 'c0',
      updates: [{ q: { _id: 1 }, u, ...options }],
    });
    const aggregate = (...pipeline: Document[]): Document => ({ aggregate: 'c0', pipeline, cursor: {} });
    const index = (spec: Document): Document => ({
      createIndexes: 'c0',
      indexes: [{ name: 'x', key: { a: 1 }, ...spec }],
    });

    const NOT_SUPPORTED: readonly Document[] = [
      find({ filter: { $where: 'true' } }),
      find({ filter: { $text: { $search: 'x' } } }),
      find({ filter: { a: { $mod: [2, 0] } } }),
      find({ filter: { a: { $near: [1, 2] } } }),
      find({ filter: { a: { $regex: 'a b', $options: 'x' } } }),
      find({ filter: { $expr: { $function: {} } } }),
      find({ collation: { locale: 'de' } }),
      find({ tailable: true }),
      find({ projection: { a: { $slice: 1 } } }),
      find({ projection: { 'a.$': 1 } }),
      find({ let: { x: 1 } }),
      update({ $set: { 'a.$': 1 } }),
      update({ $set: { 'a.$[]': 1 } }),
      update({ $set: { a: 1 } }, { arrayFilters: [{ x: 1 }] }),
      update({ $bit: { a: { and: 1 } } }),
      update({ $push: { a: { $each: [1], $sort: 1 } } }),
      update([{ $replaceWith: { a: 1 } }]),
      update([{ $set: { a: { $dateToString: { date: '$$NOW' } } } }]),
      update({ $set: { a: 1 } }, { collation: { locale: 'de' } }),
      aggregate({ $lookup: { from: 'x', localField: 'a', foreignField: 'b', as: 'c' } }),
      aggregate({ $unwind: '$a' }),
      aggregate({ $out: 'x' }),
      aggregate({ $group: { _id: null, x: { $stdDevPop: '$a' } } }),
      index({ key: { a: 'text' } }),
      index({ key: { a: '2dsphere' } }),
      index({ key: { a: 'hashed' } }),
      index({ key: { '$**': 1 } }),
      index({ collation: { locale: 'de' } }),
    ];
    for (const command of NOT_SUPPORTED) {
      it(`refuses ${JSON.stringify(command)} and says where to go`, async () => {
        const answer = await answerTo(store.db, command);

        expect(answer.code).to.equal(238);
        expect(answer.errmsg).to.match(/not supported by the embedded store; set HARKARA_MONGODB_URI to use MongoDB/);
        expect(await store.db.collection(name).countDocuments()).to.equal(2);
      });
    }

    it('answers an unknown command with 59 and an unknown field with 238', async () => {
      expect(await errorOf(store.db.command({ mapReduce: 'c0' }))).to.include({
        code: 59,
        codeName: 'CommandNotFound',
      });
      expect(await errorOf(store.db.command({ bulkWrite: 1, ops: [] }))).to.include({ code: 59 });
      expect(await errorOf(store.db.command(find({ nonsense: 1 })))).to.include({ code: 238 });
      expect(await errorOf(store.db.command({ ping: 1, nonsense: 1 }))).to.include({ code: 238 });
      expect(await errorOf(store.db.command(update({ $set: { a: 1 } }, { nonsense: 1 })))).to.include({ code: 238 });
    });

    it('refuses the whole command, with nothing done, when one of its statements is malformed', async () => {
      const all = store.db.collection<{ _id: number }>(name);
      const before = await all.find().toArray();
      const change = { q: {}, u: { $set: { changed: true } }, multi: true };
      const remove = { q: {}, limit: 0 };
      for (const [command, code] of [
        [{ update: name, updates: [change, { ...change, sort: { _id: 1 } }] }, 238],
        [{ update: name, updates: [change, { u: { $set: { a: 1 } } }] }, 2],
        [{ update: name, updates: [change, { ...change, q: 1 }], ordered: false }, 2],
        [{ delete: name, deletes: [remove, { ...remove, limit: 2 }] }, 2],
        [{ insert: name, documents: [{ _id: 77 }, 1] }, 2],
      ] as const) {
        expect(await errorOf(store.db.command(command)), JSON.stringify(command)).to.include({ code });
      }
      expect(await all.find().toArray()).to.deep.equal(before);
      expect(before).to.not.have.lengthOf(0);
    });

    it('never runs a transaction as if it were none', async () => {
      const session = store.client.startSession();
      const all = store.db.collection<{ _id: number }>(name);
      session.startTransaction();

      expect(await errorOf(all.insertOne({ _id: 99 }, { session }))).to.include({ code: 238 });

      await session.abortTransaction().catch(() => {});
      await session.endSession();
      expect(await all.countDocuments({ _id: 99 })).to.equal(0);
    });
  });
}

describe('embedded-db collections', () => {
  const store = use(storeUnderTest);

  it('are made, listed and dropped', async () => {
    await store.db.collection('made').insertOne({});
    await store.db.collection('written').insertOne({});

    const names = (await store.db.listCollections().toArray()).map((collection) => collection.name);
    expect(names).to.have.members(['made', 'written']);
    expect(await store.db.listCollections({ name: 'made' }, { nameOnly: true }).toArray()).to.have.lengthOf(1);
    expect(await store.db.dropCollection('made')).to.equal(true);
    expect(await store.db.listCollections({ name: 'made' }).toArray()).to.have.lengthOf(0);
  });

  it('dropped and made again are empty and without indexes', async () => {
    const all = store.collection();
    await all.createIndex({ a: 1 });
    await all.insertMany([{ a: 1 }, { a: 2 }]);

    await all.drop();
    await all.insertOne({ _id: 1, a: 1 });

    expect(await all.find({ a: 1 }).toArray()).to.deep.equal([{ _id: 1, a: 1 }]);
    expect(await all.listIndexes().toArray()).to.have.lengthOf(1);
    expect(await all.estimatedDocumentCount()).to.equal(1);
  });

  it('are refused with names that are none', async () => {
    for (const collection of ['', 'a$b', '.a']) {
      expect(
        await errorOf(store.db.command({ createIndexes: collection, indexes: [{ key: { a: 1 }, name: 'a' }] })),
        collection,
      ).to.include({ code: 73 });
    }
  });

  it('answer for what is not there as MongoDB does', async () => {
    expect(
      await errorOf(
        store.db.command({ drop: 'none' }).then((reply) => {
          // Since MongoDB 7.0, dropping a missing collection may succeed.
          if (reply.ok === 1) throw Object.assign(new Error('ns not found'), { code: 26 });
        }),
      ),
    ).to.include({ code: 26 });
    expect(await errorOf(store.db.collection('none').listIndexes().toArray())).to.include({ code: 26 });
  });
});
