import type { Collection, Db } from 'mongodb';
import { defined } from '../../platform/runtime/defined.ts';
import type { AuditId } from '../../platform/runtime/ids.ts';
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
    ...defined({ account, before }),
  };
  await entries(db).updateOne(
    { _id: id },
    { $setOnInsert: begun, $set: { outcome: 'begun' }, $inc: { times: 1 } },
    { upsert: true },
  );
}

/** Records what changed nothing: somebody looked. Again within the minute, `times` counts it. */
export async function noteEntry(
  db: Db,
  id: AuditId,
  { actor, action, subject, account }: Intended,
  { now, keptDays }: { readonly now: Date; readonly keptDays: number },
): Promise<void> {
  const expiresAt = new Date(now.getTime() + keptDays * DAY_MS);
  const noted = {
    ...{ at: now, actor, action, subject, expiresAt, outcome: 'done' as const },
    ...defined({ account }),
  };
  await entries(db).updateOne({ _id: id }, { $setOnInsert: noted, $inc: { times: 1 } }, { upsert: true });
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

/** The collection of the audit. */
export function entries(db: Db): Collection<AuditDocument> {
  return db.collection('audit');
}
