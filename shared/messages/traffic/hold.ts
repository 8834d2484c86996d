import type { Collection, Db } from 'mongodb';
import type { AccountDocument } from '../../money/accounts/account.ts';
import type { WithActs } from '../../platform/runtime/act.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * A prefix of an account whose traffic looks like fraud (workers/maintenance/traffic/). This document decides whether
 * its sends are refused; gateways look at `accounts.heldPrefixes`, which maintenance derives from it.
 */
export interface HoldDocument extends WithActs {
  readonly _id: `${AccountId}:${string}`;
  readonly account: AccountId;
  readonly prefix: string;
  /**
   * watched → held, or watched → gone after a day without suspicion. Only what is held can be released, and only by a
   * person: else one could have a prefix trusted before it is held. A released prefix is trusted for a week, as long as
   * the document stays.
   */
  readonly state: 'watched' | 'held' | 'released';
  readonly since: Date;
  readonly seen: Seen;
  readonly released?: { readonly at: Date; readonly by: string; readonly reason: string };
  /** Absent while it is held. */
  readonly expiresAt?: Date;
}

/** A prefix in the last two clock hours, and what is usual. Rates are parts of 1. */
export interface Seen {
  readonly messages: number;
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

/** Watched, held or trusted prefixes of these accounts, the oldest first. */
export function readHolds(db: Db, accounts: readonly AccountId[]): Promise<HoldDocument[]> {
  return holdCollection(db)
    .find({ account: { $in: [...accounts] } })
    .sort({ since: 1 })
    .toArray();
}

/** Sends to the prefix are accepted again within seconds. Undefined when nothing is held. Idempotent. */
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

/** Makes the account's list agree with the decisions. Idempotent. */
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
/** Digits after the country code, which the numbers of an operator's block share. */
const NATIONAL_DIGITS = 3;

/** By which traffic is watched: country code and three digits, `91987` or `994771`. */
export function prefixOf(number: string): string {
  const country = ONE_DIGIT.test(number) ? 1 : TWO_DIGITS.test(number) ? 2 : 3;
  return number.slice(0, country + NATIONAL_DIGITS);
}
