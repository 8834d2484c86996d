import type { Collection, Db, Document, Filter } from 'mongodb';

/**
 * A way to read one document: `findNow` or `findCommitted`. Functions take it as an argument where only their caller knows how much
 * depends on the answer.
 */
export type FindOne = <T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  projection?: Document,
) => Promise<T | null>;

/**
 * The document as the server shows it now. It may come from a primary that was replaced and does not know it yet (for up to 10 s):
 * newer changes may be missing, and what it shows may be rolled back.
 */
export const findNow: FindOne = async <T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  projection: Document = {},
) => (await collection.findOne(filter, { projection })) as T | null; // `WithId<T>` is `T` for the documents of the product.

/** Half of a process's connections: its leases are renewed meanwhile. */
const AT_ONCE = 10;

/**
 * The documents that are found, in the order of the filters: one `findCommitted` for each, `AT_ONCE` at a time. Of use when an answer
 * was lost, or a read showed too little; not on the way without trouble.
 */
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
 * The document as a majority of the servers has it, or null when a majority has none: for decisions that must not be undone. It is
 * a write that changes nothing. A write with `w: 'majority'`, also one that changes or matches nothing, is answered only when
 * everything that its server had done before is on a majority (mongodb/mongo, src/mongo/db/ops/write_ops_exec.cpp, LastOpFixer);
 * a replaced primary never answers it. It costs one round trip, as a read does. It looks at one document, so a sharded cluster
 * answers it like a single server. Rejects like every write; may be repeated.
 */
export const findCommitted: FindOne = async <T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
  projection: Document = {},
) => (await collection.findOneAndUpdate(filter, NOTHING, { projection })) as T | null; // As above.

/**
 * All documents that match, however many, by a filter that names no `_id`: none is missing that a majority of the servers has. The
 * write that changes nothing goes to all servers that may have some, and counts them; a replaced primary may still answer the read,
 * then it is read again. Of use for few documents that seldom change.
 */
export async function findAllCommitted<T extends Document>(collection: Collection<T>, filter: Filter<T>): Promise<T[]> {
  for (;;) {
    const { matchedCount } = await collection.updateMany(filter, NOTHING);
    const found = await collection.find(filter).toArray();
    if (found.length >= matchedCount) return found as T[]; // As above.
  }
}

interface Wanted<T> {
  readonly filter: Filter<T>;
  readonly projection?: Readonly<Record<string, 1>> | undefined;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  readonly limit: number;
}

/** A bare command does not inherit the client's read concern. Without this, the cluster's default would apply, which may differ. */
const LOCAL = { level: 'local' } as const;

/**
 * The result of a query, at most `limit` documents, in one answer. For small reads that are repeated often (the server returns no
 * more than fits in 16 MB). Same result as `find().toArray()` without its cursor, at 60 % of its CPU in the client (309 instead
 * of 503 µs for 20 messages, 138 instead of 231 for none). It has no retry, so the caller must be one that comes again anyway.
 * Throws the driver's error.
 */
export async function findAtOnce<T extends Document>(db: Db, collection: string, wanted: Wanted<T>): Promise<T[]> {
  const { filter, projection, sort, limit } = wanted;
  const { cursor } = await db.command(
    { find: collection, filter, projection, sort, limit, batchSize: limit, singleBatch: true, readConcern: LOCAL },
    { ignoreUndefined: true },
  );
  return cursor.firstBatch; // The documents as `find` gives them: `T`, as far as a collection's type is ever sure.
}
