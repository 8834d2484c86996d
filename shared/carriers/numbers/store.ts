import type { Collection, Db } from 'mongodb';
import { numberPlan } from '../../money/accounts/number-check.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FreshCache } from '../../platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { type NumberDocument, type NumberKey, numberKey } from './number.ts';

/** The number with this keyword belongs to an account already. */
export class NumberTaken extends Error {
  readonly code = 'number_taken';
  readonly account: AccountId;

  constructor(account: AccountId) {
    super(`it belongs to ${account} already`);
    this.account = account;
  }
}

export type NewNumber = Pick<NumberDocument, 'number' | 'keyword' | 'account'> & { readonly country?: string };

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
/** How many numbers of accounts are remembered, and how many that belong to nobody. */
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
