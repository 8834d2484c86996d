import { Binary, type Document, Double, Int32, Long } from 'mongodb';
import { use } from '../../support/use.ts';
import { answerTo, errorOf, expectRefused, type StoreUnderTest, storeUnderTest } from './store-under-test.ts';

const long = (n: number): Long => Long.fromNumber(n);

/** A document, an update, and the document after it (without `_id`): MongoDB's documented results, types included. */
const CASES: readonly (readonly [name: string, before: Document, update: Document, after: Document])[] = [
  [
    '$set replaces, adds, and goes into objects',
    { a: 1, o: { x: 1 } },
    { $set: { a: 'b', 'o.y': 2, n: null } },
    { a: 'b', o: { x: 1, y: 2 }, n: null },
  ],
  [
    '$set names an element by its number',
    { a: [1, { b: 2 }] },
    { $set: { 'a.0': 9, 'a.1.b': 8 } },
    { a: [9, { b: 8 }] },
  ],
  ['$set makes the objects on the way', {}, { $set: { 'a.b.c': 1 } }, { a: { b: { c: 1 } } }],
  ['$unset removes', { a: 1, b: { c: 1, d: 2 } }, { $unset: { a: '', 'b.c': 1, x: 1, 'b.d.y': 1 } }, { b: { d: 2 } }],
  ['$inc keeps int32', { n: new Int32(1) }, { $inc: { n: new Int32(2) } }, { n: new Int32(3) }],
  ['$inc keeps int64', { n: long(1) }, { $inc: { n: new Int32(2) } }, { n: long(3) }],
  ['$inc keeps double', { n: new Double(1) }, { $inc: { n: new Int32(2) } }, { n: new Double(3) }],
  [
    '$inc widens an int32 that does not fit',
    { n: new Int32(2147483647) },
    { $inc: { n: new Int32(1) } },
    { n: long(2147483648) },
  ],
  ['$inc makes a field', {}, { $inc: { n: long(5), 'o.n': 1 } }, { n: long(5), o: { n: new Int32(1) } }],
  [
    '$min and $max compare in BSON order',
    { a: 5, b: 5, c: 5, d: 'x' },
    { $min: { a: 3, b: 7, e: 1 }, $max: { c: 9, d: 4 } },
    { a: 3, b: 5, c: 9, d: 'x', e: 1 },
  ],
  ['$push appends, and makes the array', { a: [1] }, { $push: { a: 2, b: { x: 1 } } }, { a: [1, 2], b: [{ x: 1 }] }],
  ['$push of an array appends it as one element', { a: [1] }, { $push: { a: [2, 3] } }, { a: [1, [2, 3]] }],
  [
    '$push with $each and $slice',
    { b: [1, 2, 3], c: [1] },
    { $push: { b: { $each: [4], $slice: -2 }, c: { $each: [2, 3], $slice: 2 } } },
    { b: [3, 4], c: [1, 2] },
  ],
  [
    '$pull takes what equals the value, or the documents that match',
    { a: [1, 2, new Double(1)], c: [{ k: 1, v: 2 }, { k: 2 }, 7, [{ k: 1 }]] },
    { $pull: { a: 1, c: { k: { $in: [1, 3] } }, none: 1 } },
    { a: [2], c: [{ k: 2 }, 7, [{ k: 1 }]] },
  ],
  [
    '$setOnInsert does nothing to what is there',
    { a: 1 },
    { $set: { b: 2 }, $setOnInsert: { a: 9, c: 9 } },
    { a: 1, b: 2 },
  ],
  ['a replacement keeps only _id', { a: 1, b: 2 }, { c: 3 }, { c: 3 }],
];

const MALFORMED: readonly Document[] = [
  { $inc: { s: 1 } },
  { $inc: { nothing: 1, nil: 1 } },
  { $inc: { n: 'x' } },
  { $inc: { big: Long.fromNumber(1) } },
  { $push: { s: 1 } },
  { $pull: { s: 1 } },
  { $set: { 's.x': 1 } },
  { $set: { 'nil.x': 1 } },
  { $set: { 'a.x': 1 } },
  { $set: { n: 1, 'n.x': 2 } },
  { $set: { n: 1 }, $inc: { n: 1 } },
  { $set: { _id: 'other' } },
  { $unset: { _id: 1 } },
  { $set: { '': 1 } },
  { $set: { 'a..b': 1 } },
  { $set: { $x: 1 } },
  { $set: 5 },
  { $push: { a: { $each: 1 } } },
  { $push: { a: { $slice: 1 } } },
];

describe('embedded-db update', () => {
  const store = use(storeUnderTest);

  for (const [name, start, update, end] of CASES) {
    it(name, async () => {
      const all = store.collection();
      await all.insertOne({ _id: 1, ...start });

      await store.db.command({ update: all.collectionName, updates: [{ q: { _id: 1 }, u: update }] });

      const expected = store.collection();
      await expected.insertOne({ _id: 1, ...end });
      const options = { promoteValues: false, raw: true };
      expect(await rawHex(all)).to.equal(await rawHex(expected), JSON.stringify(await all.findOne({}, options)));
    });
  }

  it('refuses what cannot be done, and changes nothing', async () => {
    const all = store.collection();
    const doc = { _id: 1, s: 'text', n: 1, nil: null, a: [1], big: Long.MAX_VALUE };
    await all.insertOne(doc);
    const before = await rawHex(all);

    for (const u of MALFORMED) {
      const command = { update: all.collectionName, updates: [{ q: { _id: 1 }, u }] };
      expectRefused(await answerTo(store.db, command), JSON.stringify(u));
      expect(await rawHex(all), JSON.stringify(u)).to.equal(before);
    }
  });

  it('counts what matched and what changed', async () => {
    const all = store.collection();
    await all.insertMany([
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
      { _id: 3, a: 2 },
    ]);

    const one = await all.updateOne({ a: 1 }, { $set: { b: 1 } });
    const many = await all.updateMany({ a: 1 }, { $set: { b: 1 } });
    const none = await all.updateMany({ a: 9 }, { $set: { b: 1 } });

    expect([one.matchedCount, one.modifiedCount]).to.deep.equal([1, 1]);
    expect([many.matchedCount, many.modifiedCount]).to.deep.equal([2, 1]);
    expect([none.matchedCount, none.modifiedCount]).to.deep.equal([0, 0]);
  });

  it('goes on after a failing statement when unordered, and stops when ordered', async () => {
    const all = store.collection();
    await all.insertMany([
      { _id: 1, n: 1 },
      { _id: 2, n: 'x' },
      { _id: 3, n: 1 },
    ]);
    const updates = [1, 2, 3].map((id) => ({ q: { _id: id }, u: { $inc: { n: 1 } } }));
    const run = (ordered: boolean): Promise<Document> =>
      store.db.command({ update: all.collectionName, updates, ordered }).catch((error) => error.result ?? error);

    await run(false);
    expect((await all.find().sort({ _id: 1 }).toArray()).map((doc) => doc.n)).to.deep.equal([2, 'x', 2]);
    await run(true);
    expect((await all.find().sort({ _id: 1 }).toArray()).map((doc) => doc.n)).to.deep.equal([3, 'x', 2]);
  });

  it('leaves alone what it does not name, to the byte', async () => {
    const all = store.collection();
    const body = new Binary(Buffer.alloc(50_000, 7));
    const doc = { _id: 'a', int64: Long.fromNumber(1), body, n: 1, last: { deep: [new Double(1)] } };
    await all.insertOne(doc);

    await all.updateOne({ _id: 'a' }, { $inc: { n: 1 } });

    const after = await all.findOne({}, { promoteValues: false });
    expect(after).to.deep.equal({ ...doc, n: new Int32(2), last: { deep: [new Double(1)] } });
  });

  describe('upsert', () => {
    it('makes the document of the filter and the update', async () => {
      const all = store.collection();

      const result = await all.updateOne(
        { _id: 'x', a: { $eq: 1 }, $and: [{ b: 2 }], c: { $gt: 5 }, 'd.e': 3 },
        { $set: { g: 1 }, $setOnInsert: { h: 2 } },
        { upsert: true },
      );

      expect(result.upsertedId).to.equal('x');
      expect(await all.findOne()).to.deep.equal({ _id: 'x', a: 1, b: 2, d: { e: 3 }, g: 1, h: 2 });
    });

    it('makes an _id when neither has one, and changes the document the next time', async () => {
      const all = store.collection();

      const first = await all.updateOne({ k: 1 }, { $inc: { n: 1 } }, { upsert: true });
      const second = await all.updateOne({ k: 1 }, { $inc: { n: 1 } }, { upsert: true });

      expect(first.upsertedCount).to.equal(1);
      expect(second.upsertedCount).to.equal(0);
      expect(await all.find({}, { projection: { _id: 0 } }).toArray()).to.deep.equal([{ k: 1, n: 2 }]);
    });

    it('takes only the _id from the filter of a replacement', async () => {
      const all = store.collection();

      await all.replaceOne({ _id: 7, a: 1 }, { b: 2 }, { upsert: true });

      expect(await all.find().toArray()).to.deep.equal([{ _id: 7, b: 2 }]);
    });

    it('refuses to give the document another _id than the filter has', async () => {
      const all = store.collection();

      expectRefused(await errorOf(all.updateOne({ _id: 1 }, { $set: { _id: 2 } }, { upsert: true })));
      expect(await all.countDocuments()).to.equal(0);
    });

    it('refuses $expr in the filter, however deep, as mongod does', async () => {
      const all = store.collection();
      const $expr = { $gte: ['$$NOW', new Date(0)] };

      for (const filter of [{ $expr }, { _id: 1, $or: [{ a: 1 }, { $and: [{ $expr }] }] }, { $nor: [{ $expr }] }]) {
        const refused = { message: '$expr is not allowed in the query predicate for an upsert' };
        expect(await errorOf(all.updateOne(filter, { $set: { n: 1 } }, { upsert: true }))).to.include(refused);
        expect(await errorOf(all.findOneAndUpdate(filter, { $set: { n: 1 } }, { upsert: true }))).to.include(refused);
      }
      expect(await all.countDocuments()).to.equal(0);
    });
  });

  it('refuses a replacement of many, and a replacement with $ fields', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1 });
    const update = (u: object, multi: boolean): Promise<Document> =>
      answerTo(store.db, { update: all.collectionName, updates: [{ q: {}, u, multi }] });

    expectRefused(await update({ a: 1 }, true));
    expectRefused(await update({ a: 1, $set: { b: 1 } }, false));
  });

  async function rawHex(all: ReturnType<StoreUnderTest['collection']>): Promise<string> {
    const doc = await all.findOne({}, { raw: true });
    return Buffer.isBuffer(doc) ? doc.toString('hex') : '';
  }
});
