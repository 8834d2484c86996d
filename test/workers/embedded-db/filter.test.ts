import { Binary, Double, Long, ObjectId } from 'mongodb';
import { use } from '../../support/use.ts';
import { errorOf, expectRefused, type Loose, storeUnderTest } from './store-under-test.ts';

/** Documents and, per filter, the `_id`s that MongoDB finds by its documented semantics. */
interface Table {
  readonly name: string;
  readonly docs: readonly Loose[];
  readonly cases: readonly (readonly [filter: object, ids: readonly unknown[]])[];
}

const TABLES: readonly Table[] = [
  {
    name: 'compares values of one type only',
    docs: [
      { _id: 1, a: 1 },
      { _id: 2, a: new Double(2.5) },
      { _id: 3, a: Long.fromNumber(3) },
      { _id: 4, a: new Double(4) },
      { _id: 5, a: '3' },
      { _id: 6, a: null },
      { _id: 7 },
      { _id: 8, a: Number.NaN },
      { _id: 9, a: true },
      { _id: 10, a: new Date(3) },
    ],
    cases: [
      [{ a: 3 }, [3]],
      [{ a: { $gt: 1 } }, [2, 3, 4]],
      [{ a: { $gte: new Double(2.5), $lt: 4 } }, [2, 3]],
      [{ a: { $lte: 2.5 } }, [1, 2]],
      [{ a: { $gt: '' } }, [5]],
      [{ a: { $gte: false } }, [9]],
      [{ a: { $lte: new Date(5) } }, [10]],
      [{ a: { $ne: 3 } }, [1, 2, 4, 5, 6, 7, 8, 9, 10]],
      [{ a: Number.NaN }, [8]],
      [{ a: { $gte: Number.NaN } }, [8]],
      [{ a: { $lt: Number.NaN } }, []],
      [{ a: { $in: [1, '3', null] } }, [1, 5, 6, 7]],
      [{ a: { $nin: [1, '3', null] } }, [2, 3, 4, 8, 9, 10]],
      [{ a: { $not: { $gt: 1 } } }, [1, 5, 6, 7, 8, 9, 10]],
    ],
  },
  {
    name: 'treats null and missing alike, except for $exists',
    docs: [
      { _id: 1, a: null },
      { _id: 2 },
      { _id: 3, a: { b: null } },
      { _id: 4, a: { b: 1 } },
      { _id: 5, a: [{ b: 1 }, {}] },
      { _id: 6, a: [{ b: 1 }] },
      { _id: 7, a: [] },
      { _id: 8, a: [1, 2] },
      { _id: 9, a: 4 },
    ],
    cases: [
      [{ a: null }, [1, 2]],
      [{ a: { $ne: null } }, [3, 4, 5, 6, 7, 8, 9]],
      [{ a: { $exists: true } }, [1, 3, 4, 5, 6, 7, 8, 9]],
      [{ a: { $exists: false } }, [2]],
      [{ 'a.b': null }, [1, 2, 3, 5, 9]],
      [{ 'a.b': { $ne: null } }, [4, 6, 7, 8]],
      [{ 'a.b': { $exists: true } }, [3, 4, 5, 6]],
      [{ 'a.b': { $in: [null] } }, [1, 2, 3, 5, 9]],
      [{ a: { $gte: null } }, [1, 2]],
      [{ a: { $gt: null } }, []],
    ],
  },
  {
    name: 'looks at the elements of arrays and at the arrays themselves',
    docs: [
      { _id: 1, a: [1, 2, 3] },
      { _id: 2, a: [[1, 2], 5] },
      { _id: 3, a: 2 },
      { _id: 4, a: [] },
      {
        _id: 5,
        a: [
          { b: 1, c: 9 },
          { b: 7, c: 2 },
        ],
      },
      { _id: 6, a: [{ b: [1, 2] }] },
    ],
    cases: [
      [{ a: 2 }, [1, 3]],
      [{ a: [1, 2, 3] }, [1]],
      [{ a: [1, 2] }, [2]],
      [{ a: { $gt: 2, $lt: 2 } }, [1]],
      [{ a: [] }, [4]],
      [{ 'a.0': 1 }, [1]],
      [{ 'a.0': [1, 2] }, [2]],
      [{ 'a.0.0': 1 }, [2]],
      [{ 'a.0': { $gt: 0 } }, [1]],
      [{ 'a.1': 5 }, [2]],
      [{ 'a.b': 1 }, [5, 6]],
      [{ 'a.0.b': 1 }, [5, 6]],
      [{ 'a.1.b': 7 }, [5]],
      [{ a: { $elemMatch: { b: 1, c: 2 } } }, []],
      [{ a: { $elemMatch: { b: 7, c: 2 } } }, [5]],
      [{ a: { $in: [[1, 2], 3] } }, [1, 2]],
      [{ a: { $elemMatch: { $or: [{ b: 7 }, { b: 8 }] } } }, [5]],
    ],
  },
  {
    name: 'compares objects field by field, in order',
    docs: [
      { _id: 1, a: { x: 1, y: 2 } },
      { _id: 2, a: { y: 2, x: 1 } },
      { _id: 3, a: { x: 1 } },
      { _id: 4, a: {} },
    ],
    cases: [
      [{ a: { x: 1, y: 2 } }, [1]],
      [{ a: { x: new Double(1), y: 2 } }, [1]],
      [{ a: {} }, [4]],
      [{ a: { $gt: { x: 1 } } }, [1, 2]],
      [{ 'a.x': 1 }, [1, 2, 3]],
    ],
  },
  {
    name: 'joins conditions',
    docs: [
      { _id: 1, a: 1, b: 1 },
      { _id: 2, a: 1, b: 2 },
      { _id: 3, a: 2, b: 2 },
      { _id: 4, s: 'Hello\nworld' },
      { _id: 5, s: 'hello' },
    ],
    cases: [
      [{ a: 1, b: 2 }, [2]],
      [{ $and: [{ a: 1 }, { b: 2 }] }, [2]],
      [{ $or: [{ a: 2 }, { b: 1 }] }, [1, 3]],
      [{ $nor: [{ a: 1 }, { b: 2 }] }, [4, 5]],
      [{ a: { $eq: 1 }, $or: [{ b: 1 }, { b: 9 }] }, [1]],
      [{ s: { $regex: '^hello' } }, [5]],
      [{ s: { $regex: '^hello', $options: 'i' } }, [4, 5]],
      [{ s: { $regex: '^world', $options: 'm' } }, [4]],
      [{ s: { $regex: 'o.w', $options: 's' } }, [4]],
      [{ $expr: { $eq: ['$a', '$b'] } }, [1, 3, 4, 5]],
      [{ $expr: { $lt: ['$a', '$b'] }, a: 1 }, [2]],
    ],
  },
  {
    name: 'compares what is no number',
    docs: [
      { _id: 1, a: new ObjectId('650000000000000000000001') },
      { _id: 2, a: new ObjectId('650000000000000000000002') },
      { _id: 3, a: new Binary(Buffer.from([1, 2])) },
      { _id: 4, a: new Binary(Buffer.from([3])) },
      { _id: 5, a: Long.fromString('9007199254740993') },
      { _id: 6, a: Long.fromString('9007199254740992') },
      { _id: 8, a: 0.1 },
    ],
    cases: [
      [{ a: { $gt: new ObjectId('650000000000000000000001') } }, [2]],
      [{ a: { $gt: new Binary(Buffer.from([9])) } }, [3]],
      [{ a: Long.fromString('9007199254740993') }, [5]],
      [{ a: { $lt: Long.fromString('9007199254740993') } }, [6, 8]],
      [{ a: 9007199254740992 }, [6]],
      [{ a: 0.1 }, [8]],
      [{ a: { $gt: Long.fromNumber(0), $lt: Long.fromNumber(1) } }, [8]],
    ],
  },
];

const MALFORMED: readonly object[] = [
  { a: { $in: 1 } },
  { a: { $in: [{ $gt: 1 }] } },
  { $or: [] },
  { $or: {} },
  { $and: [1] },
  { a: { $elemMatch: 1 } },
  { a: { $not: {} } },
  { a: { $options: 'i' } },
  { a: { $regex: '[' } },
  { a: { $elemMatch: { k: 1, $expr: { $eq: ['$k', 1] } } } },
];

describe('embedded-db filters', () => {
  const store = use(storeUnderTest);

  for (const { name, docs, cases } of TABLES) {
    it(name, async () => {
      const all = store.collection();
      await all.insertMany([...docs]);

      for (const [filter, ids] of cases) {
        const found = await all.find(filter).toArray();
        expect(
          found.map((doc) => doc._id),
          JSON.stringify(filter),
        ).to.have.members([...ids]);
      }
    });

    it(`${name}, also with an index in the way`, async () => {
      const all = store.collection();
      for (const key of ['a', 'a.b', 's']) await all.createIndex({ [key]: 1 });
      for (const key of ['a', 'b']) await all.createIndex({ [key]: -1 });
      await all.insertMany([...docs]);

      for (const [filter, ids] of cases) {
        const found = await all.find(filter).toArray();
        expect(
          found.map((doc) => doc._id),
          JSON.stringify(filter),
        ).to.have.members([...ids]);
      }
    });
  }

  it('refuses a malformed filter', async () => {
    const all = store.collection();
    await all.insertOne({ a: 1 });

    for (const filter of MALFORMED) expectRefused(await errorOf(all.find(filter).toArray()), JSON.stringify(filter));
  });
});
