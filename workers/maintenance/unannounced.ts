import type { Db } from 'mongodb';

/** Documents that are read at once. */
const GROUP = 200;

/** A document of a thing with what happened to it and is still to be announced. */
interface WithUnannounced {
  readonly _id: string;
  readonly unannounced?: readonly { readonly at: Date }[];
}

/**
 * Has what is unannounced in a collection announced, and takes it out of the documents then. If the process dies in between, it is
 * announced again, which writes the same. Returns how many there were.
 */
export async function announceUnannounced<T extends WithUnannounced>(
  db: Db,
  collection: string,
  announce: (found: readonly T[]) => Promise<void>,
): Promise<number> {
  const found = await db
    .collection<WithUnannounced>(collection)
    // The second condition lets MongoDB use the index.
    .find<T>({ 'unannounced.0': { $exists: true }, 'unannounced.at': { $gt: new Date(0) } })
    .limit(GROUP)
    .toArray();
  if (found.length === 0) return 0;
  await announce(found);
  await db.collection<WithUnannounced>(collection).bulkWrite(
    found.map(({ _id, unannounced = [] }) => ({
      updateOne: {
        filter: { _id },
        update: { $pull: { unannounced: { at: { $in: unannounced.map(({ at }) => at) } } } },
      },
    })),
    { ordered: false },
  );
  return found.reduce((sum, { unannounced = [] }) => sum + unannounced.length, 0);
}
