import type { Db } from 'mongodb';
import { listNumbers, removeNumber } from '../../shared/carriers/numbers/store.ts';
import { removeProvidersOf } from '../../shared/carriers/providers/store.ts';
import { disableEndpoint, listEndpoints } from '../../shared/events/webhooks/endpoint-store.ts';
import { batchCollection, beginStop } from '../../shared/messages/batch.ts';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { firstWaitingOf } from '../../shared/messages/schedule.ts';
import type { AccountDocument, Closed } from '../../shared/money/accounts/account.ts';
import {
  findAccount,
  findErasable,
  findUnsettled,
  markErased,
  markSettled,
  settleLater,
} from '../../shared/money/accounts/store.ts';
import { BalanceTooLow, changeCredits } from '../../shared/money/ledger/change.ts';
import { cancelSchedule } from '../../shared/money/payment/cancel-schedule.ts';
import { findLastIssued } from '../../shared/money/statements/statement.ts';
import { revokeKeysOf } from '../../shared/people/keys/store.ts';
import { disableUser, listUsers } from '../../shared/people/users/store.ts';
import { INDEXES } from '../../shared/platform/mongo/indexes.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, lowestId, testAccountOf } from '../../shared/platform/runtime/ids.ts';
import { along, type PrunePace, pruneAlong } from './prune-walk.ts';

/** No message waits longer: HARKARA_MESSAGE_VALIDITY_HOURS is at most 168, for schedules from their release. */
const LONGEST_WAIT_MS = 8 * 86_400_000;
/** After this time, everything paid before the closing is a message, or at least an overdue line. */
const LAST_DEBITS_MS = 60_000;
const AGAIN_MS = 10 * 60_000;
const NOTES = {
  paid_out: 'Account closed: the remaining credits were paid out',
  forfeited: 'Account closed: the remaining credits are forfeited',
} as const satisfies Record<Closed['remaining'], string>;

/** Does what follows the closing of accounts. May be repeated after a crash. Returns how many were settled. */
export async function closeAccounts(db: Db, clock: Clock, mayGoOn: () => boolean): Promise<number> {
  let settled = 0;
  for (const { _id, closed } of await findUnsettled(db, clock.now())) {
    if (!mayGoOn() || closed === undefined) break;
    await switchOff(db, _id);
    await cancelBooked(db, clock, _id, mayGoOn);
    const now = clock.now();
    const isEarly = now.getTime() < closed.at.getTime() + LAST_DEBITS_MS;
    if (isEarly || (await isAnythingWaiting(db, _id, now)) || !(await settle(db, _id, closed))) {
      await settleLater(db, _id, new Date(now.getTime() + (isEarly ? LAST_DEBITS_MS : AGAIN_MS)));
      continue;
    }
    await markSettled(db, _id, now);
    settled += 1;
  }
  return settled;
}

/** Gateways refuse a closed account at once: this is for who looks at its keys, users, webhooks and numbers. */
async function switchOff(db: Db, account: AccountId): Promise<void> {
  await revokeKeysOf(db, account);
  for (const { _id, status } of await listUsers(db, account)) if (status !== 'disabled') await disableUser(db, _id);
  for (const { _id } of await listEndpoints(db, account)) await disableEndpoint(db, _id, 'the account is closed');
  for (const { number, keyword } of await listNumbers(db, account, NUMBERS_MAX))
    await removeNumber(db, number, keyword);
  await removeProvidersOf(db, account);
}

/** More than any account has; numbers beyond it go with the next look. */
const NUMBERS_MAX = 10_000;

async function cancelBooked(db: Db, clock: Clock, account: AccountId, mayGoOn: () => boolean): Promise<void> {
  for (let id = await firstWaitingOf(db, account); id !== undefined && mayGoOn(); ) {
    await cancelSchedule(db, clock, account, id);
    id = await firstWaitingOf(db, account);
  }
  const since = lowestId('bat', new Date(clock.now().getTime() - LONGEST_WAIT_MS));
  const batches = batchCollection(db)
    .find({ account, _id: { $gte: since }, state: { $in: ['paid', 'split'] } }, { projection: { _id: 1 } })
    .sort({ _id: 1 });
  for await (const { _id } of batches) await beginStop(db, _id);
}

/** Single messages wait for the end of their validity, and are refunded then. */
async function isAnythingWaiting(db: Db, account: AccountId, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - LONGEST_WAIT_MS);
  const payer = await db.collection<AccountDocument>('accounts').findOne({ _id: account });
  if (Object.keys(payer?.pending ?? {}).length > 0) return true;
  if ((await batchCollection(db).findOne({ state: 'stopping', account })) !== null) return true;
  // Any account's lines become messages within seconds.
  if ((await db.collection('queue').findOne({ writeAt: { $exists: true, $lte: now } })) !== null) return true;
  const message = await db.collection<AnyMessage>('messages').findOne({
    account,
    _id: { $gte: lowestId('msg', since) },
    state: { $in: ['queued', 'submitting', 'waiting'] },
  });
  return message !== null;
}

/** Takes the remaining credits, once. False when there are fewer by now. */
async function settle(db: Db, account: AccountId, { remaining, by }: Closed): Promise<boolean> {
  const balance = (await findAccount(db, account))?.balance ?? 0;
  if (balance === 0) return true;
  try {
    const credit = { kind: 'correction', amount: -balance, id: 'closing', note: NOTES[remaining], by } as const;
    await changeCredits(db, account, credit);
    return true;
  } catch (error) {
    if (error instanceof BalanceTooLow) return false;
    throw error;
  }
}

interface Found {
  readonly _id: string;
  readonly account?: string;
}

/** Large collections whose documents go by age: no account is erased before its messages are gone. */
const GONE_BY_THEMSELVES = new Set(['messages', 'deliveries', 'queue', 'message_log', 'idempotency']);
/** Collections without data of single accounts, and `accounts` itself. */
const NOT_THEIRS = new Set(['accounts', 'leases', 'intents', 'processes', 'store_state', 'counted_hours']);

/**
 * Erases accounts closed before `before`: in every collection, the documents with the account's `account` field or an
 * id that begins with its id, so that no list can lack a collection. The account's own document comes last. Yields how
 * many documents were removed. If a run ends early, the next night's begins again.
 */
export async function* eraseClosed(db: Db, clock: Clock, before: Date, pace: PrunePace): AsyncGenerator<number, void> {
  const accounts: AccountDocument[] = [];
  const lastIssued = await findLastIssued(db);
  for (const account of await findErasable(db, before)) {
    // Erasing the last statement would let its number be given again: waits until there is a later one.
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

/** Reads it from ids like `acc_…:2026-11-22T14`. */
function accountOfId(id: unknown): string {
  const text = String(id);
  return text.slice(0, Math.max(0, text.indexOf(':')));
}
