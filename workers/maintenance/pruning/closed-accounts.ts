import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { findErasable, markErased } from '../../../shared/money/accounts/store.ts';
import { findLastIssued } from '../../../shared/money/statements/statement.ts';
import { INDEXES } from '../../../shared/platform/mongo/indexes.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { testAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { along, type PrunePace, pruneAlong } from './walk.ts';

interface Found {
  readonly _id: string;
  readonly account?: string;
}

/** What is large and has gone by its own time: no account is erased earlier. */
const GONE_BY_THEMSELVES = new Set(['messages', 'deliveries', 'queue', 'message_log', 'idempotency']);
/** They hold no thing of an account, or are the account. */
const NOT_THEIRS = new Set(['accounts', 'leases', 'intents', 'processes', 'store_state', 'counted_hours']);

/**
 * Erases accounts that were closed before `before`: every document that is theirs by its field `account` or by an id that begins with
 * the account's, in whatever collection, so that no list of collections can lack one. Last the account's own document. Yields how many
 * documents were removed. A run that ends early begins again with the next night's.
 */
export async function* eraseClosed(db: Db, clock: Clock, before: Date, pace: PrunePace): AsyncGenerator<number, void> {
  const accounts: AccountDocument[] = [];
  const lastIssued = await findLastIssued(db);
  for (const account of await findErasable(db, before)) {
    // The number of its statement would be given again. It waits for the next one.
    if (account._id === lastIssued?.account) continue;
    const theirs = { account: { $in: [account._id, testAccountOf(account._id)] } };
    if ((await db.collection<AnyMessage>('messages').findOne(theirs)) === null) accounts.push(account);
  }
  if (accounts.length === 0) return;
  const tests = accounts.map(({ _id }) => testAccountOf(_id));
  const ids = new Set<string>([...accounts.map(({ _id }) => _id), ...tests]);
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    if (GONE_BY_THEMSELVES.has(name) || NOT_THEIRS.has(name) || name.startsWith('system.')) continue;
    yield* pruneAlong(walkOf(db, name, ids), pace);
  }
  if (!pace.mayGoOn()) return;
  await db.collection<AccountDocument>('accounts').deleteMany({ _id: { $in: tests } });
  for (const account of accounts) await markErased(db, account, clock.now());
  yield accounts.length;
}

/** By its index where the collection has one for accounts, else all of it. */
function walkOf(db: Db, collection: string, accounts: ReadonlySet<string>) {
  const documents = db.collection<Found>(collection);
  const isIndexed = INDEXES.some(
    ({ collection: of, key, options }) =>
      of === collection && Object.keys(key)[0] === 'account' && options.partialFilterExpression === undefined,
  );
  const theirs = isIndexed ? { account: { $in: [...accounts] } } : {};
  return {
    group: { embedded: 100, mongodb: 2_000 },
    look: along<Found>(db, collection, { where: theirs, fields: { account: 1 } }),
    remove: async (found: readonly Found[]) => {
      const ids = found.filter((one) => accounts.has(one.account ?? accountOfId(one._id))).map(({ _id }) => _id);
      return ids.length === 0 ? 0 : (await documents.deleteMany({ _id: { $in: ids } })).deletedCount;
    },
  };
}

/** Of ids like `acc_…:2026-11-22T14`. */
function accountOfId(id: unknown): string {
  const text = String(id);
  return text.slice(0, Math.max(0, text.indexOf(':')));
}
