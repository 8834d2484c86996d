import type { Collection, Db } from 'mongodb';
import type { CtaDocument } from '../../shared/carriers/cta.ts';
import type { SenderDocument } from '../../shared/carriers/sender.ts';
import { type ConditionDocument, conditionsOf, PRESENT } from '../../shared/conditions/condition.ts';
import type { Notice } from '../../shared/events/account-event.ts';
import {
  ACCOUNT_EVENT_NAMES,
  type AccountEventName,
  CONDITION_NOTICES,
  NOTICES,
  type NoticeName,
  type TemplateChange,
  type UnannouncedTemplateEvent,
  type VerificationEnd,
} from '../../shared/events/catalogue.ts';
import { getsNotice } from '../../shared/events/notices.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import { type VerificationDocument, verificationsOf } from '../../shared/messages/document/verification.ts';
import type { HoldDocument } from '../../shared/messages/traffic/hold.ts';
import { findAccount } from '../../shared/money/accounts/store.ts';
import { ownedBy } from '../../shared/people/erasure.ts';
import type { KeyDocument } from '../../shared/people/keys/key.ts';
import { KEPT_MS, MAILS_PER_HOUR, type MailDocument, NOTICE_MS } from '../../shared/people/mails.ts';
import { addressOf, OPERATORS, type UserDocument } from '../../shared/people/users/user.ts';
import { isDuplicateKey } from '../../shared/platform/mongo/errors.ts';
import { insertNew } from '../../shared/platform/mongo/insert-new.ts';
import type { Act, Told, WithActs } from '../../shared/platform/runtime/act.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { type AccountId, mailId, thingEventId } from '../../shared/platform/runtime/ids.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { ChatTemplateDocument, ChatTemplateRequestDocument } from '../../shared/templates/chat/chat-template.ts';
import { countWaiting, newestWaiting } from '../../shared/templates/sms/approval-queue.ts';
import type {
  TemplateDocument,
  TemplateRequestDocument,
  UnannouncedDecision,
} from '../../shared/templates/sms/template.ts';

export interface AnnounceDeps extends TellDeps {
  readonly announcer: Announcer;
}

/**
 * Announces what happened to keys, users, senders, CTAs and held prefixes: each is an entry of `unannounced` in the
 * document, added by the update that decided. Announced twice, it is one delivery and one mail to each. Returns the
 * number of entries.
 */
export async function announceActs(deps: AnnounceDeps): Promise<number> {
  const counts = await Promise.all([
    announceUnannounced<KeyDocument>(deps.db, 'keys', (keys) => tellEach(deps, keys)),
    announceUnannounced<SenderDocument>(deps.db, 'senders', (senders) => tellEach(deps, senders)),
    announceUnannounced<CtaDocument>(deps.db, 'ctas', (ctas) => tellEach(deps, ctas)),
    announceUnannounced<HoldDocument>(deps.db, 'traffic_holds', (holds) => tellEach(deps, holds)),
    announceUnannounced<UserDocument>(deps.db, 'users', async (users) => {
      await tellEach(deps, users);
      for (const user of users) {
        // A new link makes the earlier ones invalid: only the newest is mailed.
        const link = user.unannounced?.findLast(({ event }) => event === 'link');
        if (link !== undefined) await mailLink(deps, user, link);
      }
    }),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
}

type Thing = WithActs & { readonly _id: string; readonly account?: AccountId };

async function tellEach(deps: AnnounceDeps, things: readonly Thing[]): Promise<void> {
  for (const { _id, account, unannounced = [] } of things) {
    for (const { event, at, told, about } of unannounced) {
      const subject = about === undefined ? _id : `${_id} ${about}`;
      // Acts are named by an event of the catalogue, or `link`.
      if (event !== 'link') await tell(deps, { event: event as AccountEventName, account, subject, at, told });
    }
  }
}

/** Tells webhooks and users, at most once an hour for the same thing and event. Returns whether it was told. */
async function tell(deps: AnnounceDeps, notable: Notable): Promise<boolean> {
  if (!(await mayTell(deps.db, notable, deps.clock.now()))) return false;
  const { event, account } = notable;
  if (account !== undefined && isAccountEvent(event)) {
    await deps.announcer.announce([{ ...notable, event, account }]);
  }
  await mailNotice(deps, notable);
  return true;
}

function isAccountEvent(event: NoticeName): event is AccountEventName {
  return ACCOUNT_EVENT_NAMES.some((name) => name === event);
}

const GROUP = 200;

interface WithUnannounced {
  readonly _id: string;
  readonly unannounced?: readonly { readonly at: Date }[];
}

/** Announces unannounced entries, then removes them; after a crash both again, which adds nothing. Returns how many. */
async function announceUnannounced<T extends WithUnannounced>(
  db: Db,
  collection: string,
  announce: (found: readonly T[]) => Promise<void>,
): Promise<number> {
  const found = await db
    .collection<WithUnannounced>(collection)
    // The second condition lets MongoDB use the index.
    .find<T>({ 'unannounced.0': { $exists: true }, 'unannounced.at': { $gt: new Date(0) } })
    .limit(GROUP)
    .toArray();
  if (found.length === 0) return 0;
  await announce(found);
  await db.collection<WithUnannounced>(collection).bulkWrite(
    found.map(({ _id, unannounced = [] }) => ({
      updateOne: {
        filter: { _id },
        update: { $pull: { unannounced: { at: { $in: unannounced.map(({ at }) => at) } } } },
      },
    })),
    { ordered: false },
  );
  return found.reduce((sum, { unannounced = [] }) => sum + unannounced.length, 0);
}

const HOUR_MS = 3_600_000;
/** How far back to look when nothing was told yet, or the note of it has expired. */
const NEW_MS = 2 * HOUR_MS;
const COUNTED_MAX = 1_000;

/**
 * Mails operators that accounts ask for senders, CTAs or DLT templates: when a request waits that came after the last
 * such mail, and at most once an hour. If the process dies between the mails and the note of them, the same mails are
 * made again, which adds nothing.
 */
export async function announceApprovals(deps: TellDeps): Promise<void> {
  const { db, clock } = deps;
  const now = clock.now();
  const what = { event: 'approval.waiting', account: undefined, subject: 'approvals' } as const;
  const last = await lastTold(db, what);
  if (last !== undefined && now.getTime() - last.toldAt.getTime() < HOUR_MS) return;
  const at = await newestWaiting(db, last?.at ?? new Date(now.getTime() - NEW_MS));
  if (at === undefined) return;
  const [senders, ctas, templates] = await Promise.all([
    countWaiting(db, 'senders', COUNTED_MAX),
    countWaiting(db, 'ctas', COUNTED_MAX),
    countWaiting(db, 'templates', COUNTED_MAX),
  ]);
  await mailNotice(deps, { ...what, at, told: { senders, ctas, templates } });
  await noteTold(db, { ...what, at }, now);
}

/** A condition that ends within this time is not told: a carrier that binds again, a post that is repeated. */
const HOLDS_MS = 60_000;

/** Conditions that are told again when their words change. */
const NEWS: readonly string[] = ['provider.notice'];

type Noticed = ConditionDocument & { readonly name: (typeof CONDITION_NOTICES)[number] };

/**
 * Tells of conditions that began and were not told yet; each remembers that it was (`told`). One that comes and goes is
 * told once an hour. If the process dies after telling, it is told again, which adds nothing: ids derive from the
 * condition and its beginning. Returns how many were told.
 */
export async function announceConditions(deps: AnnounceDeps): Promise<number> {
  const { db, clock } = deps;
  const now = clock.now();
  const conditions = conditionsOf(db);
  const found = await conditions
    .find<Noticed>({
      ...{ ...PRESENT, since: { $lte: new Date(now.getTime() - HOLDS_MS) } },
      ...{ name: { $in: [...CONDITION_NOTICES] }, $or: [{ told: { $exists: false } }, { name: { $in: NEWS } }] },
    })
    .toArray();
  let count = 0;
  for (const condition of found) {
    if (condition.told?.words === condition.words) continue;
    const { _id, name: event, account, since: at, concerns, words } = condition;
    const concern = account === undefined ? concerns.operator : concerns.account;
    // A carrier that has lost some of its binds is shown to operators, but wakes nobody.
    if (concern === undefined || (account === undefined && concern.severity !== 'urgent')) continue;
    const told = { ...(await membersOf(deps, condition)), words, what_to_do: concern.todo };
    const subject = NEWS.includes(event) ? `${_id} ${words}` : _id;
    if (!(await tell(deps, { event, account, subject, at, told }))) continue;
    await conditions.updateOne({ _id, since: at }, { $set: { told: { at: now, words } } });
    count++;
  }
  return count;
}

/** The members of the condition's event before `words`, in the order of the catalogue. */
async function membersOf(
  { db }: AnnounceDeps,
  { name, account, subject }: Noticed,
): Promise<Readonly<Record<string, Told>>> {
  if (name === 'balance.low' && account !== undefined) {
    const found = await findAccount(db, account);
    return { balance: found?.balance ?? 0, threshold: found?.lowBalance ?? null };
  }
  if (subject.kind === 'webhook') return { webhook_id: subject.id };
  return subject.kind === 'carrier' ? { carrier_id: subject.id } : {};
}

type Unannounced = UnannouncedTemplateEvent & Pick<UnannouncedDecision, 'request'>;

/** As `announceActs`, for decisions about templates. Returns the number of entries. */
export async function announceTemplates(deps: AnnounceDeps): Promise<number> {
  const announced = await Promise.all([
    announce<TemplateDocument>(deps, 'templates', ({ account, dltId, name }, { request }) => ({
      ...{ account, channel: 'sms', named: { template_id: request ?? dltId, name } },
      ...(request && { template: request }),
    })),
    announce<TemplateRequestDocument>(deps, 'template_requests', ({ _id, account, name }) => ({
      ...{ account, channel: 'sms', named: { template_id: _id, name } },
    })),
    announce<ChatTemplateDocument>(deps, 'chat_templates', ({ account, business, name, language, category }) => ({
      ...{ account, channel: 'chatapp', named: { name, language, category, business_id: business } },
    })),
    announce<ChatTemplateRequestDocument>(
      deps,
      'chat_template_requests',
      ({ account, business, name, language, draft }) => ({
        ...{
          account,
          channel: 'chatapp',
          named: { name, language, category: draft?.category ?? '', business_id: business },
        },
      }),
    ),
  ]);
  return announced.reduce((sum, count) => sum + count, 0);
}

function announce<T extends { readonly _id: string; readonly unannounced?: readonly Unannounced[] }>(
  { announcer, ...deps }: AnnounceDeps,
  collection: string,
  whose: (
    template: T,
    unannounced: Unannounced,
  ) => Pick<TemplateChange, 'account' | 'channel' | 'named'> & Partial<Pick<TemplateChange, 'template'>>,
): Promise<number> {
  return announceUnannounced<T>(deps.db, collection, async (found) => {
    const changes = found.flatMap((template) =>
      (template.unannounced ?? []).map((unannounced) => ({
        ...unannounced,
        template: template._id,
        ...whose(template, unannounced),
      })),
    );
    await announcer.announce(changes);
    for (const change of changes) await mail(deps, change);
  });
}

async function mail(deps: TellDeps, { event, account, channel, template, named, status, reason, at }: TemplateChange) {
  const told = { name: named.name ?? template, channel, status, reason: reason ?? null };
  const notable = { event: `template.${event}`, account, subject: template, at, told } as const;
  if (await mayTell(deps.db, notable, deps.clock.now())) await mailNotice(deps, notable);
}

/** Ends verifications whose time is over, and announces all that ended, as `announceActs`. Returns how many. */
export async function announceVerifications({ db, clock, announcer }: AnnounceDeps): Promise<number> {
  const expired = await expire(db, clock.now());
  const told = await announceUnannounced<VerificationDocument>(db, 'verifications', (found) =>
    announcer.announce(
      found.flatMap((verification) =>
        (verification.unannounced ?? []).map(
          ({ event, at }): VerificationEnd => ({ verification, outcome: event, at }),
        ),
      ),
    ),
  );
  return expired + told;
}

/** A check that came just before is not undone: its verification is no longer pending. */
async function expire(db: Db, now: Date): Promise<number> {
  const over = await verificationsOf(db)
    .find({ state: 'pending', expiresAt: { $lte: now } }, { projection: { expiresAt: 1 } })
    .sort({ expiresAt: 1 })
    .limit(GROUP)
    .toArray();
  if (over.length === 0) return 0;
  await verificationsOf(db).bulkWrite(
    over.map(({ _id, expiresAt }) => ({
      updateOne: {
        filter: { _id, state: 'pending' },
        update: {
          $set: { state: 'expired' },
          $unset: { codeHash: '' },
          $push: { unannounced: { event: 'expired', at: expiresAt } },
        },
      },
    })),
    { ordered: false },
  );
  return over.length;
}

export interface TellDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly box: SecretBox;
}

export interface Notable extends Pick<Act, 'at' | 'told'> {
  readonly event: NoticeName;
  /** Absent: it concerns the operators alone. */
  readonly account?: AccountId | undefined;
  readonly subject: string;
}

interface ToldDocument {
  readonly _id: string;
  readonly account?: AccountId;
  readonly at: Date;
  readonly toldAt: Date;
  readonly expiresAt: Date;
}

/** Once an hour for one event of one thing. Asked again about the same (after a crash), it answers the same. */
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

/** Known for two hours at least. */
async function lastTold(db: Db, what: What): Promise<ToldDocument | undefined> {
  return (await toldOf(db).findOne({ _id: toldId(what) })) ?? undefined;
}

async function noteTold(db: Db, what: Omit<Notable, 'told'>, now: Date, where: object = {}): Promise<void> {
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

/** Makes a mail for each user who wants it. The ids are derived, so a repeat adds nothing. */
async function mailNotice(deps: TellDeps, notable: Notable): Promise<void> {
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

/** Whoever makes users may give them anybody's address, and make links again and again. */
const LINKS_PER_HOUR = 5;

/** The mail with a one-time link. The answer to whoever made the link has it too. */
async function mailLink(deps: TellDeps, user: UserDocument, { at, told, sealed = '' }: Act): Promise<void> {
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
  // The mails may be for the account's users and for operators.
  for (const owner of new Set(all.map(({ user }) => user.account))) {
    const mails = all.filter(({ user }) => user.account === owner);
    await insertOwned(deps, owner, accountName, mails);
  }
}

/** Stores mails of one account's users, or of operators, without those beyond `MAILS_PER_HOUR`. */
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
