import type { Collection, Db } from 'mongodb';
import type { AccountDocument } from '../../money/accounts/account.ts';
import { homeOf, numberPlan } from '../../money/accounts/number-check.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FreshCache } from '../../platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { completedNumber, type NumberDocument, type NumberKey, numberKey } from './number.ts';

export class NumberTaken extends Error {
  readonly code = 'number_taken';
  readonly account: AccountId;

  constructor(account: AccountId) {
    super(`it belongs to ${account} already`);
    this.account = account;
  }
}

type NewNumber = Pick<NumberDocument, 'number' | 'keyword' | 'account'> & { readonly country?: string };

/** Workers know it within seconds. Throws `NumberTaken`; the unique id decides. */
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

/** False when there is none. Messages received before stay with the account. */
export async function removeNumber(db: Db, number: string, keyword: string): Promise<boolean> {
  const { deletedCount } = await numbers(db).deleteOne({ _id: numberKey(number, keyword) });
  return deletedCount === 1;
}

/** The numbers of one account, or of all; ordered by number and keyword. */
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

export function findNumber(db: Db, number: string): Promise<NumberDocument[]> {
  return numbers(db).find({ number }).sort({ _id: 1 }).toArray();
}

/** Which of these are numbers of ours, of any account. */
export async function findOurs(db: Db, digits: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await numbers(db)
    .find({ number: { $in: [...digits] } }, { projection: { number: 1 } })
    .toArray();
  return new Set(found.map(({ number }) => number));
}

const FRESH_MS = 2_000;
/** Most remembered numbers of accounts, and most remembered numbers that belong to nobody. */
const NUMBERS_MAX = 10_000;

/** By the digits that a carrier writes (`digitsOf`). */
export function createNumbers(db: Db, clock: Clock): FreshCache<string, readonly NumberDocument[]> {
  return new FreshCache({
    clock,
    freshMs: FRESH_MS,
    maxEntries: NUMBERS_MAX,
    readMany: (digits) => readNumbers(db, digits),
  });
}

/** A number that is not found whole is read as one without country code, if exactly one of our numbers fits. */
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

/** Adds the country code to a customer's number. `number`: what the customer writes to; its country counts. */
export type Completion = (written: string, number?: string) => string;

/**
 * Completes numbers by the country of the account's number that they are about, else by the account's own, else by that
 * of all its numbers if they share one. So an opt-out that the account adds has the same number as one that the
 * customer sends.
 */
export async function completionFor(db: Db, account: AccountId): Promise<Completion> {
  const { home, countries } = await readCountries(db, account);
  return (written, number = '') => completedNumber(written, countries.get(number) ?? home);
}

/** The country of senders to an account's number that has no country: as in `completionFor`. */
export async function homeCountryOf(db: Db, account: AccountId): Promise<string | undefined> {
  return (await readCountries(db, account)).home;
}

interface Countries {
  readonly home: string | undefined;
  /** By the account's number. */
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
