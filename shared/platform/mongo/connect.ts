import {
  type ClientSession,
  type ClientSessionOptions,
  type Db,
  type DbOptions,
  MongoClient,
  ReadConcern,
} from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import type { Config } from '../config/settings.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { embeddedSocketPath, embeddedStoreDir } from '../runtime/unix-socket.ts';
import { connectFailure, Unfit } from './connect-failure.ts';
import { judgeDeployment, readHello } from './deployment.ts';

/** An open connection pool to the store and the product's database in it. */
export interface Store {
  readonly db: Db;
  /** What its operators should know about the deployment, a sentence each. Nothing about the embedded store. */
  readonly warnings: readonly string[];
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

/** Pause between two tries to connect. It can be short: while there is no server, each try waits for one itself. */
const PAUSE_MS = 100;

const POOL_CHECK_MS = 10_000;

/**
 * A command without an answer for this long has lost its connection, although nobody closed it (a firewall may have dropped it).
 * The driver's monitor does not notice, because it checks its own connection only. Building an index may take longer: it
 * continues in the server, and the next start waits for it.
 */
const ANSWER_MS = 40_000;

/**
 * Guarantees that money and messages need. They override HARKARA_MONGODB_URI: with `readPreference=secondaryPreferred` a refund could
 * miss the ledger entry that says it was made. Reads are `local`: a repeated debit must see writes that are not on a majority
 * yet.
 */
const GUARANTEES = {
  readPreference: 'primary',
  readConcern: new ReadConcern('local'),
  writeConcern: { w: 'majority', journal: true },
} satisfies DbOptions;

/**
 * Connects, waiting for a store that is still starting, and looks at the deployment. Writes are acknowledged by a majority and
 * journaled, so what we report as stored is stored. Throws `StartError` with one sentence when no MongoDB answers there, or one
 * that the product cannot run on.
 */
export async function connectStore(
  config: Pick<Config, 'mongodbUri' | 'dataDir' | 'mongodbDatabase'>,
  waitMs: number = START_WAIT_MS,
): Promise<Store> {
  repairDriver();
  const deadline = performance.now() + waitMs;
  for (;;) {
    // A new client for every try: a client whose first connection failed answers "Topology is closed" for ever.
    const client = newClient(storeUri(config));
    try {
      const warnings = await lookAt(client, config.mongodbUri === '');
      return { db: client.db(config.mongodbDatabase, GUARANTEES), warnings, close: () => client.close() };
    } catch (error) {
      await client.close();
      const { why, final } = connectFailure(error, config.mongodbUri === '', waitMs);
      if (final || performance.now() >= deadline) throw new StartError(why, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** Throws `Unfit`, or the driver's error when no server answers. */
async function lookAt(client: MongoClient, embedded: boolean): Promise<readonly string[]> {
  const admin = client.db('admin');
  const hello = readHello(await admin.command({ hello: 1 }));
  if (embedded) return [];
  // Some deployments allow it to nobody but operators; the version is only told.
  const { version } = await admin.command({ buildInfo: 1 }).catch(() => ({ version: undefined }));
  const judgement = judgeDeployment(hello, typeof version === 'string' ? version : undefined);
  if (judgement.kind !== 'fit') throw new Unfit(judgement.why, judgement.kind === 'unfit');
  return judgement.warnings;
}

function newClient(uri: string): MongoClient {
  try {
    const client = new OneSessionClient(uri, {
      appName: 'harkara',
      // The driver's own retry of a write fails with "no server" when it finds none the second time, although the first write may
      // be done. Nobody could tell that from a write that was never sent. until-answered.ts repeats writes itself. It would also
      // need a session for each write (`OneSessionClient`).
      retryWrites: false,
      ignoreUndefined: true,
      serverSelectionTimeoutMS: SERVER_SELECTION_MS,
      connectTimeoutMS: SERVER_SELECTION_MS,
      socketTimeoutMS: ANSWER_MS,
      maxPoolSize: 20,
    });
    // An option of the driver for its own use, missing in its types. Without it every process wakes ten times a second to
    // maintain `minPoolSize` and to remove closed connections. We set no minimum, and a check-out tests its connection itself.
    Object.assign(client.options, { minPoolSizeCheckFrequencyMS: POOL_CHECK_MS });
    return client;
  } catch (error) {
    throw new StartError(
      `HARKARA_MONGODB_URI is not a MongoDB address: ${error instanceof Error ? error.message : error}`,
    );
  }
}

let repaired = false;

/**
 * Repairs a hang of the driver (7.9.0, lib/cmap/connection.js `writeCommand`) after the store was killed. A command that meets a
 * closing socket waits for `drain`, which a destroyed socket never emits. Such an operation never ends, and no timeout helps. If
 * the operation is the monitor's `hello`, the client never finds the server again. This happens because a broken pool connection
 * triggers an immediate check while the monitor's own connection is breaking too. Of six processes, one was lost like that in
 * about one of five kills of the store, until its restart.
 *
 * With the repair, a closed connection reports its reason to everyone waiting on its socket and refuses later writes. The driver
 * treats both as the network error that they are.
 */
export function repairDriver(): void {
  if (repaired) return;
  repaired = true;
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function repaired(this: Connection, error: Error): void {
    const closes = !this.closed;
    cleanup.call(this, error);
    if (!closes) return;
    this.socket.write = () => {
      throw error;
    };
    // The connection listens too, but does nothing more once it is closed.
    this.socket.emit('error', error);
  };
}

/**
 * A client whose operations share one session. The driver makes a session for every operation that is given none, with its
 * listeners, its transaction and a place in a pool: 17 of 182 µs of a command (docs/performance.md). A session of its own is of
 * use to an operation only for transactions, the driver's retries of writes and causal reads, and the product has none of them
 * (`newClient`, docs/mongodb.md). A server takes many commands of one session at a time.
 */
export class OneSessionClient extends MongoClient {
  #shared: ClientSession | undefined;

  override startSession(options?: ClientSessionOptions & { readonly explicit?: boolean }): ClientSession {
    // The driver asks for a session of its own by `explicit: false`, which its types leave out.
    if (options?.explicit !== false) return super.startSession(options);
    if (this.#shared === undefined || this.#shared.hasEnded) {
      this.#shared = super.startSession({ explicit: false } as ClientSessionOptions);
      // `bulkWrite` ends the session that it was given, and would end it for every command on its way.
      this.#shared.endSession = async () => {};
    }
    return this.#shared;
  }

  /** Ends the session too. */
  override close(force?: boolean): Promise<void> {
    // Without its own method it has that of its class again, which the driver calls for every session.
    if (this.#shared !== undefined) Reflect.deleteProperty(this.#shared, 'endSession');
    return super.close(force);
  }
}
