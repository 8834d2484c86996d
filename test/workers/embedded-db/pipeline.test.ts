import { Binary, type Document, Double, Int32, Long } from 'mongodb';
import { msAfter } from '../../../shared/platform/mongo/store-time.ts';
import { use } from '../../support/use.ts';
import { EMBEDDED, errorOf, expectRefused, storeUnderTest } from './store-under-test.ts';

/** A document and, per expression, the result of `$set: { out: expression }`. */
const DOC = {
  i: new Int32(7),
  l: Long.fromNumber(7),
  d: new Double(7.5),
  s: 'text',
  nil: null,
  o: { x: 1, y: { z: 2 } },
  a: [{ v: 1 }, { v: 2 }, 3],
  when: new Date(1000),
  yes: true,
  zero: 0,
};

const EXPRESSIONS: readonly (readonly [expression: unknown, result: unknown])[] = [
  ['$i', new Int32(7)],
  ['$o.y.z', new Int32(2)],
  ['$nothing', undefined],
  [{ $literal: '$i' }, '$i'],
  [{ $add: ['$i', 1] }, new Int32(8)],
  [{ $add: ['$i', '$l'] }, Long.fromNumber(14)],
  [{ $add: ['$i', '$d'] }, new Double(14.5)],
  [{ $add: [2147483647, 1] }, Long.fromNumber(2147483648)],
  [{ $add: ['$i', '$nil'] }, null],
  [{ $subtract: ['$i', 10] }, new Int32(-3)],
  [{ $cond: [{ $gte: ['$i', 5] }, 'more', 'less'] }, 'more'],
  [{ $toLong: '$when' }, Long.fromNumber(1000)],
  [{ $toLong: '$i' }, Long.fromNumber(7)],
  [{ $toLong: '$nothing' }, null],
  [{ $toDate: { $add: [{ $toLong: '$when' }, 500] } }, new Date(1500)],
  [{ $toDate: '$when' }, new Date(1000)],
  [{ $toDate: new Double(1500) }, new Date(1500)],
  [{ $toDate: '$nil' }, null],
  [{ $lt: [{ $toLong: '$when' }, { $toLong: '$$NOW' }] }, true],
  [{ $ifNull: ['$nothing', '$nil', '$s'] }, 'text'],
  [{ $eq: ['$i', '$l'] }, true],
  [{ $eq: ['$nothing', null] }, false],
  [{ $lt: ['$nothing', null] }, true],
  [{ $lt: [null, 1] }, true],
  [{ $lt: ['$nothing', '$$NOW'] }, true],
  [{ $gte: ['$s', 5] }, true],
  [{ $lte: ['$i', 7] }, true],
  [{ $gte: ['$d', 8] }, false],
  [{ $and: ['$i', '$s', { $lt: [1, 2] }] }, true],
  [{ $and: ['$i', '$zero'] }, false],
  [{ $or: ['$zero', '$nil', '$nothing'] }, false],
  [{ $not: ['$nothing'] }, true],
  [{ $max: ['$i', '$d', '$nil'] }, new Double(7.5)],
  [{ $mergeObjects: ['$o', { x: 9, w: '$i' }, '$nil'] }, { x: new Int32(9), y: { z: new Int32(2) }, w: new Int32(7) }],
  [
    ['$i', '$nothing', { $add: [1, 1] }],
    [new Int32(7), null, new Int32(2)],
  ],
];

const MALFORMED: readonly unknown[] = [
  { $add: ['$s', 1] },
  { $subtract: ['$s', 1] },
  { $cond: [1, 2] },
  { $eq: [1] },
  { $toLong: [1, 2] },
  { $toDate: new Int32(1) },
  '$$nope',
  { $add: [1], $subtract: [1] },
];

/** What MongoDB has, but nobody sends. */
const UNSENT: readonly unknown[] = [
  '$a.v',
  { $add: ['$when', 500] },
  { $subtract: ['$when', new Date(400)] },
  { $min: '$a' },
];

describe('embedded-db update pipelines', () => {
  const store = use(storeUnderTest);

  for (const [expression, result] of EXPRESSIONS) {
    it(`evaluates ${JSON.stringify(expression)}`, async () => {
      const all = store.collection();
      await all.insertOne({ _id: 1, ...DOC });

      await all.updateOne({ _id: 1 }, [{ $set: { out: expression } }]);

      const doc = await all.findOne({}, { promoteValues: false });
      expect(doc?.out).to.deep.equal(result);
    });
  }

  it('refuses what cannot be evaluated', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1, ...DOC });
    const errorFor = (out: unknown) => errorOf(all.updateOne({ _id: 1 }, [{ $set: { out } }]));

    for (const expression of MALFORMED) expectRefused(await errorFor(expression), JSON.stringify(expression));
    if (!EMBEDDED) return;
    for (const expression of UNSENT) {
      expect(await errorFor(expression), JSON.stringify(expression)).to.include({ code: 238 });
    }
  });

  it('sees one time in a whole command, the time of the store', async () => {
    const all = store.collection();
    await all.insertMany([{ _id: 1 }, { _id: 2 }]);

    await all.updateMany({}, [{ $set: { at: '$$NOW' } }]);

    const [first, second] = await all.find().toArray();
    expect(first?.at).to.deep.equal(second?.at);
    expect(Math.abs(Date.now() - first?.at.getTime())).to.be.lessThan(60_000);
  });

  it('gives each stage what the one before made, and all fields of a stage the same document', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1, a: 1, b: 2 });

    await all.updateOne({ _id: 1 }, [
      { $set: { a: '$b', b: '$a' } },
      { $set: { c: { $add: ['$a', '$b'] } } },
      { $unset: 'b' },
    ]);

    expect(await all.findOne()).to.deep.equal({ _id: 1, a: 2, c: 3 });
  });

  it('sets inside objects, keeps what else they have, and makes objects of scalars', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1, o: { x: 1 }, s: 5 });

    await all.updateOne({ _id: 1 }, [{ $set: { 'o.y': 2, 's.t': 3, p: { q: { r: '$s' } } } }]);

    expect(await all.findOne()).to.deep.equal({
      _id: 1,
      o: { x: 1, y: 2 },
      s: { t: 3 },
      p: { q: { r: 5 } },
    });
  });

  it('removes with $$REMOVE and with $unset', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1, a: 1, b: { c: 1, d: 2 }, e: 5 });

    await all.updateOne({ _id: 1 }, [
      { $set: { a: { $cond: [true, '$$REMOVE', 1] } } },
      { $unset: ['b.c', 'nothing'] },
    ]);

    expect(await all.findOne()).to.deep.equal({ _id: 1, b: { d: 2 }, e: 5 });
  });

  it('refuses to change _id', async () => {
    const all = store.collection();
    await all.insertOne({ _id: 1, a: 1 });

    expectRefused(await errorOf(all.updateOne({ _id: 1 }, [{ $set: { _id: 2 } }])));
  });

  it('takes and keeps a lease by the time of the store', async () => {
    const leases = store.collection();
    const take = (owner: string): Promise<Document | null> => {
      const free = { $lt: ['$until', '$$NOW'] };
      const mine = { $eq: ['$owner', owner] };
      return leases.findOneAndUpdate(
        { _id: 'carrier' },
        [
          {
            $set: {
              taken: { $or: [free, mine] },
              epoch: { $add: [{ $ifNull: ['$epoch', 0] }, { $cond: [free, 1, 0] }] },
            },
          },
          {
            $set: {
              owner: { $cond: ['$taken', owner, '$owner'] },
              until: { $cond: ['$taken', msAfter('$$NOW', 60_000), '$until'] },
            },
          },
        ],
        { upsert: true, returnDocument: 'after' },
      );
    };

    expect(await take('a')).to.include({ owner: 'a', epoch: 1 });
    expect(await take('b')).to.include({ owner: 'a', taken: false });
    expect(await take('a')).to.include({ owner: 'a', epoch: 1 });
    await leases.updateOne({ _id: 'carrier' }, { $set: { until: new Date(0) } });
    expect(await take('b')).to.include({ owner: 'b', epoch: 2 });
  });

  it('debits an account: balance, sequence, intent with a large binary, and the last intent cleared, at once', async () => {
    const accounts = store.collection();
    const body = new Binary(Buffer.alloc(30_000, 1));
    await accounts.insertOne({
      _id: 'acc',
      status: 'active',
      balance: Long.fromNumber(250),
      seq: 0,
      expiryDate: '2027-01-01',
    });
    const debit = (group: string, before: string): Promise<Document | null> => {
      const balance = { $subtract: ['$balance', 100] };
      const seq = { $add: ['$seq', 1] };
      return accounts.findOneAndUpdate(
        { _id: 'acc', status: 'active', balance: { $gte: 100 }, expiryDate: { $gte: '2026-11-21' } },
        [
          { $set: { balance, seq, [`pending.${group}`]: { amount: 100, seq, balance, body } } },
          { $unset: [`pending.${before}`] },
        ],
        { projection: { balance: 1, seq: 1 }, returnDocument: 'after' },
      );
    };

    expect(await debit('g_1', 'g_0')).to.deep.equal({ _id: 'acc', balance: 150, seq: 1 });
    expect(await debit('g_2', 'g_1')).to.deep.equal({ _id: 'acc', balance: 50, seq: 2 });
    expect(await debit('g_3', 'g_2')).to.equal(null);

    const stored = await accounts.findOne({}, { promoteLongs: false });
    expect(stored?.pending).to.deep.equal({ g_2: { amount: 100, seq: 2, balance: Long.fromNumber(50), body } });
  });
});
