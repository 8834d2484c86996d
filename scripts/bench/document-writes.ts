import type { Db } from 'mongodb';

/**
 * Documents written by the store since its start: MongoDB's `serverStatus().metrics.document` (inserted, updated,
 * deleted), which the embedded store counts the same way. One update of one document is one, however many fields it sets.
 */
export async function documentWrites(db: Db): Promise<number> {
  const { metrics } = await db.admin().serverStatus();
  const { inserted, updated, deleted } = metrics.document;
  return Number(inserted) + Number(updated) + Number(deleted);
}

const LOOK_MS = 250;
/** Reports of processes and leases go on writing a little while nothing else happens. */
const NOISE = 5;

/** The count, once the last message's follow-ups are written: when it has all but stopped growing. */
export async function settledDocumentWrites(db: Db): Promise<number> {
  for (let before = await documentWrites(db); ; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const now = await documentWrites(db);
    if (now - before <= NOISE) return now;
    before = now;
  }
}
