import type { Db } from 'mongodb';

/**
 * Number of documents that the store wrote since its start: MongoDB's `serverStatus().metrics.document` (inserted, updated,
 * deleted). The embedded store counts the same way. One update of one document counts once, however many fields it sets.
 */
export async function documentWrites(db: Db): Promise<number> {
  const { metrics } = await db.admin().serverStatus();
  const { inserted, updated, deleted } = metrics.document;
  return Number(inserted) + Number(updated) + Number(deleted);
}

const LOOK_MS = 250;
/** Writes that happen while the system is idle: reports of processes, leases. */
const NOISE = 5;

/** The count when it has almost stopped growing: by then the follow-up writes of the last message are done too. */
export async function settledDocumentWrites(db: Db): Promise<number> {
  for (let before = await documentWrites(db); ; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const now = await documentWrites(db);
    if (now - before <= NOISE) return now;
    before = now;
  }
}
