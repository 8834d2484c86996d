import type { Collection, Document, Filter, UpdateFilter } from 'mongodb';
import { isDuplicateKey } from '../../../../shared/platform/mongo/errors.ts';
import { msAfter, msOf, NOW_MS } from '../../../../shared/platform/mongo/store-time.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { useStore } from '../../../support/store.ts';

/**
 * Rules that the product's updates depend on and that are easily overlooked in MongoDB's manual, tested on every
 * engine. Pages: reference/operator/aggregation/set, /unset, /mergeObjects, /cond; reference/command/findAndModify,
 * /update.
 */
interface Thing extends Document {
  readonly _id: string;
}

describe('what an update by pipeline means', () => {
  const store = useStore();
  let things: Collection<Thing>;
  before(async () => {
    things = store.db.collection('things');
  });

  /** A stored document's fields after the update. */
  async function changed(fields: Document, update: Document[]): Promise<Document> {
    const _id = newId('req');
    await things.insertOne({ _id, ...fields });
    const { _id: _, ...rest } = (await things.findOneAndUpdate({ _id }, update, { returnDocument: 'after' })) ?? {};
    return rest;
  }

  it('$set of a path changes nothing beside it', async () => {
    const pending = { first: { seq: 1 } };

    expect(await changed({ pending }, [{ $set: { 'pending.second': { seq: 2 } } }])).to.deep.equal({
      pending: { first: { seq: 1 }, second: { seq: 2 } },
    });
    expect(await changed({ pending }, [{ $set: { pending: { $literal: {} } } }])).to.deep.equal({ pending: {} });
  });

  it('$set of a path makes the embedded documents above it', async () => {
    expect(await changed({ n: 1 }, [{ $set: { 'pending.first.seq': '$n' } }])).to.deep.equal({
      n: 1,
      pending: { first: { seq: 1 } },
    });
  });

  it('a field that was there keeps its place', async () => {
    const done = await changed({ z: 0, b: 0 }, [{ $set: { a: 1, b: 2 } }]);

    expect(Object.keys(done)).to.deep.equal(['z', 'b', 'a']);
  });

  it('all expressions of a stage read what was before it', async () => {
    expect(await changed({ a: 1, b: 2 }, [{ $set: { a: '$b', b: '$a' } }])).to.deep.equal({ a: 2, b: 1 });
  });

  it('$mergeObjects passes over what is missing or null', async () => {
    const merged = { $mergeObjects: ['$missing', { a: 1 }, null, '$given'] };

    expect(await changed({ given: { b: 2 } }, [{ $set: { merged } }])).to.deep.include({ merged: { a: 1, b: 2 } });
    expect(await changed({}, [{ $set: { merged: { $mergeObjects: ['$missing'] } } }])).to.deep.equal({ merged: {} });
  });

  it('$$REMOVE in a $cond takes a field away, or leaves it out', async () => {
    const update = [{ $set: { a: { $cond: ['$keep', '$a', '$$REMOVE'] }, b: { $cond: [true, '$$REMOVE', 1] } } }];

    expect(await changed({ a: 1, keep: true }, update)).to.deep.equal({ a: 1, keep: true });
    expect(await changed({ a: 1, keep: false }, update)).to.deep.equal({ keep: false });
  });

  it('$unset of a path that is missing changes nothing', async () => {
    const fields = { pending: { first: 1 }, n: 1 };

    expect(await changed(fields, [{ $unset: ['pending.second', 'none.at.all', 'n.deeper'] }])).to.deep.equal(fields);
    expect(await changed(fields, [{ $unset: 'pending.first' }])).to.deep.equal({ pending: {}, n: 1 });
  });

  it('what is missing is false to $cond, $ifNull and $eq, and smaller than any value', async () => {
    const seen = {
      cond: { $cond: ['$missing', 1, 2] },
      ifNull: { $ifNull: ['$missing', 3] },
      equal: { $eq: ['$missing', null] },
      less: { $lt: ['$missing', 0] },
    };

    expect(await changed({}, [{ $set: { seen } }])).to.deep.equal({
      seen: { cond: 2, ifNull: 3, equal: false, less: true },
    });
  });

  it("the store's time compares with dates and adds to them, as milliseconds", async () => {
    const at = new Date(1_000);
    const seen = {
      over: { $lte: [msOf('$at'), NOW_MS] },
      none: { $lte: [msOf('$missing'), NOW_MS] },
      later: msAfter('$at', 60_000),
      ahead: { $lt: ['$at', msAfter('$$NOW', 1)] },
    };

    expect(await changed({ at }, [{ $set: { seen } }])).to.deep.equal({
      at,
      seen: { over: true, none: true, later: new Date(61_000), ahead: true },
    });
    expect(await things.countDocuments({ at, $expr: { $lt: [msOf('$at'), NOW_MS] } })).to.equal(1);
  });

  describe('that may insert', () => {
    const upsert = (filter: Filter<Thing>, update: UpdateFilter<Thing> | Document[]) =>
      things.findOneAndUpdate(filter, update, { upsert: true, returnDocument: 'after' });

    it('begins with what the filter equals, and not with what it asks otherwise', async () => {
      const _id = newId('req');

      const made = await upsert({ _id, kind: 'k', v: { $exists: false } }, [{ $set: { v: { $ifNull: ['$v', 1] } } }]);

      expect(made).to.deep.equal({ _id, kind: 'k', v: 1 });
    });

    it('is a duplicate key when the document is there and does not match', async () => {
      const _id = newId('req');
      const take = (epoch: number) => upsert({ _id, epoch: { $lte: epoch } }, { $set: { epoch: epoch + 1 } });
      expect(await take(1)).to.deep.equal({ _id, epoch: 2 });

      const refused = await take(1).catch((error: unknown) => error);

      expect(isDuplicateKey(refused)).to.equal(true);
      expect(await things.findOne({ _id })).to.deep.equal({ _id, epoch: 2 });
    });
  });

  it('a document that two statements of a command update counts twice', async () => {
    const _id = newId('req');
    await things.insertOne({ _id, n: 0 });
    const statement = { q: { _id }, u: [{ $set: { n: { $add: ['$n', 1] } } }] };
    const idle = { q: { _id }, u: [{ $set: { n: '$n' } }] };

    const { n, nModified } = await store.db.command({
      update: 'things',
      ordered: false,
      updates: [statement, idle, statement, { ...statement, q: { _id: newId('req') } }],
    });

    expect({ n, nModified }).to.deep.equal({ n: 3, nModified: 2 });
    expect(await things.findOne({ _id })).to.deep.equal({ _id, n: 2 });
  });
});
