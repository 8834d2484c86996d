import type { Collection, Db } from 'mongodb';
import { type KeyUse, type KeyUseDocument, usePipeline } from './key-use.ts';

/** One command. A repeated call counts twice; that is good enough for numbers that only people read. */
export async function addKeyUses(db: Db, uses: readonly KeyUse[]): Promise<void> {
  if (uses.length === 0) return;
  await keyUses(db).bulkWrite(
    uses.map((use) => ({ updateOne: { filter: { _id: use.key }, update: usePipeline(use), upsert: true } })),
    { ordered: false },
  );
}

/** The uses of those keys that were ever used, by key. */
export async function findKeyUses(db: Db, keys: readonly string[]): Promise<ReadonlyMap<string, KeyUseDocument>> {
  const found = await keyUses(db)
    .find({ _id: { $in: keys } })
    .toArray();
  return new Map(found.map((use) => [use._id, use]));
}

function keyUses(db: Db): Collection<KeyUseDocument> {
  return db.collection('key_uses');
}
