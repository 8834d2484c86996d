import type { Collection, Db } from 'mongodb';
import type { Told } from '../platform/runtime/act.ts';
import type { AccountId, MailId, UserId } from '../platform/runtime/ids.ts';

/**
 * A mail to a user. The insert decides that it goes; its id derives from content and user, so there is one. It is
 * rendered when it is sent (workers/mail/render.ts), again with the same `Message-ID` after a crash.
 *
 * `waiting` (`due` set) → `sent`
 * `failed` (the server refused it for good)
 * `expired` (nobody took it in time).
 */
export interface MailDocument {
  readonly _id: MailId;
  /** The account of the user. Absent: an operator. */
  readonly account?: AccountId;
  readonly accountName?: string;
  readonly user: UserId;
  readonly to: string;
  /** The event that it tells of, or `link`: a one-time link. */
  readonly kind: string;
  readonly told: Readonly<Record<string, Told>>;
  /** The token of a link. Removed when the mail has ended. */
  readonly sealed?: string;
  readonly at: Date;
  readonly state: 'waiting' | 'sent' | 'failed' | 'expired';
  /** The time of the next try. Set in state `waiting` only. */
  readonly due?: Date;
  /** From then on it helps nobody. */
  readonly until: Date;
  readonly tries: number;
  readonly error?: string;
  readonly failedAt?: Date;
  readonly expiresAt: Date;
}

/** How long it is worth telling what happened. */
export const NOTICE_MS = 24 * 3_600_000;
/** How long a mail is kept for operators after it has ended. */
export const KEPT_MS = 14 * 24 * 3_600_000;
/** Limit of an account, or of all operators together. */
export const MAILS_PER_HOUR = 200;

export function dueMails(db: Db, now: Date, limit: number): Promise<MailDocument[]> {
  return mailsOf(db)
    .find({ due: { $lte: now } })
    .sort({ due: 1 })
    .limit(limit)
    .toArray();
}

/** The token of its link is removed. */
export async function endMail(
  db: Db,
  id: MailId,
  ended: Pick<MailDocument, 'state' | 'error' | 'failedAt'>,
): Promise<void> {
  await mailsOf(db).updateOne({ _id: id, state: 'waiting' }, { $set: ended, $unset: { due: '', sealed: '' } });
}

/** After a failed try. `due`: the next try. `counts`: the server itself answered. */
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

/** Counted up to `most`; `next`: the one that is due first. */
export async function waitingMails(db: Db, now: Date, most: number) {
  const waiting = { due: { $exists: true }, until: { $gt: now } };
  const [count, [next]] = await Promise.all([
    mailsOf(db).countDocuments(waiting, { limit: most }),
    mailsOf(db).find(waiting).sort({ due: 1 }).limit(1).toArray(),
  ]);
  return { count, next };
}

export async function lastFailedMail(db: Db): Promise<MailDocument | undefined> {
  const found = await mailsOf(db)
    .find({ failedAt: { $exists: true } })
    .sort({ failedAt: -1 })
    .limit(1)
    .toArray();
  return found[0];
}

/** Newest first, after the one named. */
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
