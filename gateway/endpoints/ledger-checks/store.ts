import type { Collection, Db } from 'mongodb';
import type { LedgerCheckId } from '../../../shared/platform/runtime/ids.ts';
import type { LedgerCheckDocument } from './ledger-check.ts';

export async function insertCheck(db: Db, check: LedgerCheckDocument): Promise<void> {
  await checks(db).insertOne(check);
}

export async function noteProgress(
  db: Db,
  id: LedgerCheckId,
  progress: Pick<LedgerCheckDocument, 'state' | 'at' | 'done' | 'total' | 'entries' | 'broken'>,
): Promise<void> {
  await checks(db).updateOne({ _id: id }, { $set: progress });
}

export async function findCheck(db: Db, id: LedgerCheckId): Promise<LedgerCheckDocument | undefined> {
  return (await checks(db).findOne({ _id: id })) ?? undefined;
}

/** Newest first, older than `before`. */
export async function listChecks(
  db: Db,
  limit: number,
  before?: LedgerCheckId,
): Promise<readonly LedgerCheckDocument[]> {
  const place = before === undefined ? {} : { _id: { $lt: before } };
  return checks(db).find(place).sort({ _id: -1 }).limit(limit).toArray();
}

function checks(db: Db): Collection<LedgerCheckDocument> {
  return db.collection('ledger_checks');
}
