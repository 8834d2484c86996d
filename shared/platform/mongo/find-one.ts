import type { Collection, Db, Document, Filter } from 'mongodb';

/** `findNow` or `findCommitted`: only the caller knows how much depends on the answer. */
export type FindOne = <T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  projection?: Document,
) => Promise<T | null>;

/** As the server shows it. A primary replaced up to 10 s ago may lack changes, and show what is rolled back. */
export const findNow: FindOne = async <T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  projection: Document = {},
) => (await collection.findOne(filter, { projection })) as T | null; // `WithId<T>` is `T` for the documents of the product

/** Half of a process's connections, so that its leases are renewed meanwhile. */
const AT_ONCE = 10;

/** In the order of the filters, `AT_ONCE` at a time. For a lost answer, or a read that showed too little. */
export async function findEachCommitted<T extends Document>(
  collection: Collection<T>,
  filters: readonly Filter<T>[],
): Promise<T[]> {
  const found: T[] = [];
  for (let first = 0; first < filters.length; first += AT_ONCE) {
    const some = filters.slice(first, first + AT_ONCE).map((filter) => findCommitted(collection, filter));
    for (const one of await Promise.all(some)) if (one !== null) found.push(one);
  }
  return found;
}

/** No document has a field of this name. */
const NOTHING = { $unset: { nothing: '' } } as object;

/**
 * The document as a majority of the servers has it, or null when a majority has none: for decisions that must not be
 * undone. It is a write that changes nothing: with `w: 'majority'` it is answered only when everything that its server
 * had done before is on a majority (mongodb/mongo, src/mongo/db/ops/write_ops_exec.cpp, LastOpFixer), and never by a
 * replaced primary. One round trip. It looks at one document, so a sharded cluster answers it like a single server.
 * Rejects like every write; may be repeated.
 */
export const findCommitted: FindOne = async <T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  projection: Document = {},
) => (await collection.findOneAndUpdate(filter, NOTHING, { projection })) as T | null; // as above

/**
 * All documents that match, by a filter without `_id`: none is missing that a majority has. The write that changes
 * nothing goes to all servers that may have some, and counts them; a replaced primary may still answer the read, which
 * is then repeated. For few documents that seldom change.
 */
export async function findAllCommitted<T extends Document>(collection: Collection<T>, filter: Filter<T>): Promise<T[]> {
  for (;;) {
    const { matchedCount } = await collection.updateMany(filter, NOTHING);
    const found = await collection.find(filter).toArray();
    if (found.length >= matchedCount) return found as T[]; // as above
  }
}

interface Wanted<T> {
  readonly filter: Filter<T>;
  readonly projection?: Readonly<Record<string, 1>> | undefined;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  readonly limit: number;
}

/** A bare command does not inherit the client's read concern, but has the cluster's default. */
const LOCAL = { level: 'local' } as const;

/**
 * At most `limit` documents, in one answer, for small reads that are repeated often (the server returns no more than
 * fits in 16 MB). Like `find().toArray()` without its cursor, at 60 % of its CPU in the client. It has no retry, so the
 * caller must be one that comes again anyway. Throws the driver's error.
 */
export async function findAtOnce<T extends Document>(db: Db, collection: string, wanted: Wanted<T>): Promise<T[]> {
  const { filter, projection, sort, limit } = wanted;
  const { cursor } = await db.command(
    { find: collection, filter, projection, sort, limit, batchSize: limit, singleBatch: true, readConcern: LOCAL },
    { ignoreUndefined: true },
  );
  return cursor.firstBatch; // as `find` gives them
}
