import type { Collection, Db } from 'mongodb';
import type { Daytime } from '../../messages/document/daytime.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type AccountId, newId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from './account.ts';
import type { PriceList } from './prices.ts';

export type NewAccount = Pick<AccountDocument, 'name' | 'currency' | 'expiryDate' | 'senders'> & {
  readonly dlt?: AccountDocument['dlt'];
  readonly entityId?: string | undefined;
  readonly numberCheck?: AccountDocument['numberCheck'] | undefined;
  readonly country?: string | undefined;
};
export type Balance = Pick<AccountDocument, 'balance' | 'currency' | 'expiryDate'>;

/** Creates an active account with a balance of 0. `id` must be new. */
export async function createAccount(
  db: Db,
  clock: Clock,
  account: NewAccount,
  id: AccountId = newId('acc', clock.now().getTime()),
): Promise<AccountDocument> {
  const now = clock.now();
  const document: AccountDocument = {
    _id: id,
    name: account.name,
    status: 'active',
    balance: 0,
    seq: 0,
    credits: 0,
    currency: account.currency,
    expiryDate: account.expiryDate,
    senders: account.senders,
    ...(account.dlt === undefined ? {} : { dlt: account.dlt }),
    ...(account.entityId === undefined ? {} : { entityId: account.entityId }),
    ...(account.numberCheck === undefined ? {} : { numberCheck: account.numberCheck }),
    ...(account.country === undefined ? {} : { country: account.country }),
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

/** Counts an opt-out that the account enters itself. False, and not counted, when it has entered `most`. */
export async function countOptOut(db: Db, id: AccountId, most: number): Promise<boolean> {
  const { matchedCount } = await accounts(db).updateOne(
    { _id: id, $or: [{ optOutsEntered: { $exists: false } }, { optOutsEntered: { $lt: most } }] },
    { $inc: { optOutsEntered: 1 } },
  );
  return matchedCount === 1;
}

/** The accounts that exist, in no order, without `pending`. */
export async function findAccounts(db: Db, ids: readonly AccountId[]): Promise<readonly AccountDocument[]> {
  return accounts(db)
    .find({ _id: { $in: ids } }, { projection: { pending: 0 } })
    .toArray();
}

/** For queries: no test accounts. */
export const LIVE = { test: { $exists: false } } as const;

/** All live accounts, oldest first (ids sort by time), without `pending`. */
export async function listAccounts(db: Db): Promise<readonly AccountDocument[]> {
  return accounts(db)
    .find(LIVE, { projection: { pending: 0 } })
    .sort({ _id: 1 })
    .toArray();
}

export type AccountChanges = {
  -readonly [Name in
    | 'name'
    | 'expiryDate'
    | 'senders'
    | 'dlt'
    | 'entityId'
    | 'log'
    | 'lineBreaks'
    | 'country'
    | 'optOutExempt'
    | 'keyPerMinute'
    | 'messageDays'
    | 'texts'
    | 'billing']?: AccountDocument[Name];
} & {
  readonly [Name in (typeof CHECKS)[number]]?: 'off' | NonNullable<AccountDocument[Name]>;
};
/** Those that are off are not stored. */
const CHECKS = ['numberCheck', 'ctaCheck'] as const;

/** Changes settings; gateways see them within seconds. False when there is no such account. Idempotent. */
export async function updateAccount(db: Db, id: AccountId, changes: AccountChanges): Promise<boolean> {
  const off = CHECKS.filter((name) => changes[name] === 'off');
  const set = Object.fromEntries(Object.entries(changes).filter(([name]) => off.every((one) => one !== name)));
  const unset = Object.fromEntries(off.map((name) => [name, '' as const]));
  const { matchedCount } = await accounts(db).updateOne({ _id: id }, { $set: set, $unset: unset });
  return matchedCount === 1;
}

const LIMITS = [
  'caps',
  'countries',
  'daytime',
  'recipientPerHour',
  'conversationMessages',
  'brake',
] as const satisfies readonly (keyof AccountDocument)[];

export type AccountLimits = Pick<AccountDocument, (typeof LIMITS)[number]>;

/** Sets all limits: those that are left out are removed. Idempotent. */
export async function setAccountLimits(db: Db, id: AccountId, limits: AccountLimits): Promise<void> {
  const unset = Object.fromEntries(
    LIMITS.filter((name) => limits[name] === undefined).map((name) => [name, '' as const]),
  );
  await accounts(db).updateOne({ _id: id }, { $set: limits, $unset: unset });
}

/** Sets the price list, and what a credit costs; an empty one is none. Idempotent. */
export async function setPrices(db: Db, id: AccountId, prices: PriceList, creditPrice = ''): Promise<void> {
  const set = { ...(prices.length > 0 && { prices }), ...(creditPrice !== '' && { creditPrice }) };
  const unset = {
    ...(prices.length === 0 && { prices: '' as const }),
    ...(creditPrice === '' && { creditPrice: '' as const }),
  };
  await accounts(db).updateOne({ _id: id }, { $set: set, $unset: unset });
}

/** No longer counts what these lines of keys have spent. Idempotent. */
export async function forgetKeysSpent(db: Db, id: AccountId, lines: readonly string[]): Promise<void> {
  const unset = Object.fromEntries(lines.map((line) => [`keysSpent.${line}`, '' as const]));
  await accounts(db).updateOne({ _id: id }, { $unset: unset });
}

/** Whether all users need a second factor, or owners only. */
export async function setSecondFactor(db: Db, id: AccountId, all: boolean): Promise<void> {
  const update = all ? { $set: { secondFactor: 'required' as const } } : { $unset: { secondFactor: '' as const } };
  await accounts(db).updateOne({ _id: id }, update);
}

/** At which balance it counts as low. Undefined: by the rate of the last week. */
export async function setLowBalance(db: Db, id: AccountId, threshold: number | undefined): Promise<void> {
  const update =
    threshold === undefined ? { $unset: { lowBalance: '' as const } } : { $set: { lowBalance: threshold } };
  await accounts(db).updateOne({ _id: id }, update);
}

/**
 * Applies to the next debit. Workers see it within seconds: `suspended` holds the waiting messages; `active` lets them go, also
 * those of a paused account. False when there is no such account, or it is closed. Idempotent.
 */
export async function setAccountStatus(db: Db, id: AccountId, status: 'active' | 'suspended'): Promise<boolean> {
  const { matchedCount } = await accounts(db).updateOne(
    { _id: id, ...NOT_CLOSED },
    status === 'active' ? { $set: { status }, $unset: { held: '' } } : { $set: { status, held: true } },
  );
  return matchedCount === 1;
}

/**
 * Holds the account's waiting messages and still accepts its sends, until `setAccountStatus`. False when there is no such
 * account, or it is closed. Idempotent.
 */
export async function pauseAccount(db: Db, id: AccountId): Promise<boolean> {
  const { matchedCount } = await accounts(db).updateOne({ _id: id, ...NOT_CLOSED }, { $set: { held: true } });
  return matchedCount === 1;
}

export const NOT_CLOSED = { status: { $ne: 'closed' } } as const;

/** The accounts whose messages must not be sent now. */
export async function readHeldAccounts(db: Db): Promise<ReadonlySet<AccountId>> {
  const held = await accounts(db)
    .find({ held: true }, { projection: { _id: 1 } })
    .toArray();
  return new Set(held.map(({ _id }) => _id));
}

/** The accounts whose SMS leave in the recipient's daytime only. */
export async function readDaytimes(db: Db): Promise<ReadonlyMap<AccountId, Daytime>> {
  const found = await accounts(db)
    .find({ 'daytime.from': { $exists: true } }, { projection: { daytime: 1 } })
    .toArray();
  return new Map(found.flatMap(({ _id, daytime }) => (daytime ? [[_id, daytime] as const] : [])));
}

const RULES = ['dlt', 'senders', 'optOuts', 'optOutExempt', 'countries', 'brake', 'heldPrefixes'] as const;

export type SendingRules = Pick<AccountDocument, (typeof RULES)[number]>;

/** The rules that these accounts' messages must meet to be sent. */
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

/** The accounts that log every answer and receipt (messages/settlement/message-log.ts). */
export async function readFullyLoggedAccounts(db: Db): Promise<ReadonlySet<AccountId>> {
  const found = await accounts(db)
    .find({ log: 'all' }, { projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

/** The accounts whose messages are kept for less than `days`. */
export function findShortRetentions(db: Db, days: number): Promise<Pick<AccountDocument, '_id' | 'messageDays'>[]> {
  return accounts(db)
    .find({ messageDays: { $exists: true, $lt: days } }, { projection: { messageDays: 1 } })
    .toArray();
}

/** The current balance. It includes every debit that was answered. */
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
