import type { Collection, Db } from 'mongodb';
import type { AccountDocument } from '../../money/accounts/account.ts';
import type { WithActs } from '../../platform/runtime/act.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * A prefix of an account whose traffic looks like fraud (workers/maintenance/traffic/). This document decides whether its sends are
 * refused; the list that gateways look at, `accounts.heldPrefixes`, follows from it and is made right by the maintenance.
 */
export interface HoldDocument extends WithActs {
  readonly _id: `${AccountId}:${string}`;
  readonly account: AccountId;
  readonly prefix: string;
  /**
   * watched → held, or watched → gone after a day in which it did not look like that any more. Only a person releases, and only what
   * is held: else one who fears the brake would have a prefix trusted before it holds. From then on the prefix is trusted for a week,
   * which is how long the document stays.
   */
  readonly state: 'watched' | 'held' | 'released';
  readonly since: Date;
  /** What was seen when it began. */
  readonly seen: Seen;
  readonly released?: { readonly at: Date; readonly by: string; readonly reason: string };
  /** Absent while it is held. */
  readonly expiresAt?: Date;
}

/** A prefix in the last two clock hours, and what is usual. Rates are parts of 1. */
export interface Seen {
  readonly messages: number;
  /** Its part of all messages of the account. */
  readonly portion: number;
  /** How many of its messages arrived, of those that could have by now. */
  readonly delivered: number;
  /** The most messages in two hours of the weeks before, its part then, and how many arrived. */
  readonly usualMessages: number;
  readonly usualPortion: number;
  readonly usualDelivered: number;
  /** How many codes of verifications were given back, and how many are usually. Absent where nobody knows. */
  readonly converted?: number;
  readonly usualConverted?: number;
}

const TRUSTED_MS = 7 * 86_400_000;

export function holdCollection(db: Db): Collection<HoldDocument> {
  return db.collection('traffic_holds');
}

/** What is watched, held or trusted of these accounts, the oldest first. */
export function readHolds(db: Db, accounts: readonly AccountId[]): Promise<HoldDocument[]> {
  return holdCollection(db)
    .find({ account: { $in: [...accounts] } })
    .sort({ since: 1 })
    .toArray();
}

/** Its sends are accepted again within seconds. Undefined when nothing is held there. Idempotent. */
export async function releaseHold(
  db: Db,
  account: AccountId,
  prefix: string,
  released: NonNullable<HoldDocument['released']>,
): Promise<HoldDocument | undefined> {
  const { at, by, reason } = released;
  const expiresAt = new Date(at.getTime() + TRUSTED_MS);
  const done = await holdCollection(db).findOneAndUpdate(
    { _id: `${account}:${prefix}`, state: 'held' },
    {
      $set: { state: 'released', released, expiresAt },
      $push: { unannounced: { event: 'traffic.released', at, told: { prefix, by, reason } } },
    },
    { returnDocument: 'after' },
  );
  const found = done ?? (await holdCollection(db).findOne({ _id: `${account}:${prefix}`, state: 'released' }));
  if (found !== null) await showHeld(db, account, { gone: [prefix], come: [] });
  return found ?? undefined;
}

/** Makes the account's list agree with what was decided. Idempotent. */
export async function showHeld(
  db: Db,
  account: AccountId,
  { gone, come }: { readonly gone: readonly string[]; readonly come: readonly string[] },
): Promise<void> {
  const accounts = db.collection<AccountDocument>('accounts');
  for (const prefix of gone) await accounts.updateOne({ _id: account }, { $pull: { heldPrefixes: prefix } });
  for (const prefix of come) {
    await accounts.updateOne(
      { _id: account, heldPrefixes: { $ne: prefix } },
      { $push: { heldPrefixes: { $each: [prefix] } } },
    );
  }
}

/** Country codes of one and of two digits (ITU-T E.164). All others have three. */
const ONE_DIGIT = /^[17]/;
const TWO_DIGITS = /^(?:2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;
/** Digits behind the country code: a block of an operator has some of them in common. */
const NATIONAL_DIGITS = 3;

/** The beginning of a number by which traffic is watched: its country code and three digits, `91987` or `99477 1`. */
export function prefixOf(number: string): string {
  const country = ONE_DIGIT.test(number) ? 1 : TWO_DIGITS.test(number) ? 2 : 3;
  return number.slice(0, country + NATIONAL_DIGITS);
}
