import { type Db, type IndexDescription, MongoNetworkTimeoutError, MongoServerError } from 'mongodb';
import { systemClock } from '../runtime/clock.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { DUPLICATE_KEY, isStoreTrouble } from './errors.ts';

export interface Building {
  readonly collection: string;
  readonly indexes: string;
  readonly seconds: number;
}

type NamedIndex = IndexDescription & { readonly name: string };

/** IndexBuildAlreadyInProgress: another process asked for some of the same indexes. */
const IN_PROGRESS = 285;
const PAUSE_MS = 1_000;
/** How long the command is repeated while the store has trouble. A build that is under way is awaited without end. */
const TROUBLE_MS = 60_000;

/** Why a server refuses an index, by its code, and what to do. */
const REFUSALS = new Map<unknown, (collection: string, index: NamedIndex) => string>([
  [
    85, // IndexOptionsConflict
    (collection, { key }) =>
      `Another index of \`${collection}\` has the same fields (${fieldsOf(key)}) and other options: drop that one and start again.`,
  ],
  [
    86, // IndexKeySpecsConflict
    (collection, { name }) =>
      `An index of that name with other fields or options is there. Run db.getCollection('${collection}').dropIndex('${name}') and start again.`,
  ],
  [276, () => 'The server ended the build: somebody dropped the index or its collection meanwhile. Start again.'],
  [
    DUPLICATE_KEY, // The values stay out of the log: some are secret.
    (collection, { key }) =>
      `Several documents of \`${collection}\` have the same ${fieldsOf(key)}: keep one of them and start again.`,
  ],
  [
    13, // Unauthorized
    () => 'The user of HARKARA_MONGODB_URI may not build indexes: give it the role readWrite on the database.',
  ],
  [
    67, // CannotCreateIndex
    () => 'The server does not take this kind of index: run MongoDB 6.0 or newer.',
  ],
]);

/**
 * Builds missing indexes of one collection and waits until they are ready. When the connection is given up after 40 s
 * (connect.ts), the build goes on in the server; the same command is sent again, which joins it; `tell` is called
 * before each repetition. Throws `StartError` naming the index that the server refuses.
 */
export async function buildIndexes(
  db: Db,
  collection: string,
  indexes: readonly NamedIndex[],
  { quorum, tell }: { readonly quorum: boolean; readonly tell: (building: Building) => void },
): Promise<void> {
  const beganMs = systemClock.monotonicMs();
  // By default a build is ready when all voting members have built it: one that is down would hold up the start for
  // ever.
  const options = quorum ? { commitQuorum: 'majority' } : {};
  let troubleMs: number | undefined;
  for (;;) {
    try {
      await db.collection(collection).createIndexes([...indexes], options);
      return;
    } catch (error) {
      const building = isBuilding(error);
      troubleMs = building ? undefined : (troubleMs ?? systemClock.monotonicMs());
      const overMs = troubleMs === undefined ? 0 : systemClock.monotonicMs() - troubleMs;
      if (!building && (isRefusal(error) || overMs > TROUBLE_MS)) throw await explained(db, collection, indexes, error);
      const seconds = Math.round((systemClock.monotonicMs() - beganMs) / 1_000);
      tell({ collection, indexes: indexes.map(({ name }) => name).join(', '), seconds });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** An answer that stays the same. Other answers may be trouble of the store that passes. */
function isRefusal(error: unknown): boolean {
  return (error instanceof MongoServerError && REFUSALS.has(error.code)) || !isStoreTrouble(error);
}

function isBuilding(error: unknown): boolean {
  return error instanceof MongoNetworkTimeoutError || (error instanceof MongoServerError && error.code === IN_PROGRESS);
}

/** The answer does not say which of several indexes is refused: each is tried alone. */
async function explained(db: Db, collection: string, indexes: readonly NamedIndex[], error: unknown): Promise<unknown> {
  if (!(error instanceof MongoServerError)) return error;
  for (const index of indexes) {
    try {
      await db.collection(collection).createIndexes([index]);
    } catch (own) {
      if (!(own instanceof MongoServerError)) return own;
      const why = REFUSALS.get(own.code)?.(collection, index) ?? `The server says: ${own.message}`;
      return new StartError(`The index \`${index.name}\` of \`${collection}\` cannot be built. ${why}`, { cause: own });
    }
  }
  return error;
}

function fieldsOf(key: IndexDescription['key']): string {
  return (key instanceof Map ? [...key.keys()] : Object.keys(key)).join(', ');
}
