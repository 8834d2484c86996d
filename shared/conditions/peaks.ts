import type { Collection, Db } from 'mongodb';
import { HOUR_MS, type HourName, hourName, hourStart } from '../messages/statistics.ts';

/** The highest values of each carrier in one hour, for charts. A month of it is 720 small documents. */
export interface PeakDocument {
  readonly _id: HourName;
  /** By carrier. */
  readonly carriers: Readonly<Record<string, Peaks>>;
  readonly expiresAt: Date;
}

export interface Peaks {
  /** Messages that wait for it: in queues that it serves, and for their next try. */
  readonly waiting: number;
  /** Milliseconds until a submit is answered, of the last thousand. Absent: it has answered nothing. */
  readonly p50?: number;
  readonly p99?: number;
}

const KEPT_MS = 32 * 24 * HOUR_MS;

/** May be repeated. */
export async function raisePeaks(db: Db, now: Date, peaks: ReadonlyMap<string, Peaks>): Promise<void> {
  const fields = [...peaks].flatMap(([carrier, all]) =>
    Object.entries(all).map(([name, value]) => [`carriers.${carrier}.${name}`, value] as const),
  );
  if (fields.length === 0) return;
  const _id = hourName(now);
  const expiresAt = new Date(hourStart(_id).getTime() + KEPT_MS);
  await peaksOf(db).updateOne({ _id }, { $max: { expiresAt, ...Object.fromEntries(fields) } }, { upsert: true });
}

/** Oldest first. */
export function readPeaks(db: Db, from: Date): Promise<PeakDocument[]> {
  return peaksOf(db)
    .find({ _id: { $gte: hourName(from) } })
    .sort({ _id: 1 })
    .toArray();
}

function peaksOf(db: Db): Collection<PeakDocument> {
  return db.collection('carrier_peaks');
}
