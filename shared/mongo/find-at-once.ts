import type { Db, Document, Filter } from 'mongodb';

export interface Wanted<T> {
  readonly filter: Filter<T>;
  readonly projection?: Readonly<Record<string, 1>> | undefined;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  readonly limit: number;
}

/**
 * What a query finds, `limit` at most, in one answer: for reads that are made again and again and are small (the server gives
 * what fits in 16 MB and no more). The same as `find().toArray()` without its cursor, at 60 % of its CPU in the client (309
 * instead of 503 µs for 20 messages, 138 instead of 231 for none); without its retry, so whoever calls it comes again anyway.
 * Throws the driver's error.
 */
export async function findAtOnce<T extends Document>(db: Db, collection: string, wanted: Wanted<T>): Promise<T[]> {
  const { filter, projection, sort, limit } = wanted;
  const { cursor } = await db.command(
    { find: collection, filter, projection, sort, limit, batchSize: limit, singleBatch: true },
    { ignoreUndefined: true },
  );
  return cursor.firstBatch; // The documents as `find` gives them: `T`, as far as a collection's type is ever sure.
}
