import { Binary, Double, Int32, Long, MongoBulkWriteError, ObjectId } from 'mongodb';
import { use } from '../../support/use.ts';
import { errorOf, expectRefused, storeUnderTest } from './store-under-test.ts';

describe('embedded-db insert', () => {
  const store = use(storeUnderTest);

  it('gives back every type as it was stored', async () => {
    const all = store.collection();
    const doc = {
      _id: new ObjectId(),
      int32: new Int32(5),
      double: new Double(5),
      fraction: 0.1,
      int64: Long.fromString('9007199254740993'),
      string: 'naïve नमस्ते 😀',
      empty: '',
      bool: true,
      date: new Date(-1),
      null: null,
      binary: new Binary(Buffer.from([0, 1, 255]), 4),
      nested: { array: [new Int32(1), [new Int32(2), { deep: null }]], object: {} },
    };

    await all.insertOne(doc);

    const raw = await all.findOne({}, { promoteValues: false });
    expect(raw).to.deep.equal({ ...doc, fraction: new Double(0.1) });
  });

  it('makes an ObjectId when the client sends none, and puts _id first', async () => {
    const all = store.collection();

    await store.db.command({ insert: all.collectionName, documents: [{ a: 1 }, { a: 2, _id: 'x' }] });

    const [made, moved] = await all.find().sort({ a: 1 }).toArray();
    expect(made?._id).to.be.instanceOf(ObjectId);
    expect(Object.keys(made ?? {})).to.deep.equal(['_id', 'a']);
    expect(Object.keys(moved ?? {})).to.deep.equal(['_id', 'a']);
  });

  it('answers a duplicate _id with 11000, the key pattern and the value', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 'a', n: 1 });

    const error = await errorOf(all.insertOne({ _id: 'a', n: 2 }));

    expect(error).to.include({ code: 11000 });
    expect(error.message).to.equal(
      `E11000 duplicate key error collection: ${all.namespace} index: _id_ dup key: { _id: "a" }`,
    );
    expect(error.keyPattern).to.deep.equal({ _id: 1 });
    expect(error.keyValue).to.deep.equal({ _id: 'a' });
    expect(await all.findOne({ _id: 'a' })).to.deep.equal({ _id: 'a', n: 1 });
  });

  it('stops at the first error when ordered', async () => {
    const all = store.collection();

    const error = await bulkError(all.insertMany([{ _id: 1 }, { _id: 1 }, { _id: 2 }]));

    expect(error.result.insertedCount).to.equal(1);
    expect(writeErrors(error)).to.deep.equal([{ index: 1, code: 11000 }]);
    expect(await all.countDocuments()).to.equal(1);
  });

  it('goes on and reports each error with its index when unordered', async () => {
    const all = store.collection();
    await all.createIndex({ email: 1 }, { unique: true });

    const docs = [
      { _id: 1, email: 'a' },
      { _id: 1, email: 'b' },
      { _id: 2, email: 'a' },
      { _id: 3, email: 'c' },
    ];
    const error = await bulkError(all.insertMany(docs, { ordered: false }));

    expect(error.result.insertedCount).to.equal(2);
    expect(writeErrors(error)).to.deep.equal([
      { index: 1, code: 11000 },
      { index: 2, code: 11000 },
    ]);
    expect((await all.find().toArray()).map((doc) => doc._id)).to.have.members([1, 3]);
  });

  it('counts numbers of different types as the same _id', async () => {
    const all = store.collection();
    await all.insertOne({ _id: new Int32(1) });

    for (const same of [new Double(1), Long.fromNumber(1)]) {
      expect(await errorOf(all.insertOne({ _id: same }))).to.include({ code: 11000 });
    }
  });

  it('refuses an _id that is an array or has $ fields', async () => {
    const all = store.collection();

    expectRefused(await errorOf(all.insertOne({ _id: [1] })));
    expectRefused(await errorOf(all.insertOne({ _id: { $a: 1 } })));
  });

  it('takes an _id of several thousand bytes and finds it again', async () => {
    const all = store.collection();
    const long = 'x'.repeat(5000);

    await all.insertMany([{ _id: `${long}1` }, { _id: `${long}2` }]);

    expect(await errorOf(all.insertOne({ _id: `${long}2` }))).to.include({ code: 11000 });
    expect(await all.countDocuments({ _id: `${long}1` })).to.equal(1);
  });

  it('inserts ten thousand documents in one call', async () => {
    const all = store.collection();

    await all.insertMany(Array.from({ length: 10_000 }, (_, i) => ({ i })));

    expect(await all.countDocuments()).to.equal(10_000);
    expect(await all.estimatedDocumentCount()).to.equal(10_000);
  });

  it('runs unacknowledged writes in the order they were sent', async () => {
    const all = store.collection();
    const single = store.client
      .db(store.db.databaseName, { writeConcern: { w: 0 } })
      .collection<{ _id: string; n: number }>(all.collectionName);

    await single.insertOne({ _id: 'a', n: 1 });
    await single.updateOne({ _id: 'a' }, { $inc: { n: 1 } });
    await all.findOneAndUpdate({ _id: 'b' }, { $set: { n: 1 } }, { upsert: true });

    expect((await all.find().toArray()).length).to.be.greaterThan(0);
  });
});

async function bulkError(action: Promise<unknown>): Promise<MongoBulkWriteError> {
  try {
    await action;
  } catch (error) {
    if (error instanceof MongoBulkWriteError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

function writeErrors(error: MongoBulkWriteError): { index: number; code: unknown }[] {
  const list = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
  return list.map(({ index, code }) => ({ index, code }));
}
