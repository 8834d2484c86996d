import fc from 'fast-check';
import type { Document } from 'mongodb';
import { lookedAt } from '../../support/looked-at.ts';
import { use } from '../../support/use.ts';
import { storeUnderTest } from './store-under-test.ts';

const INDEXES: readonly {
  key: Record<string, 1 | -1>;
  name: string;
  partialFilterExpression?: Document;
  sparse?: boolean;
}[] = [
  { key: { a: 1 }, name: 'a' },
  { key: { a: -1, b: 1 }, name: 'a_desc_b' },
  { key: { 'l.k': 1 }, name: 'list' },
  { key: { 'l.k': 1, 'l.v': -1 }, name: 'list_pairs' },
  { key: { b: 1 }, name: 'b_sparse', sparse: true },
  { key: { b: 1, a: 1 }, name: 'b_when_a', partialFilterExpression: { a: { $gt: 1 } } },
  { key: { a: 1, _id: 1 }, name: 'present', partialFilterExpression: { s: { $exists: true } } },
];

const scalar = fc.constantFrom<unknown>(0, 1, 2, 3, 2.5, -1, 'x', 'y', '', null, true, new Date(5));
const value = fc.oneof({ weight: 5, arbitrary: scalar }, { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) });
const id = fc.integer({ min: 0, max: 12 });
const entry = fc.record({ k: value, v: scalar }, { requiredKeys: [] });
const list = fc.array(
  fc.oneof({ weight: 8, arbitrary: entry }, { weight: 1, arbitrary: fc.array(entry, { maxLength: 2 }) }),
  { maxLength: 3 },
);
const doc = fc.record({ a: value, b: scalar, s: scalar, l: list }, { requiredKeys: [] });

type Operation = (db: Document, name: string) => Promise<unknown>;

const updates: fc.Arbitrary<Document> = fc.oneof(
  fc.record({ $set: fc.record({ a: value, b: scalar, s: scalar }, { requiredKeys: ['a'] }) }),
  fc.record({ $set: fc.record({ l: list }) }),
  fc.record({ $unset: fc.constantFrom({ a: 1 }, { b: 1 }, { s: 1 }, { l: 1 }, { 'l.0.k': 1 }) }),
  fc.record({ $push: fc.record({ l: fc.record({ k: scalar }) }) }),
  fc.record({ $min: fc.record({ b: scalar }), $max: fc.record({ s: scalar }) }),
);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(id, doc).map(
      ([_id, fields]): Operation =>
        (db, c) =>
          db.command({ update: c, updates: [{ q: { _id }, u: { _id, ...fields }, upsert: true }] }),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(id, updates).map(
      ([_id, u]): Operation =>
        (db, c) =>
          db.command({ update: c, updates: [{ q: { _id }, u }] }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(scalar, scalar).map(
      ([a, b]): Operation =>
        (db, c) =>
          db.command({ update: c, updates: [{ q: { a }, u: [{ $set: { b } }], multi: true }] }),
    ),
  },
  {
    weight: 1,
    arbitrary: id.map(
      (_id): Operation =>
        (db, c) =>
          db.command({ delete: c, deletes: [{ q: { _id }, limit: 1 }] }),
    ),
  },
);

const comparison = fc
  .tuple(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte'), scalar)
  .map(([op, x]) => ({ [op]: x }));
const range = fc.tuple(scalar, scalar).map(([x, y]) => ({ $gte: x, $lt: y }));
const oneOf = fc.array(scalar, { minLength: 1, maxLength: 4 }).map((values) => ({ $in: values }));
const condition: fc.Arbitrary<unknown> = fc.oneof(comparison, range, oneOf, scalar);
const element = fc.record({ k: condition, v: condition }, { requiredKeys: ['k'] }).map((one) => ({ $elemMatch: one }));
const query = fc.record(
  { a: condition, b: condition, 'l.k': condition, 'l.v': condition, l: element, s: fc.constant({ $exists: true }) },
  { requiredKeys: [] },
);
const sort = fc.constantFrom<Record<string, 1 | -1> | undefined>(
  undefined,
  { a: 1, _id: 1 },
  { a: -1, b: 1, _id: 1 },
  { b: 1, a: 1, _id: -1 },
);

describe('embedded-db index consistency', () => {
  const store = use(storeUnderTest);

  it('finds by its indexes what a look at every document finds, after any changes', async () => {
    const looked = { withIndexes: 0, without: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 5, maxLength: 25 }),
        fc.array(fc.tuple(query, sort, fc.integer({ min: 0, max: 2 })), { minLength: 4, maxLength: 6 }),
        async (operations, queries) => {
          const indexed = store.collection();
          const plain = store.collection();
          await indexed.createIndexes([...INDEXES]);
          for (const run of operations) {
            await run(store.db, indexed.collectionName);
            await run(store.db, plain.collectionName);
          }
          for (const [filter, order, skipped] of queries) {
            const find = (all: typeof plain) =>
              order === undefined ? all.find(filter) : all.find(filter).sort(order).skip(skipped);
            const expected = await find(plain).toArray();
            const found = await find(indexed).toArray();
            looked.without += (await lookedAt(store.db, find(plain))).documents;
            looked.withIndexes += (await lookedAt(store.db, find(indexed))).documents;
            if (order === undefined) expect(found, JSON.stringify(filter)).to.have.deep.members(expected);
            else
              expect(
                found.map((one) => one._id),
                JSON.stringify([filter, order]),
              ).to.deep.equal(expected.map((one) => one._id));
          }
          await indexed.drop();
          await plain.drop().catch(() => {});
        },
      ),
      { numRuns: 60 },
    );
    expect(looked.withIndexes).to.be.lessThan(looked.without / 2);
  });
});
