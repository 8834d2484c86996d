import { createHash, type Hash } from 'node:crypto';
import { type Db, MongoServerError } from 'mongodb';
import { DocumentSequence } from 'mongodb/lib/cmap/commands.js';
import { listAccounts } from '../../shared/money/accounts/store.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { type Actor, beginEntry, completeEntry } from '../../shared/people/audit.ts';
import type { Config } from '../../shared/platform/config/settings.ts';
import { ensureIndexes, INDEXES, type Index } from '../../shared/platform/mongo/indexes.ts';
import { expectSchema, readSchema, SCHEMA, setSchema, UNFINISHED_COPY } from '../../shared/platform/mongo/schema.ts';
import { livingProcesses } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import type { Progress } from './command.ts';

/** One of the two stores. `name` is its address without user and password. */
export interface Place {
  readonly db: Db;
  readonly name: string;
}

interface MoveDeps {
  readonly source: Place;
  readonly target: Place;
  /** The name in the audit, such as `store.export`. */
  readonly action: string;
  readonly actor: Actor;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly config: Pick<Config, 'auditDays'>;
}

interface Moved {
  readonly collections: Readonly<Record<string, Content>>;
  readonly documents: number;
  readonly bytes: number;
  readonly ledgers: number;
  /** The sum of all accounts' balances, equal to the sum of all ledger amounts; the same on both sides. */
  readonly balances: number;
}

/** Collections that each store makes anew: process reports, minute counts, start checks, the schema. */
const OWN: ReadonlySet<string> = new Set(['processes', 'rate', 'start_checks', 'store_state']);

/**
 * Copies everything into an empty store while no process uses either of them: documents, then indexes. Compares both by
 * a hash of each collection and by the ledgers. Until the end the target refuses starts; after an interruption the same
 * call starts over. The source is not changed. Throws a `StartError` with one sentence.
 */
export async function moveStore(deps: MoveDeps): Promise<Moved> {
  const { source, target, progress } = deps;
  await begin(source, target);
  const before = await checkLedgers(source);
  const collections: Record<string, Content> = {};
  for (const name of await namesIn(source.db)) {
    progress.begin(`copying ${name}`, await source.db.collection(name).estimatedDocumentCount());
    collections[name] = await copyCollection(source.db, target.db, name, (done) => progress.at(done));
    progress.end(collections[name].documents);
  }
  const ttl = INDEXES.filter(({ options }) => options.expireAfterSeconds !== undefined);
  const others = INDEXES.filter((index) => !ttl.includes(index));
  await buildIndexes(target.db, others, progress);
  await compare(deps, collections);
  const after = await checkLedgers(target);
  if (after.balances !== before.balances || after.ledgers !== before.ledgers) {
    throw notExact(deps, `${source.name} has credits of ${before.balances}, ${target.name} of ${after.balances}.`);
  }
  await expectUnused(source); // A process started meanwhile may have written what was not copied.
  await buildIndexes(target.db, ttl, progress); // Last: a TTL index must not remove a document before it was compared.
  const all = Object.values(collections);
  const [documents, bytes] = [sum(all.map((one) => one.documents)), sum(all.map((one) => one.bytes))];
  await enterInAudit(deps, { from: source.name, to: target.name, documents, bytes });
  await setSchema(target.db, SCHEMA);
  return { collections, documents, bytes, ...after };
}

/** Marks the target as unfinished, and removes what an interrupted copy has left. */
async function begin(source: Place, target: Place): Promise<void> {
  for (const place of [source, target]) await expectUnused(place);
  await expectSchema(source.db);
  if ((await readSchema(source.db)) === undefined) {
    throw new StartError(`${source.name} has no data of this product, so nothing was copied.`);
  }
  if ((await readSchema(target.db)) !== UNFINISHED_COPY) await expectEmpty(target);
  await setSchema(target.db, UNFINISHED_COPY);
  await expectUnused(target); // Again: a process that starts either sees the mark or is seen here.
  for (const name of await namesIn(target.db)) await target.db.collection(name).drop();
}

async function expectUnused({ db, name }: Place): Promise<void> {
  const apps = new Set((await livingProcesses(db)).map(({ app }) => app));
  if (apps.size === 0) return;
  throw new StartError(
    `${name} is in use by ${[...apps].sort().join(', ')}: stop the product first (npx pm2 kill). On another machine, a process that was killed counts for half a minute.`,
  );
}

async function expectEmpty({ db, name }: Place): Promise<void> {
  for (const collection of await namesIn(db)) {
    if ((await db.collection(collection).findOne()) === null) continue;
    throw new StartError(`${name} is not empty: it has ${collection}. Name another database, or drop that one first.`);
  }
}

async function namesIn(db: Db): Promise<readonly string[]> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  return found.flatMap(({ name }) => (OWN.has(name) || name.startsWith('system.') ? [] : [name])).sort();
}

/** One by one: the embedded store answers only when a command's indexes are all built, which could take too long. */
async function buildIndexes(db: Db, indexes: readonly Index[], progress: Progress): Promise<void> {
  progress.begin('building indexes', indexes.length);
  for (const [done, index] of indexes.entries()) {
    progress.at(done);
    await ensureIndexes(db, () => {}, [index]);
  }
  progress.end(indexes.length);
}

async function compare(deps: MoveDeps, read: Readonly<Record<string, Content>>): Promise<void> {
  const { target, progress } = deps;
  for (const [name, { documents, sha256 }] of Object.entries(read)) {
    progress.begin(`comparing ${name}`, documents);
    const there = await readContent(target.db, name, (done) => progress.at(done));
    progress.end(there.documents);
    if (there.sha256 === sha256 && there.documents === documents) continue;
    throw notExact(deps, `${name}: ${documents} documents were read, and the ${there.documents} in the target differ.`);
  }
}

function notExact({ source }: MoveDeps, why: string): StartError {
  return new StartError(`${why} The copy is not exact. Run the command again; ${source.name} is unchanged.`);
}

async function checkLedgers({ db, name }: Place): Promise<{ readonly ledgers: number; readonly balances: number }> {
  let balances = 0;
  const accounts = await listAccounts(db);
  for (const { _id } of accounts) {
    const { balance, problems } = await verifyLedger(db, _id);
    if (problems.length > 0) throw new StartError(`The ledger of ${_id} in ${name} is broken: ${problems.join('; ')}`);
    balances += balance;
  }
  return { ledgers: accounts.length, balances };
}

async function enterInAudit({ target, action, actor, clock, config }: MoveDeps, after: Record<string, unknown>) {
  const now = clock.now();
  const id = newId('aud', now.getTime());
  const intended = { actor, action, subject: { kind: 'store' } } as const;
  await beginEntry(target.db, id, intended, { now, keptDays: config.auditDays });
  await completeEntry(target.db, id, { outcome: 'done', after });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** A document's stored bytes, so that no type, field order or number changes by reading them. */
type RawDocument = Uint8Array;

/** A collection read in the order of ids. */
interface Content {
  readonly documents: number;
  readonly bytes: number;
  readonly sha256: string;
}

const SLICE = 1_000;
/** A slice ends at this many bytes, even with fewer documents. A document may have 16 MB, a command 48 MB. */
const SLICE_BYTES = 8_000_000;

/** Returns what was read. `onDone` gets the number of documents copied so far. */
export function copyCollection(
  source: Db,
  target: Db,
  collection: string,
  onDone: (documents: number) => void,
): Promise<Content> {
  return walk(source, collection, onDone, (documents) => insertRaw(target, collection, documents));
}

export function readContent(db: Db, collection: string, onDone: (documents: number) => void): Promise<Content> {
  return walk(db, collection, onDone, async () => {});
}

async function walk(
  db: Db,
  collection: string,
  onDone: (documents: number) => void,
  use: (documents: readonly RawDocument[]) => Promise<void>,
): Promise<Content> {
  const hash: Hash = createHash('sha256');
  let [documents, bytes] = [0, 0];
  for await (const slice of slicesOf(db, collection)) {
    await use(slice);
    for (const document of slice) {
      hash.update(document);
      bytes += document.length;
    }
    documents += slice.length;
    onDone(documents);
  }
  return { documents, bytes, sha256: hash.digest('hex') };
}

async function* slicesOf(db: Db, collection: string): AsyncGenerator<readonly RawDocument[]> {
  const cursor = db.collection(collection).find({}, { raw: true, batchSize: SLICE }).sort({ _id: 1 });
  let slice: RawDocument[] = [];
  let bytes = 0;
  for await (const document of cursor as AsyncIterable<unknown>) {
    const raw = document as RawDocument; // `raw` makes the driver return bytes, which its types do not say
    slice.push(raw);
    bytes += raw.length;
    if (slice.length < SLICE && bytes < SLICE_BYTES) continue;
    yield slice;
    [slice, bytes] = [[], 0];
  }
  if (slice.length > 0) yield slice;
}

async function insertRaw(db: Db, collection: string, documents: readonly RawDocument[]): Promise<void> {
  const sequence = new DocumentSequence('documents');
  for (const document of documents) sequence.push({}, document);
  const writeConcern = { w: 'majority', j: true };
  const answer = await db.command({ insert: collection, documents: sequence, writeConcern });
  const [failed] = answer.writeErrors ?? [];
  if (failed !== undefined) throw new MongoServerError(failed);
}
