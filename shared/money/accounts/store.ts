import type { Collection, Db } from 'mongodb';
import type { Daytime } from '../../messages/document/routing.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { defined } from '../../platform/runtime/defined.ts';
import { type AccountId, newId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, Closed } from './account.ts';

export type NewAccount = Pick<AccountDocument, 'name' | 'currency' | 'expiryDate' | 'senders'> & {
  readonly dlt?: AccountDocument['dlt'];
  readonly entityId?: string | undefined;
  readonly numberCheck?: AccountDocument['numberCheck'] | undefined;
  readonly country?: string | undefined;
};
export type Balance = Pick<AccountDocument, 'balance' | 'currency' | 'expiryDate'>;

/** Active, with a balance of 0. `id` must be new. */
export async function createAccount(
  db: Db,
  clock: Clock,
  { name, currency, expiryDate, senders, dlt, entityId, numberCheck, country }: NewAccount,
  id: AccountId = newId('acc', clock.now().getTime()),
): Promise<AccountDocument> {
  const now = clock.now();
  const document: AccountDocument = {
    _id: id,
    name,
    status: 'active',
    ...{ balance: 0, seq: 0, credits: 0 },
    ...{ currency, expiryDate, senders },
    ...defined({ dlt, entityId, numberCheck, country }),
    createdAt: now,
  };
  await accounts(db).insertOne(document);
  return document;
}

/** Without `pending`: it may be large, and only the code that moves credits needs it. */
export async function findAccount(db: Db, id: AccountId): Promise<AccountDocument | undefined> {
  return (await accounts(db).findOne({ _id: id }, { projection: { pending: 0 } })) ?? undefined;
}

/** From now on, sends of these accounts look into the list of opt-outs. */
export async function markOptOuts(db: Db, ids: readonly AccountId[]): Promise<void> {
  await accounts(db).updateMany({ _id: { $in: ids }, optOuts: { $ne: true } }, { $set: { optOuts: true } });
}

/** Counts an opt-out that the account enters. False, and not counted, when it has entered `most`. */
export async function countOptOut(db: Db, id: AccountId, most: number): Promise<boolean> {
  const { matchedCount } = await accounts(db).updateOne(
    { _id: id, $or: [{ optOutsEntered: { $exists: false } }, { optOutsEntered: { $lt: most } }] },
    { $inc: { optOutsEntered: 1 } },
  );
  return matchedCount === 1;
}

export async function findAccounts(db: Db, ids: readonly AccountId[]): Promise<readonly AccountDocument[]> {
  return accounts(db)
    .find({ _id: { $in: ids } }, { projection: { pending: 0 } })
    .toArray();
}

/** For queries: no test accounts. */
export const LIVE = { test: { $exists: false } } as const;

/** Oldest first (ids sort by time), without `pending`. */
export async function listAccounts(db: Db): Promise<readonly AccountDocument[]> {
  return accounts(db)
    .find(LIVE, { projection: { pending: 0 } })
    .sort({ _id: 1 })
    .toArray();
}

export type AccountChanges = {
  readonly [Name in
    | 'name'
    | 'expiryDate'
    | 'senders'
    | 'dlt'
    | 'entityId'
    | 'numberCheck'
    | 'ctaCheck'
    | 'log'
    | 'lineBreaks'
    | 'country'
    | 'optOutExempt'
    | 'keyPerMinute'
    | 'messageDays'
    | 'texts'
    | 'billing'
    | 'secondFactor'
    | 'lowBalance'
    | 'prices'
    | 'creditPrice'
    | 'caps'
    | 'countries'
    | 'daytime'
    | 'recipientPerHour'
    | 'conversationMessages'
    | 'brake']?: AccountDocument[Name] | undefined;
};

/** Undefined settings are removed. Gateways and workers see the change within seconds. Idempotent. */
export async function updateAccount(db: Db, id: AccountId, changes: AccountChanges): Promise<void> {
  const unset = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [[name, '']] : []));
  await accounts(db).updateOne({ _id: id }, { $set: defined(changes), $unset: Object.fromEntries(unset) });
}

/** No longer counts what these lines of keys have spent. Idempotent. */
export async function forgetKeysSpent(db: Db, id: AccountId, lines: readonly string[]): Promise<void> {
  const unset = Object.fromEntries(lines.map((line) => [`keysSpent.${line}`, '' as const]));
  await accounts(db).updateOne({ _id: id }, { $unset: unset });
}

/**
 * Applies to the next debit. Workers see it within seconds: `suspended` holds the waiting messages; `active` lets them
 * go, also those of a paused account. False when there is no such account, or it is closed. Idempotent.
 */
export async function setAccountStatus(db: Db, id: AccountId, status: 'active' | 'suspended'): Promise<boolean> {
  const { matchedCount } = await accounts(db).updateOne(
    { _id: id, ...NOT_CLOSED },
    status === 'active' ? { $set: { status }, $unset: { held: '' } } : { $set: { status, held: true } },
  );
  return matchedCount === 1;
}

/** Holds waiting messages and accepts sends, until `setAccountStatus`. False: none such, or closed. Idempotent. */
export async function pauseAccount(db: Db, id: AccountId): Promise<boolean> {
  const { matchedCount } = await accounts(db).updateOne({ _id: id, ...NOT_CLOSED }, { $set: { held: true } });
  return matchedCount === 1;
}

export const NOT_CLOSED = { status: { $ne: 'closed' } } as const;

/** Those whose messages must not be sent now (`held`), or that log every answer and receipt (`log`). */
export async function readAccountsThat(
  db: Db,
  which: { readonly held: true } | { readonly log: 'all' },
): Promise<ReadonlySet<AccountId>> {
  const found = await accounts(db)
    .find(which, { projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

export async function readDaytimes(db: Db): Promise<ReadonlyMap<AccountId, Daytime>> {
  const found = await accounts(db)
    .find({ 'daytime.from': { $exists: true } }, { projection: { daytime: 1 } })
    .toArray();
  return new Map(found.flatMap(({ _id, daytime }) => (daytime ? [[_id, daytime] as const] : [])));
}

const RULES = ['dlt', 'senders', 'optOuts', 'optOutExempt', 'countries', 'brake', 'heldPrefixes'] as const;

export type SendingRules = Pick<AccountDocument, (typeof RULES)[number]>;

export async function readSendingRules(
  db: Db,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, SendingRules>> {
  const projection = Object.fromEntries(RULES.map((name) => [name, 1]));
  const found = await accounts(db)
    .find({ _id: { $in: [...ids] } }, { projection })
    .toArray();
  return new Map(found.map((account) => [account._id, account]));
}

export function findShortRetentions(db: Db, days: number): Promise<Pick<AccountDocument, '_id' | 'messageDays'>[]> {
  return accounts(db)
    .find({ messageDays: { $exists: true, $lt: days } }, { projection: { messageDays: 1 } })
    .toArray();
}

/** Includes every debit that was answered. */
export async function readBalance(db: Db, id: AccountId): Promise<Balance | undefined> {
  const found = await accounts(db).findOne<Balance>(
    { _id: id },
    { projection: { _id: 0, balance: 1, currency: 1, expiryDate: 1 } },
  );
  return found ?? undefined;
}

function accounts(db: Db): Collection<AccountDocument> {
  return db.collection('accounts');
}

/** `paid_out`: the customer was paid for the credits that were left. */
export const REMAINING = ['paid_out', 'forfeited'] as const satisfies readonly Closed['remaining'][];

/** For good. Undefined when there is none, or it was closed before. */
export async function closeAccount(
  db: Db,
  id: AccountId,
  closed: Pick<Closed, 'at' | 'by' | 'reason' | 'remaining'>,
): Promise<AccountDocument | undefined> {
  const changed = await accounts(db).findOneAndUpdate(
    { _id: id, status: { $ne: 'closed' } },
    { $set: { status: 'closed', held: true, closed: { ...closed, settleAt: closed.at } } },
    { returnDocument: 'after', projection: { pending: 0 } },
  );
  return changed ?? undefined;
}

export function findUnsettled(db: Db, now: Date): Promise<AccountDocument[]> {
  return accounts(db)
    .find(
      { 'closed.at': { $exists: true, $lte: now }, 'closed.settleAt': { $lte: now } },
      { projection: { pending: 0 } },
    )
    .sort({ 'closed.at': 1 })
    .limit(50)
    .toArray();
}

/** Something of it still waits: look at it again at `at`. */
export async function settleLater(db: Db, id: AccountId, at: Date): Promise<void> {
  await accounts(db).updateOne(
    { _id: id, 'closed.settledAt': { $exists: false } },
    { $set: { 'closed.settleAt': at } },
  );
}

export async function markSettled(db: Db, id: AccountId, now: Date): Promise<void> {
  await accounts(db).updateOne({ _id: id }, { $set: { 'closed.settledAt': now }, $unset: { 'closed.settleAt': '' } });
}

/** Closed and settled before `before`, and not erased yet. */
export function findErasable(db: Db, before: Date): Promise<AccountDocument[]> {
  return accounts(db)
    .find(
      { 'closed.at': { $lt: before }, 'closed.settledAt': { $exists: true }, 'closed.erasedAt': { $exists: false } },
      { projection: { pending: 0 } },
    )
    .limit(50)
    .toArray();
}

/** The last step of erasing: no name, no settings, and a ledger of no entries. Only the account's existence stays. */
export async function markErased(
  db: Db,
  { _id, currency, createdAt, closed }: AccountDocument,
  now: Date,
): Promise<void> {
  if (closed === undefined) throw new Error('only a closed account can be erased');
  const { at, by, remaining, settledAt } = closed;
  await accounts(db).replaceOne(
    { _id, status: 'closed' },
    {
      ...{
        name: 'erased',
        status: 'closed',
        balance: 0,
        seq: 0,
        credits: 0,
        currency,
        expiryDate: '1970-01-01',
      },
      ...{ senders: 'registered', createdAt },
      closed: { at, by, reason: '', remaining, ...(settledAt && { settledAt }), erasedAt: now },
    },
  );
}
