import type { Db, Document } from 'mongodb';
import type { SecantusOptions } from './secantus.ts';

/** Something that MongoDB's manual says and a server does differently. */
export interface Difference {
  readonly title: string;
  readonly servers: readonly SecantusOptions['server'][];
  /** Page below mongodb.com/docs/manual/. */
  readonly manual: string;
  /** The smallest example that shows it, on an empty database. */
  ask(db: Db): Promise<unknown>;
  /** The answer by the manual. */
  readonly right: unknown;
}

const AT = new Date('2026-11-23T00:00:00Z');

/** The field `is` of `{ at: AT, in: { a: 1 } }` after an update by pipeline. */
async function afterwards(db: Db, set: Document): Promise<unknown> {
  const things = db.collection<Document & { readonly _id: number }>('things');
  await things.insertOne({ _id: 1, at: AT, in: { a: 1 } });
  const after = await things.findOneAndUpdate({ _id: 1 }, [{ $set: set }], { returnDocument: 'after' });
  return after?.is ?? after?.in;
}

/** About one round in three shows the difference. */
const ROUNDS = 200;
const TOGETHER = 16;
const upsertOf = (_id: number): Document => ({
  findAndModify: 'things',
  query: { _id },
  update: [{ $set: { n: 1 } }],
  upsert: true,
  new: true,
});

const failure = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : error);

export const DIFFERENCES: readonly Difference[] = [
  {
    title: 'a date plus a number of milliseconds is a date',
    servers: ['rust'],
    manual: 'reference/operator/aggregation/add/',
    ask: (db) => afterwards(db, { is: { $add: ['$at', 1_000] } }).catch(failure),
    right: new Date(AT.getTime() + 1_000),
  },
  {
    title: 'a date minus a date is a number of milliseconds',
    servers: ['rust'],
    manual: 'reference/operator/aggregation/subtract/',
    ask: (db) => afterwards(db, { is: { $subtract: ['$at', new Date(0)] } }).then(Number, failure),
    right: AT.getTime(),
  },
  {
    title: '$$NOW compares with dates',
    servers: ['python'],
    manual: 'reference/aggregation-variables/',
    ask: (db) => afterwards(db, { is: { $lt: [new Date(0), '$$NOW'] } }),
    right: true,
  },
  {
    title: 'an object literal is set into the embedded document, beside what is there',
    servers: ['python', 'rust'],
    manual: 'reference/operator/aggregation/addFields/',
    ask: (db) => afterwards(db, { in: { b: 2 } }),
    right: { a: 1, b: 2 },
  },
  {
    title: 'an _id is no array',
    servers: ['python', 'rust'],
    manual: 'core/document/',
    ask: async (db) => {
      const { n } = await db.command({ insert: 'things', documents: [{ _id: [1] }] });
      return n;
    },
    right: 0,
  },
  {
    title: 'a sort holds, whatever index a hint names',
    servers: ['rust'],
    manual: 'reference/method/cursor.hint/',
    ask: async (db) => {
      await db.collection<{ _id: number }>('things').insertMany([{ _id: 2 }, { _id: 1 }]);
      const found = db.collection('things').find({}, { hint: { _id: 1 } });
      return (await found.sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
    },
    right: [1, 2],
  },
  {
    title: 'a document that leaves a partial unique index makes room in it',
    servers: ['rust'],
    manual: 'core/index-partial/',
    ask: async (db) => {
      const things = db.collection<{ _id: number; place?: number }>('things');
      await things.createIndex({ place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } });
      await things.insertOne({ _id: 1, place: 0 });
      await things.updateOne({ _id: 1 }, { $unset: { place: '' } });
      return things.insertOne({ _id: 2, place: 0 }).then(({ insertedId }) => insertedId, failure);
    },
    right: 2,
  },
  {
    title: 'a sort and a limit read no more of a partial index than they show',
    servers: ['rust'],
    manual: 'tutorial/sort-results-with-indexes/',
    ask: async (db) => {
      const things = db.collection<{ _id: number; state: string; at: number }>('things');
      await things.createIndex({ at: 1, _id: 1 }, { partialFilterExpression: { state: 'waits' } });
      await things.insertMany(Array.from({ length: 50 }, (_, _id) => ({ _id, state: 'waits', at: 50 - _id })));
      const page = things.find({ state: 'waits', at: { $gte: 0 } }).sort({ at: 1, _id: 1 });
      return (await page.limit(2).explain('executionStats')).executionStats.totalDocsExamined;
    },
    right: 2,
  },
  {
    title: 'upserts that come together answer with their document',
    servers: ['python', 'rust'],
    manual: 'reference/command/findAndModify/',
    ask: async (db) => {
      let none = 0;
      for (let _id = 0; _id < ROUNDS && none === 0; _id += 1) {
        const asked = Array.from({ length: TOGETHER }, () => db.command(upsertOf(_id)));
        none = (await Promise.all(asked)).filter(({ value }) => value === null).length;
      }
      return none;
    },
    right: 0,
  },
];
