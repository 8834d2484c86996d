import {
  type ClientSession,
  type ClientSessionOptions,
  type Db,
  type DbOptions,
  type Document,
  MongoClient,
  MongoError,
  MongoServerError,
  MongoServerSelectionError,
  ReadConcern,
  type ServerDescription,
} from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import type { Config } from '../config/settings.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { embeddedSocketPath, embeddedStoreDir } from '../runtime/unix-socket.ts';

/** An open connection pool to the store and the product's database in it. */
export interface Store {
  readonly db: Db;
  /** For operators, a sentence each. Nothing about the embedded store. */
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

/** Short, because each try waits for a server itself. */
const PAUSE_MS = 100;

const POOL_CHECK_MS = 10_000;

/**
 * A command without an answer for this long has lost its connection, although nobody closed it (a firewall, say); the
 * driver's monitor checks only its own connection. An index build that takes longer continues in the server, and the
 * next start waits for it.
 */
const ANSWER_MS = 40_000;

/**
 * Guarantees that money and messages need. They override HARKARA_MONGODB_URI: with `readPreference=secondaryPreferred`
 * a refund could miss the ledger entry that says it was made. Reads are `local`: a repeated debit must see writes that
 * are not on a majority yet.
 */
const GUARANTEES = {
  readPreference: 'primary',
  readConcern: new ReadConcern('local'),
  writeConcern: { w: 'majority', journal: true },
} satisfies DbOptions;

/**
 * Connects, waiting for a store that is still starting, and checks the deployment. Writes are acknowledged by a
 * majority and journaled, so what we report as stored is stored. Throws `StartError` with one sentence when no MongoDB
 * answers, or an unfit one.
 */
export async function connectStore(
  config: Pick<Config, 'mongodbUri' | 'dataDir' | 'mongodbDatabase'>,
  waitMs: number = START_WAIT_MS,
): Promise<Store> {
  repairDriver();
  const deadline = performance.now() + waitMs;
  for (;;) {
    // A new client for every try: one whose first connection failed answers "Topology is closed" for ever.
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
  // Some deployments allow it only to operators; the version is only told.
  const { version } = await admin.command({ buildInfo: 1 }).catch(() => ({ version: undefined }));
  const judgement = judgeDeployment(hello, typeof version === 'string' ? version : undefined);
  if (judgement.kind !== 'fit') throw new Unfit(judgement.why, judgement.kind === 'unfit');
  return judgement.warnings;
}

function newClient(uri: string): MongoClient {
  try {
    const client = new OneSessionClient(uri, {
      appName: 'harkara',
      // When the driver's own retry of a write finds no server, it fails with "no server", although the first write may
      // be done: nobody could tell that from a write that was never sent. until-answered.ts repeats writes itself. A
      // retry would also need a session for each write (`OneSessionClient`).
      retryWrites: false,
      ignoreUndefined: true,
      serverSelectionTimeoutMS: SERVER_SELECTION_MS,
      connectTimeoutMS: SERVER_SELECTION_MS,
      socketTimeoutMS: ANSWER_MS,
      maxPoolSize: 20,
    });
    // An internal option of the driver, missing in its types. By default every process wakes ten times a second for
    // `minPoolSize` and closed connections. We set no minimum, and a check-out tests its connection itself.
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
 * Repairs a hang of the driver (7.9.0, lib/cmap/connection.js `writeCommand`) after the store was killed. A command
 * that meets a closing socket waits for `drain`, which a destroyed socket never emits: it never ends, and no timeout
 * helps. If that command is the monitor's `hello`, the client never finds the server again.
 *
 * With the repair, a closed connection reports its reason to everyone waiting on its socket and refuses later writes.
 * The driver treats both as the network error that they are.
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
 * A client whose operations share one session. The driver would make one for every operation, a tenth of a command's
 * CPU (docs/performance.md), which is needed only for transactions, the driver's retries of writes and causal reads:
 * the product has none of them (`newClient`, docs/mongodb.md). A server takes many commands of one session at a time.
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
    // Without this own method it has its class's again, which the driver calls for every session.
    if (this.#shared !== undefined) Reflect.deleteProperty(this.#shared, 'endSession');
    return super.close(force);
  }
}

/** The product cannot run on the deployment. `final`: waiting does not change that. */
class Unfit extends Error {
  readonly final: boolean;

  constructor(why: string, final: boolean) {
    super(why);
    this.final = final;
  }
}

/** AuthenticationFailed; AtlasError. */
const SIGN_IN_CODES = new Set<unknown>([18, 8_000]);

/** Unauthorized; AtlasError. */
export const NOT_ALLOWED = new Set<unknown>([13, 8_000]);

/** Why no connection came about, in one sentence with what to do, and whether waiting is in vain. */
function connectFailure(
  error: unknown,
  embedded: boolean,
  waitMs: number,
): { readonly why: string; readonly final: boolean } {
  if (error instanceof Unfit) return { why: error.message, final: error.final };
  if (error instanceof MongoServerError && SIGN_IN_CODES.has(error.code)) {
    const why = `The server behind HARKARA_MONGODB_URI refuses its user or password (${error.message}): correct them, or name the database of the user by authSource.`;
    return { why, final: true };
  }
  if (error instanceof MongoServerError && NOT_ALLOWED.has(error.code)) {
    const why = `The server behind HARKARA_MONGODB_URI lets its user read nothing (${error.message}): name a user with a password in it, who has the role readWrite on the database.`;
    return { why, final: true };
  }
  const what = embedded ? 'The embedded store' : 'HARKARA_MONGODB_URI';
  const said = membersOf(error) ?? (error instanceof Error ? error.message : String(error));
  const within = waitMs === 0 ? '' : ` within ${Math.round(waitMs / 1000)} s`;
  return { why: `${what} does not answer as MongoDB${within}: ${said}`, final: false };
}

/** For a start's first read: a user without rights, or a proxy, is seen only there. Our own errors stay. */
export function firstReadFailure(error: unknown, embedded: boolean): unknown {
  if (!(error instanceof MongoError)) return error;
  return new StartError(connectFailure(error, embedded, 0).why, { cause: error });
}

/** The state of the replica set in which no primary was found; undefined for other errors. */
function membersOf(error: unknown): string | undefined {
  const topology = error instanceof MongoServerSelectionError ? error.reason : undefined;
  if (topology === undefined || !topology.type.startsWith('ReplicaSet')) return undefined;
  const members = [...topology.servers.values()];
  if (members.length === 0)
    return `no server in it belongs to the replica set ${topology.setName}: correct replicaSet, or the servers.`;
  const states = members.map((member) => `${member.address} ${stateOf(member)}`).join(', ');
  return `the replica set ${topology.setName ?? ''} has no primary (${states}): a majority of its members must run and reach each other.`;
}

function stateOf({ type, error }: ServerDescription): string {
  if (error !== null) return `cannot be used (${error.message})`;
  return type === 'Unknown' ? 'does not answer' : `is ${type.replace(/^RS/, '').toLowerCase()}`;
}

/** From a server's answer to `hello` (https://www.mongodb.com/docs/manual/reference/command/hello/). */
export interface Hello {
  readonly maxWireVersion: number;
  readonly isWritablePrimary?: boolean;
  readonly secondary?: boolean;
  readonly arbiterOnly?: boolean;
  /** The server was started as a member of a replica set that nobody has initiated. */
  readonly isreplicaset?: boolean;
  readonly setName?: string;
  readonly me?: string;
  /** Members with data that may become primary; those that may not; those without data. */
  readonly hosts?: readonly string[];
  readonly passives?: readonly string[];
  readonly arbiters?: readonly string[];
  /** `isdbgrid`: a router of a sharded cluster. */
  readonly msg?: string;
}

/** MongoDB 6.0, the oldest version whose manual the product was written by. */
const WIRE_VERSION_MIN = 17;

/** `not_now`: the server may still become what it must be. */
type Judgement =
  | { readonly kind: 'fit'; readonly warnings: readonly string[] }
  | { readonly kind: 'unfit' | 'not_now'; readonly why: string };

/** One sentence for each fault, with what to do. `version`: what the server calls itself. */
function judgeDeployment(hello: Hello, version: string | undefined): Judgement {
  if (hello.maxWireVersion < WIRE_VERSION_MIN) {
    const own = version === undefined ? 'an old one' : version;
    return unfit(
      `The server behind HARKARA_MONGODB_URI speaks as MongoDB ${own} does. Harkara needs 6.0 or newer: upgrade it.`,
    );
  }
  if (hello.msg === 'isdbgrid') return { kind: 'fit', warnings: [] };
  if (hello.isreplicaset === true)
    return notNow('The server behind HARKARA_MONGODB_URI waits for its replica set: run rs.initiate() on it.');
  const me = hello.me ?? 'a server';
  if (hello.arbiterOnly === true)
    return unfit(
      `HARKARA_MONGODB_URI leads straight to an arbiter (${me}), which stores nothing: name the members that have data.`,
    );
  if (hello.isWritablePrimary !== true) {
    const set = hello.setName === undefined ? '' : ` of the replica set ${hello.setName}`;
    return notNow(
      `HARKARA_MONGODB_URI leads straight to a member${set} that is not the primary (${me}) and takes no writes: name all members in it, and leave out directConnection.`,
    );
  }
  return { kind: 'fit', warnings: warningsOf(hello) };
}

function warningsOf({ setName, hosts = [], passives = [], arbiters = [] }: Hello): readonly string[] {
  const members = hosts.length + passives.length;
  if (setName === undefined)
    return [
      'HARKARA_MONGODB_URI leads to a standalone server: there is no failover and no second copy of the data. Run a replica set of three.',
    ];
  if (arbiters.length > 0)
    return [
      `The replica set ${setName} has an arbiter: while a member with data is down, no write is on a majority, and nothing is accepted. Replace it by a member with data.`,
    ];
  if (members >= 3) return [];
  const lacks = members === 2 ? 'two members: when one is down nothing is written' : 'one member: there is no failover';
  return [`The replica set ${setName} has ${lacks}. Add members up to three.`];
}

/** Only the driver has parsed the answer. */
function readHello(answer: Document): Hello {
  return { ...answer, maxWireVersion: Number(answer.maxWireVersion ?? 0) };
}

function unfit(why: string): Judgement {
  return { kind: 'unfit', why };
}

function notNow(why: string): Judgement {
  return { kind: 'not_now', why };
}
