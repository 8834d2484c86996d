import { use } from '../../support/use.ts';
import { storeUnderTest } from './store-under-test.ts';

describe('embedded-db delete', () => {
  const store = use(storeUnderTest);

  it('removes one or all that match, and their index entries', async () => {
    const all = store.collection();
    await all.createIndex({ a: 1 });
    await all.insertMany([1, 1, 1, 2].map((a, i) => ({ _id: i, a })));

    const one = await all.deleteOne({ a: 1 });
    const rest = await all.deleteMany({ a: 1 });

    expect([one.deletedCount, rest.deletedCount]).to.deep.equal([1, 2]);
    expect(await all.find({ a: { $gte: 0 } }).toArray()).to.deep.equal([{ _id: 3, a: 2 }]);
    expect(await all.estimatedDocumentCount()).to.equal(1);
  });

  it('removes nothing from a collection that is not there', async () => {
    expect((await store.collection().deleteMany({})).deletedCount).to.equal(0);
  });
});
