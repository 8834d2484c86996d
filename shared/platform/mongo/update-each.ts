import { Binary, type Db, MongoNetworkError, MongoServerError } from 'mongodb';
import { hadNoEffect, worstWriteError } from './errors.ts';

export interface SingleUpdate {
  readonly filter: object;
  readonly update: object;
}

/** Fewer when they are large. */
const SLICE = 1_000;

/**
 * Sends many single-document updates as one `update` command (several when they are large), unordered, acknowledged by
 * a majority and journaled. Returns how many filters matched; the command does not tell which. Half the client CPU of
 * `bulkWrite`. It has no retries, so the caller must be able to repeat it. Throws the driver's error, or that of an
 * update: of several, the one that says that the store had trouble.
 */
export async function updateEach(db: Db, collection: string, updates: readonly SingleUpdate[]): Promise<number> {
  let matched = 0;
  let some = false;
  for (const slice of commandSlices(updates, SLICE)) {
    const asking = db.command(
      {
        update: collection,
        ordered: false,
        updates: slice.map(({ filter, update }) => ({ q: filter, u: update })),
        writeConcern: { w: 'majority', j: true },
      },
      { ignoreUndefined: true },
    );
    const answer = await (some ? asking.catch(rethrowLater) : asking);
    some = true;
    const { error: failed } = worstWriteError(Array.isArray(answer.writeErrors) ? answer.writeErrors : []);
    if (failed !== undefined) throw new MongoServerError(failed);
    matched += Number(answer.n);
  }
  return matched;
}

/** Earlier slices are done, so no error of a later one may say that nothing was (until-answered.ts). */
function rethrowLater(error: unknown): never {
  if (!hadNoEffect(error)) throw error;
  throw new MongoNetworkError('the store went away between two commands', { cause: error });
}

/** A command sent by `db.command` is one document of at most 16 MB; half leaves room for the rest of it. */
const BYTES_MAX = 8_000_000;

/** In order; each slice fits in one command. An item that is too large is alone in its slice. */
export function commandSlices<T extends object>(items: readonly T[], most: number): readonly (readonly T[])[] {
  const slices: T[][] = [];
  let slice: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const own = bytesAtMost(item);
    if (slice.length > 0 && (slice.length === most || bytes + own > BYTES_MAX)) {
      slices.push(slice);
      slice = [];
      bytes = 0;
    }
    slice.push(item);
    bytes += own;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}

/** Bytes of any other value, and of a field beyond its name and value. */
const SCALAR_BYTES = 24;
const FIELD_BYTES = 8;

/** The size as BSON, or up to three times that; far cheaper than to insert it. */
function bytesAtMost(value: unknown): number {
  if (typeof value === 'string') return 3 * value.length + FIELD_BYTES;
  if (value instanceof Binary) return value.position + SCALAR_BYTES;
  if (typeof value !== 'object' || value === null || value instanceof Date) return SCALAR_BYTES;
  let bytes = SCALAR_BYTES;
  // Documents are plain objects, so `in` finds only their own fields, at half the CPU of `Object.entries`.
  for (const name in value) bytes += 3 * name.length + FIELD_BYTES + bytesAtMost(Reflect.get(value, name));
  return bytes;
}
