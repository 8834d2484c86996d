import type { Collection, Db, Filter } from 'mongodb';
import { type AccountId, type AuditId, lowestId } from '../runtime/ids.ts';
import type { AuditDocument, Ended, Intended } from './entry.ts';

const DAY_MS = 86_400_000;

/**
 * Writes that a change is about to be made. An id that is there already is that of the same change by the same actor within its
 * minute: `times` counts it then, and what was before all of them stays.
 */
export async function beginEntry(
  db: Db,
  id: AuditId,
  intended: Intended,
  { now, keptDays }: { readonly now: Date; readonly keptDays: number },
): Promise<void> {
  const { actor, action, subject, account, before } = intended;
  const begun = {
    ...{ at: now, actor, action, subject, expiresAt: new Date(now.getTime() + keptDays * DAY_MS) },
    ...(account === undefined ? {} : { account }),
    ...(before === undefined ? {} : { before }),
  };
  await entries(db).updateOne(
    { _id: id },
    { $setOnInsert: begun, $set: { outcome: 'begun' }, $inc: { times: 1 } },
    { upsert: true },
  );
}

/** Writes what became of it. */
export async function completeEntry(db: Db, id: AuditId, ended: Ended): Promise<void> {
  await entries(db).updateOne({ _id: id }, { $set: ended });
}

/** Takes back what was begun and changed nothing. Where earlier changes are the same entry it stays, and they ended so as `ended` says. */
export async function withdrawEntry(db: Db, id: AuditId, ended?: Ended): Promise<void> {
  const { deletedCount } = await entries(db).deleteOne({ _id: id, outcome: 'begun', times: 1 });
  if (deletedCount === 1) return;
  await entries(db).updateOne({ _id: id }, { ...(ended && { $set: ended }), $inc: { times: -1 } });
}

export interface AuditQuery {
  readonly account?: AccountId;
  readonly subject?: { readonly kind: string; readonly id: string };
  /** Changes from `since` on, and before `until`. */
  readonly since?: Date;
  readonly until?: Date;
  /** Entries behind this one. */
  readonly after?: AuditId;
}

/** An entry of a key stands at the beginning of its minute (`minuteAuditId`). */
const MINUTE_MS = 60_000;

/** Newest first, at most `limit`. By their ids, which are of the time of the change or of the beginning of its minute. */
export async function listEntries(db: Db, query: AuditQuery, limit: number): Promise<readonly AuditDocument[]> {
  const { account, subject, since, until, after } = query;
  // The bounds of ids are for the index; the times of the entries decide.
  const from = since && lowestId('aud', new Date(Math.max(since.getTime() - MINUTE_MS, 0)));
  const [below] = [after, until && lowestId('aud', until)].filter((id) => id !== undefined).sort();
  const ids = { ...(from && { $gte: from }), ...(below && { $lt: below }) };
  const times = { ...(since && { $gte: since }), ...(until && { $lt: until }) };
  const filter: Filter<AuditDocument> = {
    ...(account && { account }),
    ...(subject && { 'subject.kind': subject.kind, 'subject.id': subject.id }),
    ...((from || below) && { _id: ids }),
    ...((since || until) && { at: times }),
  };
  return entries(db).find(filter).sort({ _id: -1 }).limit(limit).toArray();
}

function entries(db: Db): Collection<AuditDocument> {
  return db.collection('audit');
}
