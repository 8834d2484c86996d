import fc from 'fast-check';
import type { Document } from 'mongodb';
import { lookedAt } from '../../support/looked-at.ts';
import { use } from '../../support/use.ts';
import { errorOf, storeUnderTest } from './store-under-test.ts';

/** Shorter and longer than an index's part of a key: longer strings may differ only after that part. */
const HEADS = ['', 'a', 'x'.repeat(850), 'x'.repeat(869), 'x'.repeat(895), 'x'.repeat(1_200), `${'x'.repeat(880)}\0`];
const text = fc
  .tuple(fc.constantFrom(...HEADS), fc.constantFrom('', 'a', 'b', 'z', '\0', '\uffff', 'yy'.repeat(40)))
  .map(([head, tail]) => head + tail);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom(1, 2, null) },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) },
);
const condition: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte', '$eq'), text).map(([op, x]) => ({ [op]: x })),
  fc.tuple(text, text).map(([low, high]) => ({ $gte: low, $lt: high })),
  fc.array(text, { minLength: 1, maxLength: 4 }).map((values) => ({ $in: values })),
);
const docs = fc.array(fc.record({ a: value, b: fc.oneof(text, fc.constantFrom(1, 2)) }), {
  minLength: 5,
  maxLength: 25,
});
const query = fc.tuple(
  fc.record({ a: condition, b: condition }, { requiredKeys: [] }),
  fc.constantFrom<Document | undefined>(
    undefined,
    { a: 1, _id: 1 },
    { a: -1, b: 1, _id: 1 },
    { b: -1, _id: 1 },
    { _id: -1 },
  ),
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 0, max: 6 }),
);

describe('embedded-db indexes with keys longer than they keep', function () {
  this.timeout(180_000);
  const store = use(storeUnderTest);

  it('find and sort as a look at every document does', async () => {
    const looked = { withIndexes: 0, without: 0 };
    await fc.assert(
      fc.asyncProperty(
        docs,
        fc.boolean(),
        fc.array(query, { minLength: 5, maxLength: 8 }),
        async (made, longIds, queries) => {
          const [indexed, plain] = [store.collection(), store.collection()];
          await indexed.createIndexes([
            { key: { a: 1, b: 1 } },
            { key: { a: -1, b: 1, _id: 1 }, name: 'down' },
            { key: { b: -1, _id: 1 } },
          ]);
          const all = made.map((doc, i) => ({
            _id: longIds ? `${'i'.repeat(900)}${(i * 101) % 97}` : i,
            ...doc,
          }));
          await indexed.insertMany(all);
          await plain.insertMany(all.map((doc) => ({ ...doc, _id: JSON.stringify(doc._id), was: doc._id })));
          for (const [filter, sort, skip, limit] of queries) {
            const found = indexed.find(filter);
            if (sort !== undefined)
              found
                .sort(sort as Record<string, 1 | -1>)
                .skip(skip)
                .limit(limit);
            const expected = plain.find(filter).sort(sort === undefined ? { was: 1 } : wasSort(sort));
            if (sort !== undefined) expected.skip(skip).limit(limit);
            looked.withIndexes += (await lookedAt(store.db, found.clone())).documents;
            looked.without += (await lookedAt(store.db, expected.clone())).documents;
            const [ids, wanted] = [await found.toArray(), await expected.toArray()];
            const [mine, theirs] = [ids.map(({ _id }) => _id), wanted.map(({ was }) => was)];
            if (sort === undefined) expect(mine, JSON.stringify(filter).slice(0, 200)).to.have.members(theirs);
            else expect(mine, JSON.stringify([filter, sort]).slice(0, 200)).to.deep.equal(theirs);
          }
          await indexed.drop();
          await plain.drop();
        },
      ),
      { numRuns: 60 },
    );
    expect(looked.withIndexes).to.be.lessThan(looked.without / 2);
  });

  it('tell duplicates from values that only begin alike', async () => {
    const all = store.collection();
    await all.createIndex({ k: 1 }, { unique: true });
    const long = 'x'.repeat(2_000);
    await all.insertMany([
      { _id: 1, k: `${long}a` },
      { _id: 2, k: `${long}b` },
    ]);

    const error = await errorOf(all.insertOne({ _id: 3, k: `${long}a` }));

    expect(error).to.include({ code: 11000 });
    expect(
      await all
        .find({ k: { $gt: long } })
        .sort({ k: -1 })
        .map(({ _id }) => _id)
        .toArray(),
    ).to.deep.equal([2, 1]);
    expect(await lookedAt(store.db, all.find({ k: `${long}b` }))).to.include({ found: 1, documents: 2 });
  });

  it('are in use whatever was stored, and a refused write changes nothing of them', async () => {
    const all = store.collection();
    await all.createIndexes([{ key: { k: 1 } }, { key: { u: 1 }, unique: true }]);
    await all.insertOne({ _id: 1, k: 'x'.repeat(5_000), u: 1 });
    await errorOf(all.insertOne({ _id: 2, k: [1, 2], u: 1 }));

    // An index that has met an array gives no order; the refused write must not count as one.
    await all.insertMany([{ k: 'y' }, { k: 'z', u: 2 }]);
    const first = () =>
      lookedAt(
        store.db,
        all
          .find({ k: { $gt: 'a' } })
          .sort({ k: 1 })
          .limit(1),
      );
    expect(await first()).to.include({ found: 1, documents: 1 });
    await all.deleteOne({ _id: 1 });
    expect(await first()).to.include({ found: 1, documents: 1 });
  });
});

/** The same sort for the collection without indexes, which has the `_id` in the field `was`. */
function wasSort(sort: Document): Record<string, 1 | -1> {
  return Object.fromEntries(Object.entries(sort).map(([path, by]) => [path === '_id' ? 'was' : path, by]));
}
