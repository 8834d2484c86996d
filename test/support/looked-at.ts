import type { AbstractCursor, Db } from 'mongodb';

/** A read's results, and the index keys and documents that the server looked at. */
export interface LookedAt {
  readonly found: number;
  readonly keys: number;
  readonly documents: number;
}

/**
 * Reads all of a cursor. The server's own counters tell what it looked at, so nobody else may use it meanwhile. A
 * server without counters is assumed to look only at what it finds.
 */
export async function lookedAt(db: Db, cursor: AbstractCursor): Promise<LookedAt> {
  const counted = async () => (await db.command({ serverStatus: 1 })).metrics?.queryExecutor;
  const before = await counted();
  const { length: found } = await cursor.toArray();
  const after = await counted();
  if (after === undefined) return { found, keys: found, documents: found };
  return {
    found,
    keys: Number(after.scanned) - Number(before.scanned),
    documents: Number(after.scannedObjects) - Number(before.scannedObjects),
  };
}
