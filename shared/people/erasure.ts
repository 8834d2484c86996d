import type { Collection, Db } from 'mongodb';
import type { AccountId, ErasureId } from '../platform/runtime/ids.ts';

/**
 * A person's number that is to be erased, of one account or of all. Maintenance does so
 * (workers/maintenance/erase-number.ts) and comes back until nothing of the person waits any more; then the number goes
 * from here too.
 */
export interface ErasureDocument {
  readonly _id: ErasureId;
  /** Absent: an operator asked, and it is about all accounts. */
  readonly account?: AccountId;
  /** Digits with the country code, or the user id of a chat-app customer. Unset when it is done. */
  readonly number?: string;
  /** The masked number that stays: `9198******10`. */
  readonly shown: string;
  readonly at: Date;
  /** When maintenance looks at it next. Unset when it is done. */
  readonly due?: Date;
  readonly doneAt?: Date;
  readonly erased: number;
  /** Messages, or deliveries of theirs, that had not ended at the last look. */
  readonly waiting: number;
}

/** Unfinished ones of an account. */
export const ERASURES_MAX = 100;

export async function insertErasure(db: Db, erasure: ErasureDocument): Promise<void> {
  await erasures(db).insertOne(erasure);
}

export function countUnfinished(db: Db, account: AccountId): Promise<number> {
  return erasures(db).countDocuments({ account, due: { $exists: true } });
}

export async function findErasure(
  db: Db,
  account: AccountId | undefined,
  id: string,
): Promise<ErasureDocument | undefined> {
  const found = await erasures(db).findOne({ _id: id as ErasureId, ...ownedBy(account) }); // only compared with
  return found ?? undefined;
}

/** Newest first, after `before`. Without an account: those of operators. */
export function listErasures(
  db: Db,
  account: AccountId | undefined,
  limit: number,
  before?: ErasureId,
): Promise<ErasureDocument[]> {
  return erasures(db)
    .find({ ...ownedBy(account), ...(before && { _id: { $lt: before } }) })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

export async function findDueErasure(db: Db, now: Date): Promise<ErasureDocument | undefined> {
  return (await erasures(db).findOne({ due: { $lte: now } }, { sort: { due: 1 } })) ?? undefined;
}

/** After a look at it. `again`: when to look next; undefined ends it. */
export async function noteErasure(
  db: Db,
  { _id }: ErasureDocument,
  { erased, waiting, again, now }: { erased: number; waiting: number; again: Date | undefined; now: Date },
): Promise<void> {
  await erasures(db).updateOne(
    { _id },
    again === undefined
      ? { $set: { waiting: 0, doneAt: now }, $inc: { erased }, $unset: { number: '', due: '' } }
      : { $set: { waiting, due: again }, $inc: { erased } },
  );
}

function erasures(db: Db): Collection<ErasureDocument> {
  return db.collection('erasures');
}

/** Null finds missing fields along an index, while `$exists: false` would look at every document. */
export function ownedBy(account: AccountId | undefined): { readonly account: AccountId } {
  return { account: account ?? (null as never) };
}
