import type { Collection, Db, Filter } from 'mongodb';
import { type AccountId, type AuditId, lowestId } from '../runtime/ids.ts';
import type { AuditDocument, Ended, Intended } from './entry.ts';

const DAY_MS = 86_400_000;

/**
 * Records a change that is about to be made. If the id exists, the same actor made the same change in the same minute: `times`
 * counts it, and `before` stays as it was before all of them.
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

/** Records the result of the change. */
export async function completeEntry(db: Db, id: AuditId, ended: Ended): Promise<void> {
  await entries(db).updateOne({ _id: id }, { $set: ended });
}

/**
 * Withdraws a change that did nothing. Its entry is removed, unless it also stands for earlier changes of the same minute: then
 * only `times` is lowered, and the outcome is `ended` or, without it, that of the earlier changes.
 */
export async function withdrawEntry(db: Db, id: AuditId, ended?: Ended): Promise<void> {
  const { deletedCount } = await entries(db).deleteOne({ _id: id, outcome: 'begun', times: 1 });
  if (deletedCount === 1) return;
  await entries(db).updateOne({ _id: id }, { ...(ended && { $set: ended }), $inc: { times: -1 } });
  // An entry without `after` stays `begun`: an earlier change is still under way.
  if (ended === undefined)
    await entries(db).updateOne({ _id: id, after: { $exists: true } }, { $set: { outcome: 'done' } });
}

export interface AuditQuery {
  readonly account?: AccountId;
  readonly subject?: { readonly kind: string; readonly id: string };
  /** Changes at or after `since` and before `until`. */
  readonly since?: Date;
  readonly until?: Date;
  /** Continue after this entry. */
  readonly after?: AuditId;
}

/** An entry of a key or user has an id with the time at which its minute began (`minuteAuditId`). */
const MINUTE_MS = 60_000;

/** Newest first, at most `limit`. Sorted by id: ids carry the time of the change, or of the beginning of its minute. */
export async function listEntries(db: Db, query: AuditQuery, limit: number): Promise<readonly AuditDocument[]> {
  const { account, subject, since, until, after } = query;
  // The id bounds only make use of the index; the entries' own times decide.
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
