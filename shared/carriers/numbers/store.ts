import type { Collection, Db } from 'mongodb';
import type { AccountDocument } from '../../money/accounts/account.ts';
import { homeOf, numberPlan } from '../../money/accounts/number-check.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FreshCache } from '../../platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { completedNumber, type NumberDocument, type NumberKey, numberKey } from './number.ts';

/** The number with this keyword belongs to an account already. */
export class NumberTaken extends Error {
  readonly code = 'number_taken';
  readonly account: AccountId;

  constructor(account: AccountId) {
    super(`it belongs to ${account} already`);
    this.account = account;
  }
}

type NewNumber = Pick<NumberDocument, 'number' | 'keyword' | 'account'> & { readonly country?: string };

/** Stores a number. Workers know it within seconds. Throws `NumberTaken`; the document's unique id decides. */
export async function addNumber(db: Db, clock: Clock, added: NewNumber): Promise<NumberDocument> {
  const { number, keyword, account, country } = added;
  const plan = numberPlan(number);
  const document: NumberDocument = {
    _id: numberKey(number, keyword),
    number,
    keyword,
    account,
    ...(country === undefined ? plan : { ...plan, country }),
    createdAt: clock.now(),
  };
  try {
    await numbers(db).insertOne(document);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const holder = await numbers(db).findOne({ _id: document._id });
    throw new NumberTaken(holder?.account ?? account);
  }
  return document;
}

/** Removes a number. False when there is none. Messages that were received before stay with the account. */
export async function removeNumber(db: Db, number: string, keyword: string): Promise<boolean> {
  const { deletedCount } = await numbers(db).deleteOne({ _id: numberKey(number, keyword) });
  return deletedCount === 1;
}

/** The numbers of one account, or all, ordered by number and keyword, behind `after`. */
export function listNumbers(
  db: Db,
  account: AccountId | undefined,
  limit: number,
  after?: NumberKey,
): Promise<NumberDocument[]> {
  return numbers(db)
    .find({ ...(account === undefined ? {} : { account }), ...(after === undefined ? {} : { _id: { $gt: after } }) })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/** The entries of one number, ordered by keyword. */
export function findNumber(db: Db, number: string): Promise<NumberDocument[]> {
  return numbers(db).find({ number }).sort({ _id: 1 }).toArray();
}

/** Which of these are numbers of ours, of whatever account. */
export async function findOurs(db: Db, digits: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await numbers(db)
    .find({ number: { $in: [...digits] } }, { projection: { number: 1 } })
    .toArray();
  return new Set(found.map(({ number }) => number));
}

/** A change is used after this time at the latest. */
const FRESH_MS = 2_000;
/** How many numbers of accounts are remembered, and how many that belong to nobody; more than an account has. */
const NUMBERS_MAX = 10_000;

/** The entries of numbers, looked up by the digits that a carrier writes (`digitsOf`). */
export function createNumbers(db: Db, clock: Clock): FreshCache<string, readonly NumberDocument[]> {
  return new FreshCache({
    clock,
    freshMs: FRESH_MS,
    maxEntries: NUMBERS_MAX,
    readMany: (digits) => readNumbers(db, digits),
  });
}

/**
 * Looks up whole numbers first. A number that is not found is then read as one without country code, if only one of our numbers
 * fits.
 */
async function readNumbers(db: Db, digits: readonly string[]): Promise<ReadonlyMap<string, readonly NumberDocument[]>> {
  const nationals = digits.map(withoutTrunkPrefix);
  const found = await numbers(db)
    .find({ $or: [{ number: { $in: [...digits] } }, { national: { $in: nationals } }] })
    .toArray();
  const entries = digits.map((one): readonly [string, NumberDocument[]] => {
    const exact = found.filter(({ number }) => number === one);
    if (exact.length > 0) return [one, exact];
    const inside = found.filter(({ national }) => national === withoutTrunkPrefix(one));
    return [one, new Set(inside.map(({ number }) => number)).size === 1 ? inside : []];
  });
  return new Map(entries);
}

function withoutTrunkPrefix(digits: string): string {
  return digits.replace(/^0+/, '');
}

function numbers(db: Db): Collection<NumberDocument> {
  return db.collection('numbers');
}

/**
 * Completes a customer's number that somebody wrote as inside a country. `number`: the account's number that it is about, whose country
 * then counts.
 */
export type Completion = (written: string, number?: string) => string;

/**
 * How numbers that an account writes are completed: by the country of the number that they are about, else by the account's own, else
 * by that of all its numbers, if they are of one country. So an opt-out that is added has the same number as one that the customer
 * wrote. Reads the account and its numbers; throws the driver's error.
 */
export async function completionFor(db: Db, account: AccountId): Promise<Completion> {
  const { home, countries } = await readCountries(db, account);
  return (written, number = '') => completedNumber(written, countries.get(number) ?? home);
}

/** The country of senders that write to a number of the account that has none: as `completionFor` has it. */
export async function homeCountryOf(db: Db, account: AccountId): Promise<string | undefined> {
  return (await readCountries(db, account)).home;
}

interface Countries {
  readonly home: string | undefined;
  /** By the account's numbers. */
  readonly countries: ReadonlyMap<string, string>;
}

async function readCountries(db: Db, account: AccountId): Promise<Countries> {
  const [document, numbers] = await Promise.all([
    db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection: { country: 1, dlt: 1 } }),
    listNumbers(db, account, NUMBERS_MAX),
  ]);
  const countries = new Map(
    numbers.flatMap(({ number, country }) => (country === undefined ? [] : [[number, country]])),
  );
  const all = new Set(countries.values());
  const [only] = all;
  const home = (document === null ? undefined : homeOf(document)) ?? (all.size === 1 ? only : undefined);
  return { home, countries };
}
