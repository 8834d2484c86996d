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

/**
 * Says whether a customer wants no SMS of an account, or of one of its numbers. The document stays when the customer opts in
 * again. So when a step is repeated after a crash, it finds the customer's later wish.
 */
export interface OptOutDocument {
  /** There is one document per account, customer and scope. */
  readonly _id: OptOutId;
  readonly account: AccountId;
  /** The number that the customer wrote to, or `WHOLE_ACCOUNT`. */
  readonly scope: string;
  /** Digits, country code first. */
  readonly customer: string;
  /** Present while the customer has opted out, together with the next fields up to `request`. */
  readonly out?: true;
  readonly since?: Date;
  readonly source?: OptOutSource;
  /** The word that the customer sent. */
  readonly word?: string;
  /** The API request that stored the opt-out. */
  readonly request?: RequestId;
  /** When the last wish came, also one that changed nothing. Messages that came before change nothing any more. */
  readonly changedAt: Date;
  /** The customer's last messages that changed it, oldest first, at most `CHANGED_BY_MAX`. */
  readonly changedBy: readonly MessageId[];
}

type OptOutSource = 'inbound' | 'api' | 'ops' | 'import';

/** A place in an account's list, for paging. */
export type OptOutPlace = `${string}:${string}`;

/** The scope of customers who want nothing from the account, whatever the sender. */
export const WHOLE_ACCOUNT = '*';

const CHANGED_BY_MAX = 8;

/** What an account may exempt from opt-outs. `transactional` means the whole route, with its one-time passwords. */
export const EXEMPTIONS = ['otp', 'transactional'] as const satisfies AccountDocument['optOutExempt'];

/** Whether such a message is sent to customers who opted out. Only the account's setting allows it. */
export function isExempt(
  { route, lane }: Pick<MessageDocument, 'route' | 'lane'>,
  exempt: AccountDocument['optOutExempt'] = [],
): boolean {
  return (
    (route === 'transactional' && exempt.includes('transactional')) ||
    (lane === laneOf('transactional', 'otp') && exempt.includes('otp'))
  );
}

/** A customer can answer only to digits. If the sender is a name, the customer writes STOP to one of the account's numbers. */
const NUMBER = /^\d+$/;

/**
 * Whether opt-outs with these scopes forbid messages of this sender. A sender that is a number is forbidden by its own scope and
 * by that of the whole account. A sender that is a name is forbidden by any scope of the account.
 */
export function blocks(scopes: readonly string[], sender: string): boolean {
  return scopes.some((scope) => scope === sender || scope === WHOLE_ACCOUNT || !NUMBER.test(sender));
}

/** A customer's wish, to be stored. */
export interface OptOutChange extends Pick<OptOutDocument, 'account' | 'customer' | 'scope'> {
  readonly kind: 'out' | 'in';
  readonly at: Date;
  /** When the customer opted out, if that was earlier (for example in the list of an earlier gateway). */
  readonly since?: Date;
  readonly source: OptOutSource;
  readonly word?: string;
  readonly request?: RequestId;
  /** The customer's message that contains the wish. */
  readonly message?: MessageId;
}

/**
 * Stores wishes. A customer's message that is older than the last wish changes nothing. May be repeated: each message changes the
 * state only once. A wish of the account or of an operator (without a message) is always done, whatever time is stored: they are
 * told that it is done, and the clock of their gateway may be behind. The account is marked before any opt-out exists, so that no
 * send overlooks one.
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

/** Keeps the time of the last wish, also of one that changes nothing: an older one may come later. */
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

/** Which of these messages have changed the state of their entries. */
export async function findChangedBy(db: Db, changes: readonly OptOutChange[]): Promise<ReadonlySet<MessageId>> {
  const ids = changes.map(({ account, customer, scope }) => optOutId(account, customer, scope));
  const found = await optOuts(db)
    .find({ _id: { $in: ids } }, { projection: { changedBy: 1 } })
    .toArray();
  return new Set(found.flatMap(({ changedBy }) => changedBy));
}

/** Which of these customers have opted out, and from which scopes. One indexed query. */
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

/** One opt-out. Undefined when the customer has not opted out. */
export async function findOptOut(db: Db, account: AccountId, id: OptOutId): Promise<OptOutDocument | undefined> {
  return (await optOuts(db).findOne({ _id: id, account, out: true })) ?? undefined;
}

/** Whether anything was ever stored of this customer and scope, also one who has opted in again. */
export async function hasOptOutDocument(db: Db, id: OptOutId): Promise<boolean> {
  return (await optOuts(db).findOne({ _id: id }, { projection: { _id: 1 } })) !== null;
}

/**
 * What a person did not want under the numbers that they left, they do not want under their new ones. May be repeated: a wish about a
 * new number, also that of a START since, stays.
 */
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

/** The opt-out that an API request stored. Reads the account's list, which is done only when a gateway died at that request. */
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

/** The account's customers who have opted out, ordered by number, after the place `after`. */
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
      // Of one scope the customer alone, so that the index of that scope has the order.
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
 * The scopes that these recipients have opted out from. A recipient in national form has also those of the completed number, because
 * opt-outs are stored under that. One indexed query; two more if a recipient is no whole number.
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
