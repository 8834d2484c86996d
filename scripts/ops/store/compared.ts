import type { Collection, Db } from 'mongodb';
import { STATE_COLLECTION } from '../../../shared/store-access/access-store.ts';

/** What the comparison of a whole copy found. */
export interface Compared {
  readonly collections: Readonly<Record<string, { readonly documents: number; readonly sha256: string }>>;
  readonly documents: number;
  readonly bytes: number;
  readonly ledgers: number;
  /** The sum over all accounts; the same on both sides. */
  readonly balances: number;
}

/** Kept in the target until the move is done: then everything of its period is removed. */
interface ComparedDocument {
  readonly _id: 'compared';
  readonly period: string;
  readonly at: Date;
  readonly found: Compared;
}

/** Notes that the copy of this period is whole, and when that was. From then on the target has what the source has not. */
export async function noteCompared(target: Db, period: string, at: Date, found: Compared): Promise<void> {
  await states(target).replaceOne({ _id: 'compared' }, { period, at, found }, { upsert: true });
}

/** What an earlier call has noted in this period. */
export async function readCompared(
  target: Db,
  period: string,
): Promise<Pick<ComparedDocument, 'at' | 'found'> | undefined> {
  return (await states(target).findOne({ _id: 'compared', period })) ?? undefined;
}

function states(db: Db): Collection<ComparedDocument> {
  return db.collection<ComparedDocument>(STATE_COLLECTION);
}
