import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Collection, type Db, type Document, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { NOT_ALLOWED, type Store } from './connect.ts';
import { DUPLICATE_KEY, isDuplicateKey, isStoreTrouble } from './errors.ts';
import { msAfter, NOW_MS } from './store-time.ts';
import { updateEach } from './update-each.ts';

interface ProbeDocument {
  readonly _id: string;
  readonly at?: Date;
  readonly place?: number;
  readonly held?: true;
}

/** All processes use the same documents, which are never removed. */
const ID = 'probe';
/** The first two would have the same place; the third has one too, but does not hold it. */
const PLACES: readonly ProbeDocument[] = [
  { _id: 'place:1', place: 1, held: true },
  { _id: 'place:2', place: 1, held: true },
  { _id: 'place:3', place: 1 },
];
const SECOND = 1;
const EPOCH = new Date(0);
/** Processes that start together insert it at the same moment. */
const TRIES = 20;
/** How long a failing check is repeated, unless the server says that it is wrong. */
const TROUBLE_MS = 10_000;
const PAUSE_MS = 250;
const RIVALS = 3;
const CURSOR_NOT_FOUND = 43;

/** Updates by a pipeline (MongoDB's manual, "Updates with Aggregation Pipeline"), one stage for each. */
interface Part {
  readonly what: string;
  readonly stage: Document;
  /** The document afterwards; `at` is the store's time. */
  expected(at: Date): Document;
}

const IS_NOW = { $and: [{ $gte: [NOW_MS, 0] }, { $not: ['$gone'] }, { $or: ['$gone', { $lt: [0, NOW_MS] }] }] };

const PARTS: readonly Part[] = [
  { what: '`$$NOW`', stage: { $set: { at: '$$NOW' } }, expected: (at) => ({ at }) },
  {
    what: '`$$NOW` inside `$mergeObjects`',
    stage: { $set: { merged: { $mergeObjects: ['$gone', { at: '$$NOW' }, { of: { $literal: '$at' } }] } } },
    expected: (at) => ({ merged: { at, of: '$at' } }),
  },
  {
    what: '`$toLong` and `$toDate` of `$$NOW`',
    stage: { $set: { later: msAfter('$$NOW', 1_000) } },
    expected: (at) => ({ later: new Date(at.getTime() + 1_000) }),
  },
  {
    what: '`$$REMOVE`, and conditions on the time',
    stage: { $set: { due: { $cond: [IS_NOW, 1, '$$REMOVE'] }, none: { $cond: [IS_NOW, '$$REMOVE', 1] } } },
    expected: () => ({ due: 1, none: undefined }),
  },
  {
    what: '`$ifNull`, `$add`, `$subtract`, `$min` and `$max`',
    stage: {
      $set: { sum: { $subtract: [{ $add: [{ $ifNull: ['$gone', 2] }, 3] }, { $max: [1, { $min: [4, 9] }] }] } },
    },
    expected: () => ({ sum: 1 }),
  },
  {
    what: 'fields in fields',
    stage: { $set: { 'parts.first': 1, 'parts.second.of': '$sum' } },
    expected: () => ({ parts: { first: 1, second: { of: 1 } } }),
  },
];

/** Forms of indexes that the product has. In an empty collection they are built at once. */
const INDEXES = [
  { name: 'present', key: { due: 1 }, partialFilterExpression: { due: { $exists: true } } },
  { name: 'place', key: { place: 1 }, unique: true, partialFilterExpression: { held: true } },
  { name: 'range', key: { word: 1 }, partialFilterExpression: { word: { $gte: 'expired', $lte: 'failed' } } },
  { name: 'list', key: { 'list.at': -1 }, partialFilterExpression: { 'list.0': { $exists: true } } },
  { name: 'sparse', key: { 'keys.key': 1 }, sparse: true },
  { name: 'expiry', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
] as const;

/**
 * Tries on a server what money, leases and the order of work rest on, with its own documents and the write concern of
 * all writes: AWS DocumentDB and Azure Cosmos DB call themselves MongoDB too. Some ten short commands. Returns the
 * store's time. Throws `StartError` with one sentence that names what is missing.
 */
export async function probeFeatures(db: Db, troubleMs = TROUBLE_MS): Promise<Date> {
  const probes = db.collection<ProbeDocument>('start_checks');
  const check = <T>(what: string, work: () => Promise<T>): Promise<T> => checked(db, what, work, troubleMs);

  await check('partial and unique indexes', () => probes.createIndexes(INDEXES.map((index) => ({ ...index }))));
  const at = await check('updates by a pipeline', () => tryPipeline(probes));
  await check('unique indexes of some documents only', () => tryPlaces(db, probes.collectionName));
  const open = await check('cursors', () => openCursor(probes));
  try {
    await check('`$expr` in filters', () => tryTime(db, probes.collectionName));
    await check('upserts of one `_id` at the same moment', () => tryRivals(probes));
    // By now it has been left alone for a while.
    await check('cursors that are read in several pieces', open.readOn);
  } finally {
    await open.close();
  }
  return at;
}

async function tryPipeline(probes: Collection<ProbeDocument>): Promise<Date> {
  const made = await upsert(
    probes,
    PARTS.map(({ stage }) => stage),
  ).catch(async (error: unknown) => {
    if (!(error instanceof MongoServerError)) throw error;
    // Find out which of them the server does not know.
    for (const { what, stage } of PARTS) await upsert(probes, [stage]).catch((own) => lacking(what, own));
    throw error;
  });
  const { at } = made;
  if (!(at instanceof Date)) throw new Lacking('`$$NOW`', 'updates by a pipeline');
  for (const { what, expected } of PARTS) {
    for (const [field, value] of Object.entries(expected(at))) {
      if (!isDeepStrictEqual(made[field], value)) throw new Lacking('it gives another result', what);
    }
  }
  return at;
}

async function upsert(probes: Collection<ProbeDocument>, pipeline: Document[]): Promise<Document> {
  for (let tries = 1; ; tries++) {
    try {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const made = await probes.findOneAndUpdate({ _id: ID }, pipeline, options);
      // When two processes insert it at the same moment, some servers answer one of them with null.
      if (made !== null || tries === TRIES) return made ?? {};
    } catch (error) {
      if (!isDuplicateKey(error) || tries === TRIES) throw error;
    }
  }
}

async function tryPlaces(db: Db, name: string): Promise<void> {
  const { writeErrors = [] } = await db.command({
    insert: name,
    ordered: false,
    documents: PLACES,
    writeConcern: { w: 'majority', j: true },
  });
  const other = writeErrors.find(({ code }: Document) => code !== DUPLICATE_KEY);
  if (other !== undefined) throw new MongoServerError(other);
  if (!writeErrors.some(({ index }: Document) => index === SECOND)) throw new Lacking('it stores one twice');
}

/** In pieces of one document, so that the server keeps the rest. */
async function openCursor(probes: Collection<ProbeDocument>) {
  const ids = [ID, ...PLACES.map(({ _id }) => _id)];
  const open = () => probes.find({ _id: { $in: ids } }, { batchSize: 1 });
  let cursor = open();
  const found = new Set([(await cursor.next())?._id]);
  return {
    readOn: async (): Promise<void> => {
      try {
        for await (const { _id } of cursor) found.add(_id);
      } catch (error) {
        await cursor.close();
        cursor = open();
        throw error instanceof MongoServerError && error.code === CURSOR_NOT_FOUND ? new Lacking(error.message) : error;
      }
      const missing = ids.filter((id, i) => i - 1 !== SECOND && !found.has(id));
      if (missing.length > 0) throw new Lacking(`it does not show ${missing.join(', ')}`);
    },
    close: () => cursor.close(),
  };
}

/** Without `$expr`, accounts could pay too late. Not in an upsert, where MongoDB refuses it. */
async function tryTime(db: Db, name: string): Promise<void> {
  const never = { filter: { _id: ID, $expr: { $lt: [NOW_MS, 0] } }, update: { $set: { at: EPOCH } } };
  const always = { filter: { _id: ID, $expr: { $gte: [NOW_MS, 0] } }, update: [{ $set: { seen: '$$NOW' } }] };
  if ((await updateEach(db, name, [never, always])) !== 1) throw new Lacking('it ignores `$expr`');
}

/** The server may refuse simultaneous inserts by a duplicate key, or tell them nothing (decision 30). */
async function tryRivals(probes: Collection<ProbeDocument>): Promise<void> {
  const _id = `race:${randomUUID()}`;
  const one = async (): Promise<void> => {
    try {
      await probes.findOneAndUpdate({ _id }, [{ $set: { at: '$$NOW' } }], { upsert: true });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  };
  await Promise.all(Array.from({ length: RIVALS }, one));
  const { deletedCount } = await probes.deleteOne({ _id });
  if (deletedCount !== 1) throw new Lacking('none of them is stored');
}

/** The server differs from MongoDB. `what`: more than the name of the check says. */
class Lacking extends Error {
  readonly what: string | undefined;

  constructor(why: string, what?: string) {
    super(why);
    this.what = what;
  }
}

function lacking(what: string, error: unknown): never {
  if (!(error instanceof MongoServerError)) throw error;
  const own = new Lacking(error.message, what);
  own.cause = error;
  throw own;
}

/** Repeats a check while the store has trouble. An unknown answer may be trouble, or what is missing. */
async function checked<T>(db: Db, what: string, work: () => Promise<T>, troubleMs: number): Promise<T> {
  const deadline = systemClock.monotonicMs() + troubleMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const final = refusal(error, what, db.databaseName);
      if (final !== undefined) throw final;
      if (systemClock.monotonicMs() >= deadline) throw failing(error, what);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** UnknownReplWriteConcern, UnsatisfiableWriteConcern: no failover cures them. */
const CONCERN_CODES = new Set<unknown>([79, 100]);
const CURE = 'AWS DocumentDB and Azure Cosmos DB are not enough: run MongoDB 6.0 or newer.';

/** Undefined when another try may go well. */
function refusal(error: unknown, what: string, database: string): unknown {
  const said = error instanceof Lacking && error.cause !== undefined ? error.cause : error;
  if (said instanceof MongoWriteConcernError && CONCERN_CODES.has(said.code)) {
    return new StartError(
      `The deployment behind HARKARA_MONGODB_URI cannot acknowledge a write by a majority (${said.message}): a majority of the voting members must have data.`,
      { cause: said },
    );
  }
  if (said instanceof MongoServerError && NOT_ALLOWED.has(said.code)) {
    const why = `The user of HARKARA_MONGODB_URI may not write to the database \`${database}\`: give it the role readWrite on it.`;
    return new StartError(why, { cause: said });
  }
  if (isStoreTrouble(said)) return undefined;
  if (error instanceof Lacking) return lacks(error, error.what ?? what);
  return error instanceof MongoServerError ? lacks(error, what) : error;
}

function lacks(error: Error, what: string): StartError {
  const why = `The server behind HARKARA_MONGODB_URI lacks what Harkara needs: ${what} (${error.message}). ${CURE}`;
  return new StartError(why, { cause: error });
}

/** For an unknown reason: the server may be down, or not know how to say what it does not know. */
function failing(error: unknown, what: string): StartError {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const named = error instanceof Lacking ? (error.what ?? what) : what;
  const why = `The server behind HARKARA_MONGODB_URI fails at what Harkara needs: ${named} (${message}). If it is MongoDB, its log says why, and the start may be tried again; ${CURE}`;
  return new StartError(why, { cause: error });
}

/** A tenth of the time to pay of requests with an Idempotency-Key (gateway/http/idempotency). */
const CLOCK_MS = 1_500;

/**
 * Throws `StartError` with one sentence when the product cannot run on a deployment of MongoDB. Returns warnings for
 * its operators. For the start of a process. `troubleMs`: how long a failing check is tried again.
 */
export async function checkStore(
  { db, warnings }: Pick<Store, 'db' | 'warnings'>,
  clock: Clock,
  troubleMs?: number,
): Promise<readonly string[]> {
  const askedMs = clock.now().getTime();
  const storeMs = (await probeFeatures(db, troubleMs)).getTime();
  const answeredMs = clock.now().getTime();
  const difference = Math.max(askedMs - storeMs, storeMs - answeredMs);
  if (difference < CLOCK_MS) return warnings;
  const apart = `${(difference / 1_000).toFixed(1)} s ${storeMs < askedMs ? 'behind' : 'ahead of'}`;
  return [
    ...warnings,
    `The clock of the server behind HARKARA_MONGODB_URI is ${apart} that of this machine: set both by NTP. From 15 s on, requests with an Idempotency-Key are refused.`,
  ];
}
