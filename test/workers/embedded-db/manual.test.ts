import { Binary, type Document, Long } from 'mongodb';
import { use } from '../../support/use.ts';
import { answerTo, EMBEDDED, storeUnderTest } from './store-under-test.ts';

/**
 * A sentence of MongoDB's manual that this store once silently got wrong. `page`: under mongodb.com/docs/manual/.
 * `other`: what SecantusDB 0.6.0b17 and 0.7.0b3 do instead.
 */
interface Sentence {
  readonly page: string;
  readonly says: string;
  readonly other?: string;
  readonly docs: readonly Document[];
  readonly find?: readonly (readonly [filter: Document, ids: readonly unknown[]])[];
  /** The first document after an update, without its `_id`, as text: the order of fields counts. */
  readonly update?: readonly (readonly [update: Document | Document[], after: Document])[];
}

const not = (value: unknown): Document => ({ $expr: { $not: [{ $literal: value }] } });

const SENTENCES: readonly Sentence[] = [
  {
    page: 'reference/operator/aggregation/not',
    says: 'zero of any type is false, NaN is true',
    docs: [{ _id: 1 }],
    find: [
      [not(0), [1]],
      [not(Long.fromNumber(0)), [1]],
      [not(0.1), []],
      [not(Number.NaN), []],
    ],
  },
  {
    page: 'tutorial/query-arrays',
    says: 'an index position names the element itself',
    docs: [
      { _id: 1, a: [1] },
      { _id: 2, a: [[1, 2]] },
      { _id: 3, a: [[[1]]] },
    ],
    find: [
      [{ 'a.0': 1 }, [1]],
      [{ 'a.0': { $gt: 0 } }, [1]],
      [{ 'a.0': [1, 2] }, [2]],
      [{ 'a.0.0': 1 }, [2]],
      [{ 'a.0': [1] }, []],
    ],
  },
  {
    page: 'reference/bson-type-comparison-order',
    says: 'binary data by length, subtype, bytes; documents by type, name, value of each field',
    other: 'binary data by bytes alone, documents by name before type',
    docs: [
      { _id: 1, a: new Binary(Buffer.from([0, 0])) },
      { _id: 2, a: new Binary(Buffer.from([1])) },
      { _id: 3, a: { b: null } },
      { _id: 4, a: { a: 1 } },
    ],
    find: [
      [{ a: { $gt: new Binary(Buffer.from([1])) } }, [1]],
      [{ a: { $lt: { a: 1 } } }, [3]],
    ],
  },
  {
    page: 'reference/operator/aggregation/set',
    says: 'a stage adds fields as it names them, and makes documents of what is in the way of a path',
    other: 'leaves a scalar in the way as it is',
    docs: [{ _id: 1, n: 5 }],
    update: [
      [[{ $set: { z: 1, 'y.b': 2, 'y.a': 3 } }], { n: 5, z: 1, y: { b: 2, a: 3 } }],
      [[{ $set: { 'n.m': 1 } }], { n: { m: 1 } }],
    ],
  },
  {
    page: 'reference/aggregation-variables (REMOVE)',
    says: 'a field that evaluates to $$REMOVE is left out; the document around it is there',
    other: 'does not make the document around it',
    docs: [{ _id: 1 }],
    update: [[[{ $set: { 'a.b': '$$REMOVE' } }], { a: {} }]],
  },
];

function index(collection: string, spec: Document): Document {
  return { createIndexes: collection, indexes: [{ key: { a: 1 }, name: 'x', ...spec }] };
}

describe('embedded-db and the manual', () => {
  const store = use(storeUnderTest);
  let secantus: boolean;
  before(async () => {
    secantus = 'secantusVersion' in (await store.db.command({ buildInfo: 1 }));
  });

  for (const { page, says, other, docs, find, update } of SENTENCES) {
    it(`${page}: ${says}`, async function () {
      if (other !== undefined && secantus) this.skip(); // see `other`
      const all = store.collection();
      await all.insertMany(docs.map((doc) => ({ ...doc })));
      for (const [filter, ids] of find ?? []) {
        const found = await all.find(filter).sort({ _id: 1 }).toArray();
        expect(
          found.map((doc) => doc._id),
          JSON.stringify(filter),
        ).to.deep.equal([...ids]);
      }
      for (const [change, after] of update ?? []) {
        const one = store.collection();
        await one.insertMany(docs.map((doc) => ({ ...doc })));
        await store.db.command({ update: one.collectionName, updates: [{ q: {}, u: change }] });
        expect(JSON.stringify(await one.findOne({}, { projection: { _id: 0 } }))).to.equal(JSON.stringify(after));
      }
    });
  }

  it('reference/operator/aggregation/sum: types are the widest', async function () {
    if (secantus) this.skip(); // It ends with an error when an int64 overflows.
    const all = store.collection();
    await all.insertMany(Array.from({ length: 10 }, () => ({ f: 0.5, i: 2147483647, l: Long.MAX_VALUE, x: 'text' })));
    const sums = { f: { $sum: '$f' }, i: { $sum: '$i' }, l: { $sum: '$l' }, x: { $sum: '$x' } };

    const [group] = await all
      .aggregate([{ $group: { _id: null, ...sums } }], { promoteValues: false, promoteLongs: false })
      .toArray();

    expect(String(group?.f)).to.equal('5');
    expect(group?.i).to.deep.equal(Long.fromNumber(21474836470));
    expect(Number(group?.l)).to.equal(Number(Long.MAX_VALUE.toString()) * 10);
    expect(Number(group?.x)).to.equal(0);
  });

  if (EMBEDDED) {
    describe('refuses what it would do otherwise:', () => {
      const CASES: readonly (readonly [what: string, command: (name: string) => Document, code: number])[] = [
        ['$pull with a regular expression', (c) => update(c, { $pull: { a: /x/ } }), 238],
        ['$pull with a condition', (c) => update(c, { $pull: { a: { $all: [1] } } }), 238],
        ['a hint to a sparse index that lacks documents', (c) => ({ find: c, hint: 'sparse' }), 238],
        ['a hint to a partial index that lacks documents', (c) => ({ find: c, filter: { a: 1 }, hint: 'part' }), 238],
        ['a TTL that is no number', (c) => index(c, { expireAfterSeconds: Number.NaN }), 67],
        ['collMod', (c) => ({ collMod: c, index: { name: 'sparse', expireAfterSeconds: 5 } }), 59],
        ['distinct', (c) => ({ distinct: c, key: 'a' }), 59],
        ['a read concern of replica sets', (c) => ({ find: c, readConcern: { level: 'linearizable' } }), 238],
        ['a snapshot', (c) => ({ find: c, readConcern: { level: 'snapshot' } }), 238],
        ['a read concern that is none', (c) => ({ find: c, readConcern: { level: 'best' } }), 238],
        ['a read concern of a write', (c) => ({ ...insert(c, {}), readConcern: { level: 'majority' } }), 238],
        ['two acknowledgements', (c) => ({ ...insert(c, {}), writeConcern: { w: 2 } }), 238],
        ['a tag', (c) => ({ ...insert(c, {}), writeConcern: { w: 'east' } }), 238],
        ['the strict API', (c) => ({ ...insert(c, {}), apiVersion: '1', apiStrict: true }), 238],
        ['another version of the API', (c) => ({ ...insert(c, {}), apiVersion: '2' }), 238],
        ['a commit quorum', (c) => ({ ...index(c, {}), commitQuorum: 'majority' }), 238],
      ];
      const insert = (c: string, doc: Document): Document => ({ insert: c, documents: [doc] });
      const update = (c: string, u: Document): Document => ({ update: c, updates: [{ q: {}, u }] });

      for (const [what, command, code] of CASES) {
        it(what, async () => {
          const all = store.collection();
          await all.createIndexes([
            { key: { s: 1 }, name: 'sparse', sparse: true },
            { key: { a: 1 }, name: 'part', partialFilterExpression: { a: { $gt: 5 } } },
          ]);
          await all.insertOne({ _id: 1, a: [1] });

          const answer = await answerTo(store.db, command(all.collectionName));

          expect(answer.code, answer.errmsg).to.equal(code);
          expect(await all.find().toArray()).to.deep.equal([{ _id: 1, a: [1] }]);
        });
      }

      it('but follows a hint to one that holds them all', async () => {
        const all = store.collection();
        await all.createIndexes([
          { key: { s: 1 }, name: 'sparse', sparse: true },
          { key: { a: 1 }, name: 'part', partialFilterExpression: { a: { $gt: 5 } } },
        ]);
        await all.insertMany([{ _id: 1, a: 9 }, { _id: 2, s: 1 }, { _id: 3 }]);

        expect(
          await all
            .find({ a: { $gt: 6 } })
            .hint('part')
            .toArray(),
        ).to.deep.equal([{ _id: 1, a: 9 }]);
        expect(
          await all
            .find({ s: { $exists: true } })
            .hint('sparse')
            .toArray(),
        ).to.deep.equal([{ _id: 2, s: 1 }]);
      });
    });
  }
});
