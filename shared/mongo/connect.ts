import { type Db, type DbOptions, MongoClient, ReadConcern } from 'mongodb';
import type { Config } from '../config/settings.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { repairDriver } from './driver-repair.ts';
import { embeddedSocketPath, embeddedStoreDir } from './embedded-socket.ts';
import { guardedConnection, type WriteGuard } from './guarded-connection.ts';

/** An open connection pool to the store and the product's database in it. */
export interface Store {
  readonly db: Db;
  close(): Promise<void>;
}

export function storeUri(config: Pick<Config, 'mongodbUri' | 'dataDir'>): string {
  if (config.mongodbUri !== '') return config.mongodbUri;
  return `mongodb://${encodeURIComponent(embeddedSocketPath(embeddedStoreDir(config.dataDir)))}`;
}

/** How long a start waits for the store: PM2 starts the embedded one at the same moment. */
export const START_WAIT_MS = 30_000;
/** How long one operation looks for a server while the store is away. A request then answers 503. */
const SERVER_SELECTION_MS = 3_000;

const POOL_CHECK_MS = 10_000;

/**
 * A command without an answer for this long has lost its connection, although nobody closed it (a firewall may have dropped it).
 * The driver's monitor does not notice, because it checks its own connection only. Building an index may take longer: it
 * continues in the server, and the next start waits for it.
 */
const ANSWER_MS = 40_000;

/**
 * Guarantees that money and messages need. They override MONGODB_URI: with `readPreference=secondaryPreferred` a refund could
 * miss the ledger entry that says it was made. Reads are `local`: a repeated debit must see writes that are not on a majority
 * yet.
 */
const GUARANTEES = {
  readPreference: 'primary',
  readConcern: new ReadConcern('local'),
  writeConcern: { w: 'majority', journal: true },
} satisfies DbOptions;

/**
 * Connects and pings, waiting for a store that is still starting. Writes are acknowledged by a majority and journaled, so what we
 * report as stored is stored. Throws `StartError` with one sentence when no MongoDB answers there. `guard` is asked before every
 * write.
 */
export async function connectStore(
  config: Pick<Config, 'mongodbUri' | 'dataDir' | 'mongodbDatabase'>,
  waitMs: number = START_WAIT_MS,
  guard?: WriteGuard,
): Promise<Store> {
  repairDriver();
  const deadline = performance.now() + waitMs;
  for (;;) {
    // A new client for every try: a client whose first connection failed answers "Topology is closed" for ever.
    const client = newClient(storeUri(config), guard);
    try {
      await client.db('admin').command({ ping: 1 });
      return { db: client.db(config.mongodbDatabase, GUARANTEES), close: () => client.close() };
    } catch (error) {
      await client.close();
      if (performance.now() < deadline) continue;
      const what = config.mongodbUri === '' ? 'The embedded store' : 'MONGODB_URI';
      throw new StartError(
        `${what} does not answer as MongoDB within ${Math.round(waitMs / 1000)} s: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
}

function newClient(uri: string, guard: WriteGuard | undefined): MongoClient {
  try {
    const client = new MongoClient(uri, {
      appName: 'harkara',
      // The driver's own retry of a write fails with "no server" when it finds none the second time, although the first write may
      // be done. Nobody could tell that from a write that was never sent. until-answered.ts repeats writes itself.
      retryWrites: false,
      ignoreUndefined: true,
      serverSelectionTimeoutMS: SERVER_SELECTION_MS,
      connectTimeoutMS: SERVER_SELECTION_MS,
      socketTimeoutMS: ANSWER_MS,
      maxPoolSize: 20,
    });
    // Options of the driver for its own use, missing in its types. Without the first every process wakes ten times a second to
    // maintain `minPoolSize` and to remove closed connections. We set no minimum, and a check-out tests its connection itself.
    Object.assign(client.options, {
      minPoolSizeCheckFrequencyMS: POOL_CHECK_MS,
      ...(guard && { connectionType: guardedConnection(guard) }),
    });
    return client;
  } catch (error) {
    throw new StartError(`MONGODB_URI is not a MongoDB address: ${error instanceof Error ? error.message : error}`);
  }
}
