import type { Db, Document } from 'mongodb';
import type { SecantusOptions } from './secantus.ts';

/** What MongoDB's manual says, and a server does otherwise. */
export interface Difference {
  readonly title: string;
  readonly servers: readonly SecantusOptions['server'][];
  /** Page below mongodb.com/docs/manual/. */
  readonly manual: string;
  /** The least that shows it, on an empty database. */
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
];

/**
 * Met, but not to be caused at will: of upserts of one new document by `findAndModify` with `new: true` that come together, some answer
 * null although they are done. Both servers; manual: reference/command/findAndModify/. The product bears it (decision 0082).
 */
export const LOST_UPSERT = 'upserts that come together answer with their document';
