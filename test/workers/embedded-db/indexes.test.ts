import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { EMBEDDED, errorOf, type Loose, planOf, type StoreUnderTest, storeUnderTest } from './store-under-test.ts';

describe('embedded-db indexes', () => {
  let store: StoreUnderTest;
  before(async () => {
    store = await storeUnderTest();
  });
  after(() => store.close());

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

  it('are refused when they are none', async () => {
    const all = store.collection();
    const create = (spec: Document): Promise<unknown> =>
      store.db.command({ createIndexes: all.collectionName, indexes: [spec] });

    const cases: readonly (readonly [spec: Document, code: number])[] = [
      [{ key: {}, name: 'x' }, 67],
      [{ key: { a: 0 }, name: 'x' }, 67],
      [{ key: { 'a..b': 1 }, name: 'x' }, 67],
      [{ key: { a: 1, b: 1 }, name: 'x', expireAfterSeconds: 1 }, 67],
      [{ key: { a: 1 }, name: 'x', expireAfterSeconds: -1 }, 67],
      [{ key: { a: 1 }, name: 'x', sparse: true, partialFilterExpression: { a: 1 } }, 67],
      [{ key: { a: 1 }, name: 'x', partialFilterExpression: { a: { $ne: 1 } } }, 67],
      [{ key: { a: 1 }, name: 'x', nonsense: 1 }, 197],
    ];
    for (const [spec, code] of cases) expect(await errorOf(create(spec)), JSON.stringify(spec)).to.include({ code });
  });

  it('are dropped by name, by key, and all at once', async () => {
    const all = store.collection();
    await all.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }, { key: { c: 1 } }, { key: { d: 1 } }]);
    const names = async (): Promise<string[]> => (await all.listIndexes().toArray()).map((index) => index.name);

    await all.dropIndex('a_1');
    await store.db.command({ dropIndexes: all.collectionName, index: { b: 1 } });
    expect(await names()).to.deep.equal(['_id_', 'c_1', 'd_1']);
    expect(await errorOf(all.dropIndex('a_1'))).to.include({ code: 27 });
    expect(await errorOf(all.dropIndex('_id_'))).to.include({ code: 72 });
    await all.dropIndexes();
    expect(await names()).to.deep.equal(['_id_']);
  });

  it('of documents that are already there find them', async () => {
    const all = store.collection();
    await all.insertMany(Array.from({ length: 2500 }, (_, i) => ({ _id: i, k: i % 10 })));

    await all.createIndex({ k: 1 });

    expect(await planOf(all.find({ k: 3 }))).to.equal('FETCH IXSCAN(k_1)');
    expect(await all.countDocuments({ k: 3 })).to.equal(250);
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

  describe('serve the queries of the product', () => {
    let all: Collection<Loose>;
    before(async () => {
      all = store.collection();
      await all.createIndexes([
        { key: { path: 1, lane: 1, account: 1, _id: 1 }, name: 'queue', partialFilterExpression: { state: 'queued' } },
        { key: { 'parts.key': 1 }, name: 'parts' },
        { key: { endpoint: 1, due: 1 }, name: 'due', partialFilterExpression: { due: { $exists: true } } },
        { key: { account: 1, _id: 1 }, name: 'account' },
        {
          key: { 'batch.state': 1 },
          name: 'batch',
          partialFilterExpression: { 'batch.state': { $in: ['open', 'held'] } },
        },
        { key: { retryAt: 1 }, name: 'retry', partialFilterExpression: { attempts: { $gt: 0 } } },
      ]);
      await all.insertMany(
        Array.from({ length: 400 }, (_, i) => ({
          _id: `m${String(i).padStart(3, '0')}`,
          state: i % 2 === 0 ? 'queued' : 'sent',
          path: 'x',
          lane: i % 3,
          account: `a${i % 5}`,
          parts: [{ key: `k${i}` }, { key: `k${i}b` }],
          attempts: i % 4,
          retryAt: new Date(i),
          batch: { state: i % 7 === 0 ? 'open' : 'done' },
          ...(i % 5 === 0 ? { endpoint: 'e', due: new Date(i) } : {}),
        })),
      );
    });

    const QUERIES: readonly (readonly [name: string, filter: Document, sort: Document, plan: string, found: number])[] =
      [
        [
          'a claim',
          { state: 'queued', path: 'x', lane: 1, account: { $gt: 'a1' } },
          { account: 1, _id: 1 },
          'FETCH IXSCAN(queue)',
          40,
        ],
        [
          'the next account',
          { state: 'queued', path: 'x', lane: 1, account: 'a2', _id: { $gt: 'm100' } },
          { _id: 1 },
          'FETCH IXSCAN(queue)',
          10,
        ],
        ['receipts', { 'parts.key': { $in: ['k1', 'k2b', 'none'] } }, {}, 'FETCH IXSCAN(parts)', 2],
        ['what is due', { endpoint: 'e', due: { $lte: new Date(50) } }, { due: 1 }, 'FETCH IXSCAN(due)', 11],
        ['a page', { account: 'a1', _id: { $lt: 'm200' } }, { _id: -1 }, 'FETCH IXSCAN(account)', 40],
        ['an $in of a partial index', { 'batch.state': { $in: ['open'] } }, {}, 'FETCH IXSCAN(batch)', 58],
        [
          'a range of a partial index',
          { attempts: { $gte: 2 }, retryAt: { $lte: new Date(100) } },
          { retryAt: 1 },
          'FETCH IXSCAN(retry)',
          50,
        ],
        [
          'a filter that the partial index does not cover',
          { path: 'x', lane: 1, account: 'nobody' },
          {},
          'FETCH IXSCAN(account)',
          0,
        ],
        ['a sort without an index', { account: 'a1' }, { lane: 1 }, 'SORT FETCH IXSCAN(account)', 80],
        ['a filter without an index', { lane: 1 }, {}, 'COLLSCAN', 133],
      ];
    for (const [name, filter, sort, plan, found] of QUERIES) {
      it(`${name}: ${plan}`, async () => {
        expect(await planOf(all.find(filter).sort(sort as Record<string, 1 | -1>))).to.equal(plan);
        expect(
          await all
            .find(filter)
            .sort(sort as Record<string, 1 | -1>)
            .toArray(),
        ).to.have.lengthOf(found);
      });
    }

    it('looks only at as many entries as the limit needs', async () => {
      const explained = await all
        .find({ state: 'queued', path: 'x', lane: 1 })
        .sort({ account: 1, _id: 1 })
        .limit(5)
        .explain('executionStats');

      expect(explained.executionStats.totalKeysExamined).to.be.at.most(6);
      expect(explained.executionStats.totalDocsExamined).to.equal(5);
    });

    it('give the order of their whole key over several values, and only what is taken is looked at', async () => {
      const several = (sort: Record<string, 1 | -1>) =>
        all
          .find({ account: { $in: ['a3', 'a1', 'none', 'a2'] } })
          .hint('account')
          .sort(sort)
          .limit(5);

      const up = await several({ account: 1, _id: 1 }).toArray();
      const down = await several({ account: -1, _id: -1 }).toArray();
      const explained = await several({ account: 1, _id: 1 }).explain('executionStats');
      const byId = await several({ _id: 1 }).toArray();

      expect(up.map((doc) => doc._id)).to.deep.equal(['m001', 'm006', 'm011', 'm016', 'm021']);
      expect(down.map((doc) => doc._id)).to.deep.equal(['m398', 'm393', 'm388', 'm383', 'm378']);
      expect(explained.executionStats.totalDocsExamined).to.equal(5);
      // Another order has to be made.
      expect(byId.map((doc) => doc._id)).to.deep.equal(['m001', 'm002', 'm003', 'm006', 'm007']);
    });

    it('looks at one stretch of an array of times for one element, from one time to another', async () => {
      const feed = store.collection();
      await feed.createIndex(
        { account: 1, 'history.at': 1 },
        { partialFilterExpression: { 'history.0': { $exists: true } } },
      );
      await feed.insertMany(
        Array.from({ length: 200 }, (_, i) => ({
          account: 'a',
          history: [{ at: new Date(i * 10) }, { at: new Date(i * 10 + 5) }].slice(0, i % 3),
        })),
      );
      const stretch = (more: object = {}) =>
        feed
          .find({
            account: 'a',
            'history.0': { $exists: true },
            history: { $elemMatch: { at: { $gte: new Date(1000), $lt: new Date(1100) } } },
            ...more,
          })
          .explain('executionStats');

      const explained = await stretch();
      expect(explained.executionStats).to.include({ nReturned: 7, totalKeysExamined: 10 });
      expect(explained.queryPlanner.winningPlan.inputStage.indexName).to.equal('account_1_history.at_1');

      // An array of times in one element: the bounds may then be met by two of them.
      await feed.insertOne({ account: 'a', history: [{ at: [new Date(0), new Date(5000)] }] });
      expect((await stretch()).executionStats).to.include({ nReturned: 8 });
    });

    it('has one entry for each element of an array of which it has several fields', async () => {
      const feed = store.collection();
      await feed.createIndex({ account: 1, 'history.state': 1, 'history.at': 1 }, { name: 'events' });
      const state = (i: number) => (i === 150 ? 'failed' : 'delivered');
      await feed.insertMany(
        Array.from({ length: 200 }, (_, i) => ({
          account: 'a',
          history: [
            { state: 'sent', at: new Date(i * 10) },
            { state: state(i), at: new Date(i * 10 + 5) },
          ],
        })),
      );
      const at = (from: number, to: number) => ({ $gte: new Date(from), $lt: new Date(to) });
      const examined = async (filter: object) => {
        const found = feed.find({ account: 'a', ...filter }).hint('events');
        const { executionStats } = await found.explain('executionStats');
        return [executionStats.totalKeysExamined, executionStats.nReturned];
      };

      expect(await examined({ history: { $elemMatch: { state: 'sent', at: at(1000, 1100) } } })).to.deep.equal([
        10, 10,
      ]);
      expect(await examined({ history: { $elemMatch: { state: 'failed', at: at(0, 9_999) } } })).to.deep.equal([1, 1]);
      // Of two elements, one may have the state and the other the time.
      expect((await examined({ 'history.state': 'failed', 'history.at': new Date(1500) }))[1]).to.equal(1);
    });

    it('gives a page in the order asked for', async () => {
      const page = await all
        .find({ account: 'a1', _id: { $lt: 'm200' } })
        .sort({ _id: -1 })
        .limit(3)
        .toArray();

      expect(page.map((doc) => doc._id)).to.deep.equal(['m196', 'm191', 'm186']);
    });

    it('passes over what is skipped along the index, where the bounds are the whole filter', async () => {
      const skipping = async (filter: Document) => {
        const page = all.find(filter).sort({ _id: -1 }).skip(20).limit(2);
        const { executionStats } = await page.explain('executionStats');
        return [(await page.toArray()).map((doc) => doc._id), executionStats.totalDocsExamined];
      };

      expect(await skipping({ account: 'a1', _id: { $lt: 'm300' } })).to.deep.equal([['m196', 'm191'], 2]);
      expect(await skipping({ account: 'a1', _id: { $lt: 'm300' }, v: { $exists: false } })).to.deep.equal([
        ['m196', 'm191'],
        22,
      ]);
    });

    it('changes only what is still in the state of the filter', async () => {
      const ids = ['m000', 'm001', 'm002', 'none'];

      const first = await all.updateMany({ _id: { $in: ids }, state: 'queued' } as Document, {
        $set: { state: 'claimed' },
      });
      const second = await all.updateMany({ _id: { $in: ids }, state: 'queued' } as Document, {
        $set: { state: 'claimed' },
      });

      expect([first.modifiedCount, second.modifiedCount]).to.deep.equal([2, 0]);
      const queued = await all.find({ state: 'queued', path: 'x', lane: 0, account: 'a0' }).toArray();
      expect(queued.map((doc) => doc._id)).not.to.include('m000');
    });

    it('follows a hint, and refuses one that is no index', async () => {
      expect(await planOf(all.find({ lane: 1 }).hint('account'))).to.equal('FETCH IXSCAN(account)');
      expect(await planOf(all.find({ account: 'a1' }).hint({ account: 1, _id: 1 }))).to.equal('FETCH IXSCAN(account)');
      expect(await errorOf(all.find({}).hint('nope').toArray())).to.include({ code: 2 });
    });
  });

  if (EMBEDDED) {
    it('of an $or are all used when every branch has one', async () => {
      const all = store.collection();
      await all.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]);
      await all.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: i, a: i, b: 49 - i })));

      expect(await planOf(all.find({ $or: [{ a: 1 }, { b: 1 }] }))).to.equal('SUBPLAN');
      expect(
        (await all.find({ $or: [{ a: 1 }, { b: 48 }, { b: 2 }] }).toArray()).map((doc) => doc._id),
      ).to.have.members([1, 47]);
      expect(await planOf(all.find({ $or: [{ a: 1 }, { c: 1 }] }))).to.equal('COLLSCAN');
    });
  }
});
