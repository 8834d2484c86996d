import type { Collection, Db } from 'mongodb';
import type { MailId } from '../../platform/runtime/ids.ts';
import type { MailDocument } from './mail.ts';

/** The mails that are due, the oldest first. */
export function dueMails(db: Db, now: Date, limit: number): Promise<MailDocument[]> {
  return mailsOf(db)
    .find({ due: { $lte: now } })
    .sort({ due: 1 })
    .limit(limit)
    .toArray();
}

/** What became of a mail. The token of its link is removed. */
export async function endMail(
  db: Db,
  id: MailId,
  ended: Pick<MailDocument, 'state' | 'error' | 'failedAt'>,
): Promise<void> {
  await mailsOf(db).updateOne({ _id: id, state: 'waiting' }, { $set: ended, $unset: { due: '', sealed: '' } });
}

/** A try that failed. `due`: when it is tried again. `counts`: the server itself answered. */
export async function delayMail(
  db: Db,
  id: MailId,
  {
    due,
    error,
    failedAt,
    counts,
  }: Pick<MailDocument, 'error' | 'failedAt'> & { readonly due: Date; readonly counts: boolean },
): Promise<void> {
  const set = { due, ...(error !== undefined && { error }), ...(failedAt && { failedAt }) };
  await mailsOf(db).updateOne({ _id: id, state: 'waiting' }, { $set: set, $inc: { tries: counts ? 1 : 0 } });
}

/** How many mails wait, counted up to `most`, and the one that is due first. */
export async function waitingMails(db: Db, now: Date, most: number) {
  const waiting = { due: { $exists: true }, until: { $gt: now } };
  const [count, [next]] = await Promise.all([
    mailsOf(db).countDocuments(waiting, { limit: most }),
    mailsOf(db).find(waiting).sort({ due: 1 }).limit(1).toArray(),
  ]);
  return { count, next };
}

/** The mail whose try failed last. */
export async function lastFailedMail(db: Db): Promise<MailDocument | undefined> {
  const found = await mailsOf(db)
    .find({ failedAt: { $exists: true } })
    .sort({ failedAt: -1 })
    .limit(1)
    .toArray();
  return found[0];
}

/** The mails, newest first, after the one named. */
export function listMails(db: Db, after: MailId | undefined, limit: number): Promise<MailDocument[]> {
  return mailsOf(db)
    .find(after === undefined ? {} : { _id: { $lt: after } })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

function mailsOf(db: Db): Collection<MailDocument> {
  return db.collection('mails');
}
