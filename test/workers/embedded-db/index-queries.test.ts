import type { Collection, Document } from 'mongodb';
import { lookedAt } from '../../support/looked-at.ts';
import { use } from '../../support/use.ts';
import { errorOf, type Loose, storeUnderTest } from './store-under-test.ts';

describe('embedded-db indexes', () => {
  const store = use(storeUnderTest);

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
          partialFilterExpression: { 'batch.state': { $gte: 'held', $lte: 'open' } },
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

    const looked = (cursor: Parameters<typeof lookedAt>[1]) => lookedAt(store.db, cursor);
    type Sort = Record<string, 1 | -1>;
    /** Queries with the documents found, and the number looked at. */
    const QUERIES: readonly (readonly [
      name: string,
      filter: Document,
      sort: Sort,
      found: number,
      documents: number,
    ])[] = [
      ['a claim', { state: 'queued', path: 'x', lane: 1, account: { $gt: 'a1' } }, { account: 1, _id: 1 }, 40, 40],
      [
        'the next account',
        { state: 'queued', path: 'x', lane: 1, account: 'a2', _id: { $gt: 'm100' } },
        { _id: 1 },
        10,
        10,
      ],
      ['receipts', { 'parts.key': { $in: ['k1', 'k2b', 'none'] } }, {}, 2, 2],
      ['what is due', { endpoint: 'e', due: { $lte: new Date(50) } }, { due: 1 }, 11, 11],
      ['a page', { account: 'a1', _id: { $lt: 'm200' } }, { _id: -1 }, 40, 40],
      ['an $in within the range of a partial index', { 'batch.state': { $in: ['open'] } }, {}, 58, 58],
      [
        'a range of a partial index',
        { attempts: { $gte: 2 }, retryAt: { $lte: new Date(100) } },
        { retryAt: 1 },
        50,
        75,
      ],
      ['a filter that the partial index does not cover', { path: 'x', lane: 1, account: 'nobody' }, {}, 0, 0],
      ['a sort without an index', { account: 'a1' }, { lane: 1 }, 80, 80],
      ['a filter without an index', { lane: 1 }, {}, 133, 400],
    ];
    for (const [name, filter, sort, found, documents] of QUERIES) {
      it(name, async () => {
        expect(await looked(all.find(filter).sort(sort))).to.include({ found, documents });
      });
    }

    it('looks only at as many entries as the limit needs', async () => {
      const some = all.find({ state: 'queued', path: 'x', lane: 1 }).sort({ account: 1, _id: 1 }).limit(5);
      const { keys, documents } = await looked(some);

      expect(keys).to.be.at.most(6);
      expect(documents).to.equal(5);
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
      const { documents } = await looked(several({ account: 1, _id: 1 }));
      const byId = await several({ _id: 1 }).toArray();

      expect(up.map((doc) => doc._id)).to.deep.equal(['m001', 'm006', 'm011', 'm016', 'm021']);
      expect(down.map((doc) => doc._id)).to.deep.equal(['m398', 'm393', 'm388', 'm383', 'm378']);
      expect(documents).to.equal(5);
      // The index does not give this order, so the store must sort.
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
        looked(
          feed.find({
            account: 'a',
            'history.0': { $exists: true },
            history: { $elemMatch: { at: { $gte: new Date(1000), $lt: new Date(1100) } } },
            ...more,
          }),
        );

      expect(await stretch()).to.include({ found: 7, keys: 10 });

      // In one element with an array of times, one time may meet the lower bound and another the upper bound.
      await feed.insertOne({ account: 'a', history: [{ at: [new Date(0), new Date(5000)] }] });
      expect(await stretch()).to.include({ found: 8 });
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
        const { keys, found } = await looked(feed.find({ account: 'a', ...filter }).hint('events'));
        return [keys, found];
      };

      expect(await examined({ history: { $elemMatch: { state: 'sent', at: at(1000, 1100) } } })).to.deep.equal([
        10, 10,
      ]);
      expect(await examined({ history: { $elemMatch: { state: 'failed', at: at(0, 9_999) } } })).to.deep.equal([1, 1]);
      // One element may have the state, and another one the time.
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
        const { documents } = await looked(page.clone());
        return [(await page.toArray()).map((doc) => doc._id), documents];
      };

      expect(await skipping({ account: 'a1', _id: { $lt: 'm300' } })).to.deep.equal([['m196', 'm191'], 2]);
      expect(await skipping({ account: 'a1', _id: { $lt: 'm300' }, v: { $exists: false } })).to.deep.equal([
        ['m196', 'm191'],
        22,
      ]);
    });

    it('does not count what only lies among the bounds as skipped', async () => {
      const down = store.collection();
      await down.createIndex({ b: -1, _id: 1 });
      await down.insertMany([
        { _id: 1, b: 'a\0' },
        { _id: 2, b: '' },
      ]);

      const page = down
        .find({ b: { $lte: 'a' } })
        .sort({ b: -1, _id: 1 })
        .skip(1);
      expect(await page.toArray()).to.deep.equal([]);
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
      expect(await looked(all.find({ account: 'a1' }).hint('account'))).to.include({ found: 80, documents: 80 });
      expect(await looked(all.find({ account: 'a1' }).hint({ account: 1, _id: 1 }))).to.include({ documents: 80 });
      expect(await looked(all.find({ account: 'a1' }).hint({ _id: 1 }))).to.include({ found: 80, documents: 400 });
      expect(await errorOf(all.find({}).hint('nope').toArray())).to.include({ code: 2 });
    });
  });
});
