import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../platform/runtime/ids.ts';
import { type CountedHourDocument, type HourDocument, hourName } from './statistics-hour.ts';

export function hourCollection(db: Db): Collection<HourDocument> {
  return db.collection('statistics');
}

export function countedHourCollection(db: Db): Collection<CountedHourDocument> {
  return db.collection('counted_hours');
}

/** The hours of an account from `from` on in which it made messages, oldest first. */
export function readHours(db: Db, account: AccountId, from: Date): Promise<HourDocument[]> {
  return hourCollection(db)
    .find({ _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:9999-12-31T23` } })
    .sort({ _id: 1 })
    .toArray();
}

/** When hours were last counted. Undefined when they never were. */
export async function readNewestCount(db: Db): Promise<Date | undefined> {
  const [newest] = await countedHourCollection(db).find().sort({ _id: -1 }).limit(1).toArray();
  return newest?.countedAt;
}
