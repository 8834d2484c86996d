import type { Db } from 'mongodb';
import { listAccounts } from '../../../shared/accounts/store.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import { ensureIndexes, INDEXES } from '../../../shared/mongo/indexes.ts';
import type { Index } from '../../../shared/mongo/product-index.ts';
import { minuteAuditId } from '../../../shared/runtime/ids.ts';
import { StartError } from '../../../shared/runtime/lifecycle.ts';
import { isCurrent } from '../../../shared/schema/migrate.ts';
import { readSchema, setVersion } from '../../../shared/schema/version-store.ts';
import { closeAccess, openAccess, readAccess, STATE_COLLECTION } from '../../../shared/store-access/access-store.ts';
import { COLLECTIONS, COPIED } from './collections.ts';
import { compareCollection } from './compare.ts';
import { type Compared, noteCompared, readCompared } from './compared.ts';
import { copyCollection, hasBegun } from './copy.ts';
import type { Progress } from './progress.ts';
import { enterInAudit, makeReadOnly, type Operating, untilClosed } from './read-only.ts';

/** One of the two stores. `name` is for people: the address without user and password. */
export interface Place {
  readonly db: Db;
  readonly name: string;
}

export interface MoveDeps extends Omit<Operating, 'db'> {
  readonly source: Place;
  readonly target: Place;
  /** The move's name in the audit, such as `store.export`. */
  readonly action: string;
  readonly progress: Progress;
}

export interface Moved extends Compared {
  /** Collections of the source that are not the product's. */
  readonly left: readonly string[];
}

/**
 * Moves all data from one store to another: makes the source read-only, copies, builds indexes, compares every document and every
 * ledger, marks the source as moved and opens the target. After an interruption at any point, the same call goes on from there.
 * Until the end neither store can be used by mistake: the source is read-only, and the target refuses starts. Throws a
 * `StartError` with one sentence.
 */
export async function moveStore(deps: MoveDeps): Promise<Moved> {
  const { source, target, clock } = deps;
  const period = await begin(deps);
  const earlier = await readCompared(target.db, period);
  const found = earlier?.found ?? (await copyAndCompare(deps, period));
  const at = earlier?.at ?? clock.now();
  if (earlier === undefined) await noteCompared(target.db, period, at, found);
  // From here on the target gets what the source has not, so an interrupted call goes on here without another comparison.
  const { documents, bytes } = found;
  await closeAccess(source.db, { mode: 'moved', period, since: at, to: target.name });
  const entered = { from: source.name, to: target.name, documents, bytes };
  await enterInAudit({ ...deps, db: target.db }, deps.action, entered, minuteAuditId(period, at));
  await openAccess(target.db, { period });
  return { ...found, left: await strangersOf(source.db) };
}

async function copyAndCompare(deps: MoveDeps, period: string): Promise<Compared> {
  const { source, target } = deps;
  const before = await checkLedgers(source);
  for (const name of COPIED) {
    deps.progress.begin(`copying ${name}`, await source.db.collection(name).estimatedDocumentCount());
    let count = 0;
    await copyCollection({ source: source.db, target: target.db, period }, name, (documents) => {
      count = documents;
      deps.progress.at(documents);
    });
    if (count > 0) deps.progress.end(count);
  }
  const ttl = INDEXES.filter(({ options }) => options.expireAfterSeconds !== undefined);
  const others = INDEXES.filter((index) => !ttl.includes(index));
  await buildIndexes(target.db, others, deps.progress);
  const compared = await compareAll(deps);
  const after = await checkLedgers(target);
  if (after.balances !== before.balances || after.ledgers !== before.ledgers) {
    throw new StartError(
      `${source.name} has credits of ${before.balances}, ${target.name} of ${after.balances}. The copy is not exact. Drop the target's database and run the command again; ${source.name} is unchanged.`,
    );
  }
  await buildIndexes(target.db, ttl, deps.progress); // Last: a TTL index must not remove a document before it was compared.
  await setVersion(target.db, (await readSchema(target.db))?.version, (await readSchema(source.db))?.version ?? 0);
  return { ...compared, ...after };
}

/**
 * Builds the indexes one after the other, each by its own command. The embedded store answers a command only when all of its
 * indexes are built; with all indexes of a collection that would take too long.
 */
async function buildIndexes(db: Db, indexes: readonly Index[], progress: Progress): Promise<void> {
  progress.begin('building indexes', indexes.length);
  for (const [done, index] of indexes.entries()) {
    progress.at(done);
    await ensureIndexes(db, () => {}, [index]);
  }
  progress.end(indexes.length);
}

/** Closes both stores for writers. Returns the period, which is the same for both. */
async function begin(deps: MoveDeps): Promise<string> {
  const { source, target } = deps;
  const copy = await readAccess(target.db);
  if (copy !== undefined && copy.mode !== 'copying') {
    throw new StartError(
      `${target.name} is ${copy.mode === 'moved' ? 'marked as moved to another store' : 'read-only'}, so nothing was copied. Name another database, or drop that one first.`,
    );
  }
  if (copy === undefined) await expectEmpty(target);
  if (!(await isCurrent(source.db))) {
    throw new StartError(
      `${source.name} is empty or of an earlier version: start this version of the product on it once.`,
    );
  }
  const before = await readAccess(source.db);
  if (copy !== undefined && copy.period !== before?.period) {
    throw new StartError(
      `${target.name} has an unfinished copy, and ${source.name} was written to since, or is another store. Drop the target's database, then run the command again.`,
    );
  }
  if (copy !== undefined && before?.mode === 'moved') return copy.period; // The earlier call was killed just before its end.
  const { period, since } = await makeReadOnly({ ...deps, db: source.db });
  if (copy === undefined) await closeAccess(target.db, { mode: 'copying', period, since });
  await untilClosed({ ...deps, db: target.db }, period);
  if (!(await hasBegun(target.db, period))) await empty(target.db);
  return period;
}

async function expectEmpty({ db, name }: Place): Promise<void> {
  for (const collection of ['accounts', 'users', 'carriers', 'messages', 'ledger']) {
    if ((await db.collection(collection).findOne()) === null) continue;
    throw new StartError(`${name} is not empty: it has ${collection}. Name another database, or drop that one first.`);
  }
}

/** Empties the target: if a product was started on it once, it has written a few things of its own, such as leases. */
async function empty(db: Db): Promise<void> {
  for (const collection of Object.keys(COLLECTIONS)) {
    if (collection !== STATE_COLLECTION) await db.collection(collection).deleteMany({});
  }
}

async function compareAll({ source, target, clock, progress }: MoveDeps) {
  const collections: Record<string, { readonly documents: number; readonly sha256: string }> = {};
  const sum = { documents: 0, bytes: 0 };
  for (const name of COPIED) {
    progress.begin(`comparing ${name}`, await target.db.collection(name).estimatedDocumentCount());
    const stores = { source: source.db, target: target.db, clock };
    const { documents, bytes, sha256, problems } = await compareCollection(stores, name, (done) => progress.at(done));
    if (problems.length > 0) {
      throw new StartError(
        `${problems.join('\n')}\nThe copy is not exact. Drop the target's database and run the command again; ${source.name} is unchanged.`,
      );
    }
    if (documents > 0) progress.end(documents);
    collections[name] = { documents, sha256 };
    sum.documents += documents;
    sum.bytes += bytes;
  }
  return { collections, ...sum };
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

async function strangersOf(db: Db): Promise<readonly string[]> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  return found.map(({ name }) => name).filter((name) => COLLECTIONS[name] === undefined && !name.startsWith('system.'));
}
