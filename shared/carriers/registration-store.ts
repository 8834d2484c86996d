import type { Db, Document } from 'mongodb';
import { type Quota, QuotaReached, withinQuota } from '../money/accounts/quotas.ts';
import { isDuplicateKey } from '../platform/mongo/errors.ts';
import type { WithActs } from '../platform/runtime/act.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

/** What an account asks for, or is given, and operators decide about: senders, CTAs. */
export interface Registration extends WithActs {
  readonly account: AccountId;
  readonly status: 'approved' | 'submitted' | 'rejected';
  /** The account may remove it and ask anew, so an approval names the registration that was read, by id. */
  readonly requested?: true;
  /** See money/accounts/quotas.ts. */
  readonly place?: number;
  readonly createdAt: Date;
  readonly decidedAt?: Date;
  readonly reason?: string;
}

/** By collection. A unique index keeps a registration from being in an account twice. */
type Registered = Extract<Quota, 'senders' | 'ctas'>;

/**
 * With `inPlace`, takes one of the account's places. False when the account has the registration already. Throws
 * `QuotaReached` when no place is free; `find` then looks whether the account has it already, which is then the answer.
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
  /** The event that tells the account, and its content. */
  readonly event: string;
  readonly told: Readonly<Record<string, string>>;
  readonly freesPlace: boolean;
}

/** One update decides, and carries the event. False when there is no such registration. Idempotent. */
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
