import type { Db } from 'mongodb';
import type { AccountDocument } from '../../money/accounts/account.ts';
import { homeOf } from '../../money/accounts/number-check.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { completedNumber } from './number.ts';
import { listNumbers } from './store.ts';

/**
 * Completes a customer's number that somebody wrote as inside a country. `number`: the account's number that it is about, whose country
 * then counts.
 */
export type Completion = (written: string, number?: string) => string;

/** More numbers than an account has. */
const NUMBERS_MAX = 10_000;

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
