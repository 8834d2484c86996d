import type { Collection, Db } from 'mongodb';
import type { Notice } from '../../shared/events/account-event.ts';
import { NOTICES, type NoticeName } from '../../shared/events/catalogue.ts';
import { getsNotice } from '../../shared/events/notices.ts';
import { findAccount } from '../../shared/money/accounts/store.ts';
import { ownedBy } from '../../shared/people/erasure.ts';
import { KEPT_MS, MAILS_PER_HOUR, type MailDocument, NOTICE_MS } from '../../shared/people/mails/mail.ts';
import { addressOf, OPERATORS, type UserDocument } from '../../shared/people/users/user.ts';
import { isDuplicateKey } from '../../shared/platform/mongo/errors.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import type { Act } from '../../shared/platform/runtime/act.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { type AccountId, mailId, thingEventId } from '../../shared/platform/runtime/ids.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';

export interface TellDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly box: SecretBox;
}

/** Something that people are told of. */
export interface Notable extends Pick<Act, 'at' | 'told'> {
  readonly event: NoticeName;
  /** Absent: it concerns the operators alone. */
  readonly account?: AccountId | undefined;
  /** What it happened to. */
  readonly subject: string;
}

const HOUR_MS = 3_600_000;

/** What of this kind was told of a thing last, and when. */
interface ToldDocument {
  readonly _id: string;
  readonly account?: AccountId;
  /** When that happened, which names it. */
  readonly at: Date;
  readonly toldAt: Date;
  readonly expiresAt: Date;
}

/**
 * Whether this may be told: of one thing, one kind is told once in an hour. Asked again for the same, as after a crash, the answer is the
 * same.
 */
export async function mayTell(db: Db, what: Omit<Notable, 'told'>, now: Date): Promise<boolean> {
  const longAgo = { toldAt: { $lte: new Date(now.getTime() - HOUR_MS) } };
  try {
    await noteTold(db, what, now, { $or: [{ at: what.at }, longAgo] });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

type What = Omit<Notable, 'told' | 'at'>;

/** What was told of this kind and thing last, for two hours at least. */
export async function lastTold(db: Db, what: What): Promise<ToldDocument | undefined> {
  return (await toldOf(db).findOne({ _id: toldId(what) })) ?? undefined;
}

/** Notes that it is told now, if what was noted before fits `where`. */
export async function noteTold(db: Db, what: Omit<Notable, 'told'>, now: Date, where: object = {}): Promise<void> {
  const { at, account } = what;
  const set = { at, toldAt: now, expiresAt: new Date(now.getTime() + 2 * HOUR_MS), ...defined({ account }) };
  await toldOf(db).updateOne({ _id: toldId(what), ...where }, { $set: set }, { upsert: true });
}

function toldId({ event, account, subject }: What): string {
  return `${account ?? OPERATORS} ${event} ${subject}`;
}

function toldOf(db: Db): Collection<ToldDocument> {
  return db.collection('told');
}

/** Makes the mails that tell of it: one for each user who wants it. Their ids are derived, so that the same again adds nothing. */
export async function mailNotice(deps: TellDeps, notable: Notable): Promise<void> {
  const { event, account, subject, at, told } = notable;
  const notice: Notice = NOTICES[event];
  const users = await usersToTell(deps.db, notice, account);
  const wanted = users.filter(
    (user) => getsNotice(user, event) && (notice.mayGet !== 'self' || user._id === told.user_id),
  );
  const id = thingEventId(subject, event, at);
  const until = new Date(deps.clock.now().getTime() + NOTICE_MS);
  const mails = wanted.map((user) => ({ user, id, kind: event, told, at, until }));
  await insertMails(deps, account, mails);
}

/** Who makes users may give them anybody's address, and make links again and again. */
const LINKS_PER_HOUR = 5;

/** The mail with a one-time link, to whom it is for. The answer to who made the link has it too. */
export async function mailLink(deps: TellDeps, user: UserDocument, { at, told, sealed = '' }: Act): Promise<void> {
  const { db, clock, log } = deps;
  const [account, to = ''] = [user.account, addressOf(user)];
  const before = await db
    .collection<MailDocument>('mails')
    .countDocuments({ ...mailedLately(account, clock.now()), kind: 'link', to }, { limit: LINKS_PER_HOUR });
  if (before >= LINKS_PER_HOUR) return log.warn('mails_limited', { account, user_id: user._id, left_out: 1 });
  const id = `link ${at.getTime()}`;
  const place = ['mails', mailId(id, user._id, at), 'sealed'] as const;
  const token = deps.box.open(sealed, ['users', user._id, 'unannounced.sealed']);
  const until = new Date(String(told.expires_at));
  await insertMails(deps, user.account, [
    { user, id, kind: 'link', told, at, until, sealed: deps.box.seal(token, place) },
  ]);
}

type NewMail = Pick<MailDocument, 'kind' | 'told' | 'at' | 'until' | 'sealed'> & {
  readonly user: UserDocument;
  readonly id: string;
};

async function insertMails(deps: TellDeps, account: AccountId | undefined, all: readonly NewMail[]): Promise<void> {
  const accountName = account && all.length > 0 ? (await findAccount(deps.db, account))?.name : undefined;
  // Operators are told of accounts too.
  for (const owner of new Set(all.map(({ user }) => user.account))) {
    const mails = all.filter(({ user }) => user.account === owner);
    await insertOwned(deps, owner, accountName, mails);
  }
}

/** For users of one account, or for operators; what is more than anybody reads in an hour is left out. */
async function insertOwned(
  { db, clock, log }: TellDeps,
  account: AccountId | undefined,
  accountName: string | undefined,
  all: readonly NewMail[],
): Promise<void> {
  const now = clock.now();
  const addressed = all.flatMap((mail) => {
    const to = addressOf(mail.user);
    return to === undefined || mail.until <= now ? [] : [{ ...mail, to }];
  });
  if (addressed.length === 0) return;
  const before = await db
    .collection<MailDocument>('mails')
    .countDocuments(mailedLately(account, now), { limit: MAILS_PER_HOUR });
  const room = addressed.slice(0, MAILS_PER_HOUR - before);
  if (room.length < addressed.length) log.warn('mails_limited', { account, left_out: addressed.length - room.length });
  const mails = room.map(
    ({ user, id, to, kind, told, at, until, sealed }): MailDocument => ({
      ...{ _id: mailId(id, user._id, at), user: user._id, to, kind, told, at, until },
      ...defined({ account, accountName, sealed }),
      ...{ state: 'waiting', due: now, tries: 0, expiresAt: new Date(until.getTime() + KEPT_MS) },
    }),
  );
  await insertNew(db, 'mails', mails);
}

function mailedLately(account: AccountId | undefined, now: Date) {
  return { ...ownedBy(account), at: { $gt: new Date(now.getTime() - HOUR_MS) } };
}

/** Users of the account, and operators, whom it may concern. */
async function usersToTell(db: Db, notice: Notice, account: AccountId | undefined): Promise<UserDocument[]> {
  const { mayGet, alsoOperators } = notice;
  const role = mayGet === 'self' ? {} : { role: { $in: [...mayGet] } };
  const of = (whose: object) =>
    db
      .collection<UserDocument>('users')
      .find({ status: 'active', ...role, ...whose })
      .toArray();
  const own = await of(ownedBy(account));
  return account !== undefined && alsoOperators ? [...own, ...(await of(ownedBy(undefined)))] : own;
}
