import { hash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { insertNew } from '../../platform/mongo/insert-new.ts';

/** A receipt that an HTTP carrier posted. The holder of the carrier's lease settles it and removes it. */
export interface CallbackReceipt {
  /** A hash of the receipt, so that the same receipt, posted again, is stored once. */
  readonly _id: string;
  readonly carrier: string;
  readonly at: Date;
  readonly id: string;
  /** The words for the message's state, the most exact first. */
  readonly words: readonly string[];
  readonly error?: string;
  readonly to?: string;
  /** For receipts that nobody settles, such as those of a removed carrier. */
  readonly expiresAt: Date;
}

export type ToldReceipt = Pick<CallbackReceipt, 'id' | 'words' | 'error' | 'to'>;

const KEPT_MS = 7 * 86_400_000;

/** Resolves when they are durable. May be repeated. Rejects with the store's error. */
export async function keepReceipts(db: Db, carrier: string, told: readonly ToldReceipt[], now: Date): Promise<void> {
  const expiresAt = new Date(now.getTime() + KEPT_MS);
  const documents: CallbackReceipt[] = told.map((one) => ({
    _id: hash('sha256', JSON.stringify([carrier, one]), 'base64url'),
    carrier,
    at: now,
    ...one,
    expiresAt,
  }));
  await insertNew(db, 'carrier_callbacks', documents);
}

export function oldestReceipts(db: Db, carrier: string, limit: number): Promise<readonly CallbackReceipt[]> {
  return callbacks(db).find({ carrier }).sort({ at: 1 }).limit(limit).toArray();
}

export async function removeReceipts(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await callbacks(db).deleteMany({ _id: { $in: [...ids] } });
}

function callbacks(db: Db): Collection<CallbackReceipt> {
  return db.collection('carrier_callbacks');
}
