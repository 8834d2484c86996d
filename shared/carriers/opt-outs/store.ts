import type { Collection, Db, UpdateFilter } from 'mongodb';
import type { MessageDocument } from '../../messages/document/message.ts';
import { laneOf } from '../../messages/document/routing.ts';
import type { AccountDocument } from '../../money/accounts/account.ts';
import { isInternational } from '../../money/accounts/number-check.ts';
import { markOptOuts } from '../../money/accounts/store.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { updateEach } from '../../platform/mongo/update-each.ts';
import { defined } from '../../platform/runtime/defined.ts';
import { type AccountId, type MessageId, type OptOutId, optOutId, type RequestId } from '../../platform/runtime/ids.ts';
import { completionFor } from '../numbers/store.ts';

/** A customer's wish. Kept after opting in again, so that a step repeated after a crash finds the later wish. */
export interface OptOutDocument {
  readonly _id: OptOutId;
  readonly account: AccountId;
  /** The number that the customer wrote to, or `WHOLE_ACCOUNT`. */
  readonly scope: string;
  /** Digits, country code first. */
  readonly customer: string;
  /** Present while the customer has opted out, with the next fields up to `request`. */
  readonly out?: true;
  readonly since?: Date;
  readonly source?: OptOutSource;
  readonly word?: string;
  /** The API request that stored the opt-out. */
  readonly request?: RequestId;
  /** Time of the last wish, also of one that changed nothing. Older messages change nothing any more. */
  readonly changedAt: Date;
  /** The customer's last messages that changed the state, oldest first. */
  readonly changedBy: readonly MessageId[];
}

type OptOutSource = 'inbound' | 'api' | 'ops' | 'import';

export type OptOutPlace = `${string}:${string}`;

/** The scope of customers who want nothing from the account, whatever the sender. */
export const WHOLE_ACCOUNT = '*';

const CHANGED_BY_MAX = 8;

/** What an account may exempt from opt-outs. `transactional`: the whole route, one-time passwords included. */
export const EXEMPTIONS = ['otp', 'transactional'] as const satisfies AccountDocument['optOutExempt'];

/** Whether the account's setting sends such a message to customers who opted out. */
export function isExempt(
  { route, lane }: Pick<MessageDocument, 'route' | 'lane'>,
  exempt: AccountDocument['optOutExempt'] = [],
): boolean {
  return (
    (route === 'transactional' && exempt.includes('transactional')) ||
    (lane === laneOf('transactional', 'otp') && exempt.includes('otp'))
  );
}

/** Customers answer only to digits. For other senders they write STOP to one of the account's numbers. */
const NUMBER = /^\d+$/;

/** A number is forbidden by its own scope and by `WHOLE_ACCOUNT`; a name by any scope of the account. */
export function blocks(scopes: readonly string[], sender: string): boolean {
  return scopes.some((scope) => scope === sender || scope === WHOLE_ACCOUNT || !NUMBER.test(sender));
}

export interface OptOutChange extends Pick<OptOutDocument, 'account' | 'customer' | 'scope'> {
  readonly kind: 'out' | 'in';
  readonly at: Date;
  /** When the customer opted out, if earlier than `at`, for example in another gateway's list. */
  readonly since?: Date;
  readonly source: OptOutSource;
  readonly word?: string;
  readonly request?: RequestId;
  readonly message?: MessageId;
}

/**
 * Stores wishes. May be repeated: each message changes the state once, and not after a newer wish. A wish without a
 * message, of the account or an operator, always applies: they are told that it is done, and their gateway's clock may
 * be behind. The account is marked before any opt-out exists, so that no send overlooks one.
 */
export async function changeOptOuts(db: Db, changes: readonly OptOutChange[]): Promise<void> {
  const outs = changes.filter(({ kind }) => kind === 'out');
  if (outs.length > 0) await markOptOuts(db, [...new Set(outs.map(({ account }) => account))]);
  await insertNew(
    db,
    'opt_outs',
    changes.map(({ account, customer, scope }) => ({
      ...{ _id: optOutId(account, customer, scope), account, customer, scope },
      ...{ changedAt: new Date(0), changedBy: [] },
    })),
  );
  await updateEach(
    db,
    'opt_outs',
    changes.flatMap((change) => [timeOf(change), updateOf(change)]),
  );
}

/** Keeps the time also of a wish that changes nothing: an older one may come later. */
function timeOf({ account, customer, scope, at }: OptOutChange) {
  return { filter: { _id: optOutId(account, customer, scope) }, update: { $max: { changedAt: at } } };
}

/** Changes the state only if it differs, and only once for each message. */
function updateOf(change: OptOutChange) {
  const { account, customer, scope, kind, at, since = at, source, word, request, message } = change;
  const push = message === undefined ? {} : { $push: { changedBy: { $each: [message], $slice: -CHANGED_BY_MAX } } };
  const update: UpdateFilter<OptOutDocument> =
    kind === 'out'
      ? { $set: { out: true, since, source, ...(word && { word }), ...(request && { request }) } }
      : { $unset: { out: '', since: '', source: '', word: '', request: '' } };
  return {
    filter: {
      _id: optOutId(account, customer, scope),
      out: kind === 'out' ? { $ne: true } : true,
      ...(message === undefined ? {} : { changedAt: { $lte: at }, changedBy: { $ne: message } }),
    },
    update: { ...update, ...push },
  };
}

/** Which of these messages have changed their opt-out. */
export async function findChangedBy(db: Db, changes: readonly OptOutChange[]): Promise<ReadonlySet<MessageId>> {
  const ids = changes.map(({ account, customer, scope }) => optOutId(account, customer, scope));
  const found = await optOuts(db)
    .find({ _id: { $in: ids } }, { projection: { changedBy: 1 } })
    .toArray();
  return new Set(found.flatMap(({ changedBy }) => changedBy));
}

/** By customer: the scopes opted out from. One indexed query. */
export async function readScopes(
  db: Db,
  account: AccountId,
  customers: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await optOuts(db)
    .find({ account, customer: { $in: [...customers] }, out: true }, { projection: { _id: 0, customer: 1, scope: 1 } })
    .toArray();
  const scopes = new Map<string, string[]>();
  for (const { customer, scope } of found) scopes.set(customer, [...(scopes.get(customer) ?? []), scope]);
  return scopes;
}

export function optOutPlace({ customer, scope }: OptOutDocument): OptOutPlace {
  return `${customer}:${scope}`;
}

export function isOptOutPlace(text: string): text is OptOutPlace {
  return /^\d{3,15}:(\*|\d{3,15})$/.test(text);
}

export async function findOptOut(db: Db, account: AccountId, id: OptOutId): Promise<OptOutDocument | undefined> {
  return (await optOuts(db).findOne({ _id: id, account, out: true })) ?? undefined;
}

/** True also for a customer who has opted in again. */
export async function hasOptOutDocument(db: Db, id: OptOutId): Promise<boolean> {
  return (await optOuts(db).findOne({ _id: id }, { projection: { _id: 1 } })) !== null;
}

/** Copies opt-outs to a person's new numbers. May be repeated: a wish stored for a new number stays. */
export async function inheritOptOuts(
  db: Db,
  account: AccountId,
  left: readonly string[],
  names: readonly string[],
): Promise<void> {
  const numbers = names.filter((name) => /^\d+$/.test(name) && !left.includes(name));
  if (left.length === 0 || numbers.length === 0) return;
  const found = await optOuts(db)
    .find({ account, customer: { $in: [...left] }, out: true })
    .toArray();
  for (const { scope, since, changedAt, source = 'inbound', word } of found) {
    for (const customer of numbers) {
      if (await hasOptOutDocument(db, optOutId(account, customer, scope))) continue;
      const wish = { account, customer, scope, kind: 'out', at: changedAt, source } as const;
      await changeOptOuts(db, [{ ...wish, ...defined({ since, word }) }]);
    }
  }
}

/** Scans the account's list; needed only after a gateway died at that request. */
export async function findOptOutOf(
  db: Db,
  account: AccountId,
  request: RequestId,
): Promise<OptOutDocument | undefined> {
  return (await optOuts(db).findOne({ account, request, out: true })) ?? undefined;
}

interface OptOutFilter {
  readonly customer?: string | undefined;
  readonly scope?: string | undefined;
}

/** Customers who have opted out, ordered by number. */
export function listOptOuts(
  db: Db,
  account: AccountId,
  { customer, scope }: OptOutFilter,
  after: OptOutPlace | undefined,
  limit: number,
): Promise<OptOutDocument[]> {
  return (
    optOuts(db)
      .find({
        account,
        out: true,
        ...defined({ customer, scope }),
        ...(after === undefined ? {} : { $and: [behind(after)] }),
      })
      // Sorted by the customer alone for one scope, so that the index of that scope has the order.
      .sort(scope === undefined ? { customer: 1, scope: 1 } : { customer: 1 })
      .limit(limit)
      .batchSize(limit + 1)
      .toArray()
  );
}

/** The first condition makes the index begin at the right place. */
function behind(place: OptOutPlace): object {
  const [customer = '', scope = ''] = place.split(':');
  return { customer: { $gte: customer }, $or: [{ customer: { $gt: customer } }, { scope: { $gt: scope } }] };
}

function optOuts(db: Db): Collection<OptOutDocument> {
  return db.collection('opt_outs');
}

/**
 * By recipient: the scopes opted out from. For a recipient in national form also those of the completed number, which
 * opt-outs are stored under. One indexed query; two more if a recipient is in national form.
 */
export async function readRecipientScopes(
  db: Db,
  account: AccountId,
  recipients: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const others = recipients.filter((to) => !isInternational(to));
  if (others.length === 0) return readScopes(db, account, recipients);
  const complete = await completionFor(db, account);
  const completed = new Map(others.map((to) => [to, complete(to)]));
  const scopes = await readScopes(db, account, [...new Set([...recipients, ...completed.values()])]);
  return new Map(
    recipients.map((to) => [
      to,
      [...new Set([to, completed.get(to) ?? to])].flatMap((customer) => scopes.get(customer) ?? []),
    ]),
  );
}
