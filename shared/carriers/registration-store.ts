import type { Db, Document } from 'mongodb';
import { type Quota, QuotaReached, withinQuota } from '../money/accounts/quotas.ts';
import { isDuplicateKey } from '../platform/mongo/errors.ts';
import type { WithActs } from '../platform/runtime/act.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

/** What an account asks for, or is given, and operators decide about: senders, CTAs. */
export interface Registration extends WithActs {
  readonly account: AccountId;
  readonly status: 'approved' | 'submitted' | 'rejected';
  /** The account asked for it itself, and may remove it and ask anew. So an approval names the registration that was read, by id. */
  readonly requested?: true;
  /** Its place (money/accounts/quotas.ts). */
  readonly place?: number;
  readonly createdAt: Date;
  /** Time of the newest decision, and what was said with it, for people. */
  readonly decidedAt?: Date;
  readonly reason?: string;
}

/** Kinds of registrations, by their collection. Each is registered to an account once: a unique index decides. */
type Registered = Extract<Quota, 'senders' | 'ctas'>;

/**
 * Inserts a registration, with `inPlace` in a place of the account's. False when the account has it already. Throws `QuotaReached` when
 * there is no place for it. `find`: whether it is there, for an account without places, which is told so all the same.
 */
export async function insertRegistration(
  db: Db,
  collection: Registered,
  document: Registration,
  { inPlace, find }: { readonly inPlace: boolean; find(): Promise<unknown> },
): Promise<boolean> {
  const insert = (more: object) => db.collection(collection).insertOne({ ...document, ...more });
  try {
    if (inPlace) await withinQuota(db, collection, document.account, (place) => insert({ place }));
    else await insert({});
    return true;
  } catch (error) {
    const mayExist = error instanceof QuotaReached && (await find());
    if (!mayExist && !isDuplicateKey(error)) throw error;
    return false;
  }
}

export interface RegistrationDecision {
  readonly status: 'approved' | 'rejected';
  readonly reason: string | undefined;
  readonly at: Date;
  /** The event that tells the account, and what it names. */
  readonly event: string;
  readonly told: Readonly<Record<string, string>>;
  /** Whether an approval frees its place. */
  readonly freesPlace: boolean;
}

/** Decides by one update, which carries what is to be told. False when there is no such registration. Idempotent. */
export async function decideRegistration(
  db: Db,
  collection: Registered,
  which: Document,
  { status, reason, at, event, told, freesPlace }: RegistrationDecision,
): Promise<boolean> {
  const act = { event, at, told: { ...told, reason: reason ?? null } };
  const gone = [...(reason === undefined ? ['reason'] : []), ...(status === 'approved' && freesPlace ? ['place'] : [])];
  const { matchedCount } = await db.collection<Registration>(collection).updateOne(which, {
    $set: { status, decidedAt: at, ...(reason === undefined ? {} : { reason }) },
    $push: { unannounced: act },
    ...(gone.length === 0 ? {} : { $unset: Object.fromEntries(gone.map((name) => [name, ''])) }),
  });
  return matchedCount === 1;
}
