import { type Db, MongoServerError } from 'mongodb';
import { DUPLICATE_KEY, worstWriteError } from './errors.ts';
import { commandSlices } from './update-each.ts';

/** Fewer when they are large. */
const SLICE = 1_000;

/**
 * Inserts documents with derived ids. Existing ones stay as they are, so it may be repeated after a crash. Unordered,
 * acknowledged by a majority and journaled; less than half the client CPU of `insertMany`. It has no retries, so the
 * caller must be able to repeat it. Throws the driver's error (also when new documents may not be on a majority yet:
 * that is not "exists already"), or that of a document that is no duplicate: of several, the one that says that the
 * store had trouble. Returns how many were new.
 */
export async function insertNew(db: Db, collection: string, documents: readonly object[]): Promise<number> {
  let inserted = 0;
  for (const slice of commandSlices(documents, SLICE)) {
    const answer = await db.command(
      {
        insert: collection,
        ordered: false,
        documents: slice,
        writeConcern: { w: 'majority', j: true },
      },
      { ignoreUndefined: true },
    );
    const errors: readonly { readonly code?: unknown }[] = Array.isArray(answer.writeErrors) ? answer.writeErrors : [];
    const { error: failed } = worstWriteError(errors.filter(({ code }) => code !== DUPLICATE_KEY));
    if (failed !== undefined) throw new MongoServerError(failed);
    inserted += Number(answer.n);
  }
  return inserted;
}
