import { isDeepStrictEqual } from 'node:util';
import { type Db, type Document, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { StartError } from '../runtime/lifecycle.ts';
import { isDuplicateKey, isStoreTrouble } from './errors.ts';
import { msAfter, NOW_MS } from './store-time.ts';

interface ProbeDocument {
  readonly _id: string;
  readonly at: Date;
}

/** All processes use the same document. It is never removed. */
const ID = 'probe';
const EPOCH = new Date(0);
/** Processes that start together insert it at the same moment. */
const TRIES = 20;

/** What every debit and every lease needs of an update: MongoDB's manual, "Updates with Aggregation Pipeline". */
const PIPELINE: Document[] = [
  {
    $set: {
      at: '$$NOW',
      parts: { first: { $literal: 1 } },
      sum: { $mergeObjects: ['$missing', { of: { $add: [1, 1] } }] },
    },
  },
  { $set: { 'parts.second': 2, none: { $cond: [{ $gte: [msAfter('$$NOW', 0), EPOCH] }, '$$REMOVE', 1] } } },
  { $unset: ['parts.third'] },
];
const MADE = { _id: ID, parts: { first: 1, second: 2 }, sum: { of: 2 } };

/**
 * Asks the server for the updates that money and leases rest on, on a document of its own, with the write concern of all writes.
 * Returns the store's time. Two commands. Throws `StartError` with one sentence when the server does not know them or does
 * something else: AWS DocumentDB and Azure Cosmos DB call themselves MongoDB too.
 */
export async function probeFeatures(db: Db): Promise<Date> {
  const probes = db.collection<ProbeDocument>('start_checks');
  try {
    const { at, ...made } = await upsert(db);
    if (!(at instanceof Date) || !isDeepStrictEqual(made, MADE))
      throw lacks('an update by a pipeline gives another result');
    // In a command of its own, because MongoDB refuses `$expr` in an upsert. A server that ignores `$expr` would let
    // accounts pay after the time to pay is over.
    const { matchedCount } = await probes.updateOne({ _id: ID, $expr: { $lt: [NOW_MS, 0] } }, { $set: { at: EPOCH } });
    if (matchedCount !== 0) throw lacks('it ignores `$expr`');
    return at;
  } catch (error) {
    throw explained(error, db.databaseName);
  }
}

async function upsert(db: Db): Promise<Document> {
  for (let tries = 1; ; tries++) {
    try {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const made = await db.collection<ProbeDocument>('start_checks').findOneAndUpdate({ _id: ID }, PIPELINE, options);
      // When two processes insert it at the same moment, some servers answer one of them with null.
      if (made !== null || tries === TRIES) return made ?? {};
    } catch (error) {
      if (!isDuplicateKey(error) || tries === TRIES) throw error;
    }
  }
}

/** UnknownReplWriteConcern, UnsatisfiableWriteConcern: no failover cures them. */
const CONCERN_CODES = new Set<unknown>([79, 100]);

function explained(error: unknown, database: string): unknown {
  if (error instanceof MongoWriteConcernError && CONCERN_CODES.has(error.code)) {
    return new StartError(
      `The deployment behind MONGODB_URI cannot acknowledge a write by a majority (${error.message}): a majority of the voting members must have data.`,
      { cause: error },
    );
  }
  if (!(error instanceof MongoServerError) || isStoreTrouble(error)) return error;
  if (error.code === 13) {
    const why = `The user of MONGODB_URI may not write to the database \`${database}\`: give it the role readWrite on it.`;
    return new StartError(why, { cause: error });
  }
  return lacks(error.message, error);
}

function lacks(what: string, cause?: unknown): StartError {
  return new StartError(
    `The server behind MONGODB_URI lacks what Harkara needs (${what}). AWS DocumentDB and Azure Cosmos DB are not enough: run MongoDB 6.0 or newer.`,
    { cause },
  );
}
