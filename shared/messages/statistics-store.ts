import type { Collection, Db } from 'mongodb';
import { type CountedHourDocument, type Counter, type HourDocument, hourName } from './statistics-hour.ts';

/** Hours of one read, which are parsed at once: with the most rows of an account each some 400 KB. */
const TRAFFIC_SLICE = 4;

export function hourCollection(db: Db): Collection<HourDocument> {
  return db.collection('statistics');
}

export function countedHourCollection(db: Db): Collection<CountedHourDocument> {
  return db.collection('counted_hours');
}

/** The hours of an account from `from` on in which it made messages, oldest first, without `traffic`. */
export function readHours(db: Db, account: Counter, from: Date): Promise<Omit<HourDocument, 'traffic'>[]> {
  return hourCollection(db)
    .find({ _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:9999-12-31T23` } })
    .project<Omit<HourDocument, 'traffic'>>({ traffic: 0 })
    .sort({ _id: 1 })
    .toArray();
}

/** Their traffic, in the hours that begin at `from` or later and before `to`, oldest first. */
export function readTraffic(
  db: Db,
  account: Counter,
  from: Date,
  to: Date,
): AsyncIterable<Pick<HourDocument, '_id' | 'account' | 'traffic'>> {
  return hourCollection(db)
    .find(
      { _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:${hourName(to)}` } },
      { batchSize: TRAFFIC_SLICE },
    )
    .project<Pick<HourDocument, '_id' | 'account' | 'traffic'>>({ account: 1, traffic: 1 })
    .sort({ _id: 1 });
}

/** When hours were last counted. Undefined when they never were. */
export async function readNewestCount(db: Db): Promise<Date | undefined> {
  const [newest] = await countedHourCollection(db).find().sort({ _id: -1 }).limit(1).toArray();
  return newest?.countedAt;
}
