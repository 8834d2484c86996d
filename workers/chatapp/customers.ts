import type { Db } from 'mongodb';
import { inheritOptIns } from '../../shared/carriers/chat-opt-in-store.ts';
import { inheritOptOuts } from '../../shared/carriers/opt-outs/store.ts';
import { objectOf } from '../../shared/carriers/providers/graph-error.ts';
import type { InboundItem, InboxItemDocument } from '../../shared/messages/chat-inbox.ts';
import { isCustomerUserId } from '../../shared/messages/document/recipient.ts';
import {
  type ConversationDocument,
  type ConversationKey,
  conversationKey,
  ensureConversations,
  firstMet,
  type Profile,
} from '../../shared/money/conversations/conversation.ts';
import {
  type ConversationDocuments,
  firstOf,
  nameIn,
  nameOf,
  personOf,
  profileOf,
  readCustomers,
  userIdsOf,
  usernameKey,
} from '../../shared/money/conversations/person.ts';
import { storeTrouble } from '../../shared/platform/mongo/errors.ts';
import { type SingleUpdate, updateEach } from '../../shared/platform/mongo/update-each.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { type AccountId, customerId } from '../../shared/platform/runtime/ids.ts';
import type { MatchedMessage } from './statuses.ts';

/** How much of what statuses told is remembered, and for how long. Then all is forgotten. */
const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = 3_600_000;

/** Learns by which other names the provider knows customers, and what they are called. */
export class Customers {
  readonly #db: Db;
  readonly #clock: Clock;
  /** What is stored already. A message names its customer four times: in its answer and in three statuses. */
  readonly #known = new Set<string>();
  #sinceMs = 0;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Stores what answers to sends and statuses told of customers. May be repeated. */
  async learnFromSends(tolds: readonly Told[]): Promise<void> {
    this.#forget(tolds.length);
    const fresh = new Map<string, Told>();
    for (const told of tolds) {
      const key = JSON.stringify([told.account, told.names, told.profile]);
      const isNews = new Set(told.names).size > 1 || told.profile !== undefined;
      if (isNews && !this.#known.has(key)) fresh.set(key, told);
    }
    await this.#link([...fresh.values()]);
    for (const key of fresh.keys()) this.#known.add(key);
  }

  /** From customers' messages and preferences, and the provider's messages about them. One read; writes only news. */
  async learnFrom(items: readonly InboxItemDocument[]): Promise<void> {
    await this.#link(
      items.flatMap(({ account, what }) => {
        if (what.kind === 'preference') return [toldOf(account, [what.customer], what.who)];
        return what.kind === 'message' ? toldIn(account, what) : [];
      }),
    );
  }

  #link(tolds: readonly Told[]): Promise<void> {
    return linkCustomers(this.#db, tolds, this.#clock.now(), async ({ account, names, left }) => {
      await inheritOptIns(this.#db, this.#clock, account, names);
      await inheritOptOuts(this.#db, account, left, names);
    });
  }

  #forget(room: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#known.size + room <= REMEMBERED_MAX && nowMs - this.#sinceMs < REMEMBERED_MS) return;
    this.#known.clear();
    this.#sinceMs = nowMs;
  }
}

/** A status names the customer as the provider does (Cloud API, Webhooks: `recipient_id`, `recipient_user_id`). */
export function toldByStatuses(matched: readonly MatchedMessage[]): readonly Told[] {
  return matched.flatMap(({ message: { account, to }, statuses }) =>
    statuses.map(({ recipient, who }) => toldOf(account, [to, recipient], who)),
  );
}

function toldIn(account: AccountId, what: InboundItem): readonly Told[] {
  const { from, who, sentAt, more = {} } = what;
  const wroteAt = { wroteAt: sentAt };
  if (what.type === 'system') {
    const change = changeOf(from, who, objectOf(more.system) ?? {});
    return change === undefined ? [] : [{ account, ...change, ...wroteAt }];
  }
  if (from === null) return [];
  const told = { ...toldOf(account, [from], who), ...wroteAt };
  const number = what.type === 'contacts' ? sharedNumber(more.contacts) : undefined;
  return number === undefined ? [told] : [told, { ...toldOf(account, [from, number], { number }), ...wroteAt }];
}

function toldOf(account: AccountId, names: readonly (string | undefined)[], who: Profile = {}): Told {
  const { userId, parentId } = who;
  const profile = Object.keys(who).length === 0 ? {} : { profile: who };
  return { account, names: unique([...names, userId, parentId]), ...profile };
}

/** System messages about a person's other names (WhatsApp Cloud API, "System messages webhook reference"). */
const CHANGES: readonly unknown[] = ['user_changed_number', 'user_changed_user_id'];

function changeOf(from: string | null, who: Profile = {}, system: Json): Omit<Told, 'account'> | undefined {
  if (!CHANGES.includes(system.type)) return undefined;
  const now: Profile = defined({
    number: digits(system.wa_id) ?? digits(system.new_wa_id),
    userId: userId(system.user_id),
    parentId: userId(system.parent_user_id),
  });
  const current = unique([now.number, now.userId, now.parentId]);
  const before = unique([
    from ?? undefined,
    who.userId,
    who.parentId,
    digits(system.customer),
    userId(system.previous_user_id),
    userId(system.previous_parent_user_id),
  ]).filter((name) => !current.includes(name));
  if (before.length === 0 || current.length === 0) return undefined;
  const changed = system.type === 'user_changed_number' ? 'number' : 'id';
  return { names: [...before, ...current], profile: now, changed };
}

/** The number that a customer gave by the button that asks for it. Other contacts may be anybody's. */
function sharedNumber(contacts: unknown): string | undefined {
  const [contact, another] = list(contacts).map(objectOf);
  if (contact?.origin !== 'contact_request' || another !== undefined) return undefined;
  const [phone] = list(contact.phones).map(objectOf);
  return digits(phone?.wa_id) ?? digits(String(phone?.phone ?? '').replaceAll(/[\s().+-]/g, ''));
}

type Json = Readonly<Record<string, unknown>>;

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^[1-9]\d{6,14}$/.test(value) ? value : undefined;
}

function userId(value: unknown): string | undefined {
  return typeof value === 'string' && isCustomerUserId(value) ? value : undefined;
}

function unique(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.flatMap((name) => name ?? []))];
}

export interface Told {
  readonly account: AccountId;
  /** Numbers and user ids of one person; first the one that the callback was about. */
  readonly names: readonly string[];
  readonly profile?: Profile;
  /** `number`: the person left every other number, named here or not. `id`: only the user id changed. */
  readonly changed?: 'number' | 'id';
  readonly wroteAt?: Date;
}

/** A person whose documents were several persons' before, with all names. */
export interface Joined {
  readonly account: AccountId;
  readonly names: readonly string[];
  readonly left: readonly string[];
}

/** Numbers, and user ids with a document, of one person: more than anybody has. Others stay persons of their own. */
const DOCUMENTS_MAX = 9;
/** User ids without a document, user names and customer ids that a document remembers. The oldest are forgotten. */
const KEYS_MAX = 16;
/** How many other changes of the same customers may come between. */
const TRIES_MAX = 20;

/**
 * Stores what was told of persons. Each document of a person names all others, and a link holds when both have it.
 * Documents change by a compare-and-set on `links`. Links are only added, so their order does not matter; after a crash
 * between two writes, the rest is done when the callback's item is worked off again. One read, and no write without
 * news.
 *
 * `joining` is called before documents are linked, perhaps again: what it does is there before anybody sees the link.
 */
export async function linkCustomers(
  db: Db,
  tolds: readonly Told[],
  now: Date,
  joining: (joined: Joined) => Promise<void> = async () => {},
): Promise<void> {
  if (tolds.length === 0) return;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const read = await readCustomers(
      db,
      tolds.flatMap(({ account, names }) => names.map((name) => conversationKey(account, name))),
    );
    const missing = tolds.flatMap((told) => missingOf(read, told));
    if (missing.length > 0) {
      await ensureConversations(
        db,
        missing.map((one) => ({ ...one, at: now })),
      );
      continue;
    }
    const next = new Map(read);
    const joined: Joined[] = [];
    for (const told of tolds) joined.push(...apply(next, told, now));
    const updates = [...next].flatMap(([key, document]) => {
      const before = read.get(key);
      return before === undefined || before === document ? [] : [updateOf(before, document, now)];
    });
    if (updates.length === 0) return;
    for (const one of joined) await joining(one);
    if ((await updateEach(db, 'conversations', updates)) === updates.length) return;
  }
  throw storeTrouble(`${TRIES_MAX} other changes of the same customers came between`);
}

/** The names that need a document: numbers, which are looked up by it alone; of a change, only known persons'. */
function missingOf(documents: ConversationDocuments, { account, names, changed }: Told) {
  const persons = names.map((name) => personOf(documents, account, name));
  const known = persons.some((person) => person.documents.length > 0);
  if (changed !== undefined && !known) return [];
  const total = new Set(persons.flatMap((person) => person.documents)).size;
  return names
    .filter(
      (name, i) =>
        !documents.has(conversationKey(account, name)) && (isCustomerUserId(name) ? i === 0 && !known : true),
    )
    .slice(0, Math.max(0, DOCUMENTS_MAX - total))
    .map((customer) => ({ account, customer }));
}

/** Changes the documents as they must be afterwards. Returns the persons that it joins. */
function apply(documents: Map<ConversationKey, ConversationDocument>, told: Told, now: Date): readonly Joined[] {
  const { account, names, profile = {}, changed } = told;
  for (const name of names) forgetOwner(documents, told, name, now);
  const persons = names.map((name) => personOf(documents, account, name));
  const all = new Set(persons.flatMap((person) => person.documents.map(({ _id }) => _id)));
  // If not, the new name stays a person of its own.
  const isOne = all.size <= DOCUMENTS_MAX;
  const theirs = isOne ? [...all] : (persons[0]?.documents ?? []).map(({ _id }) => _id);
  const [main] = theirs;
  if (main === undefined) return [];
  const of = () => theirs.flatMap((key) => documents.get(key) ?? []);
  const change = (key: ConversationKey, fields: Partial<ConversationDocument>) => {
    const document = documents.get(key);
    if (document !== undefined) documents.set(key, { ...document, ...fields });
  };
  const leave = (key: ConversationKey, at: Date | undefined) => {
    const { leftAt: _, ...document } = documents.get(key) ?? {};
    if ('_id' in document) documents.set(key, { ...document, ...(at && { leftAt: at }) });
  };
  const before = of();
  const aliasesOf = (own: ConversationKey) => theirs.filter((key) => key !== own).map(nameOf);
  const isNew = before.some(({ _id, aliases = [] }) => aliasesOf(_id).some((name) => !aliases.includes(name)));
  const first = firstOf(before) ?? '';
  for (const document of before) {
    const { _id, customer, aliases = [], leftAt } = document;
    const isCurrent = customer === profile.number;
    if (isNew) {
      const others = aliasesOf(_id);
      const [kept, added] = [
        aliases.filter((name) => others.includes(name)),
        others.filter((name) => !aliases.includes(name)),
      ];
      change(_id, { aliases: [...kept, ...added], first, keys: withKey(document, idKey(account, first)) });
    }
    if (changed === undefined || isCustomerUserId(customer)) continue;
    if (isCurrent && leftAt !== undefined) leave(_id, undefined);
    if (!isCurrent && changed === 'number' && leftAt === undefined) leave(_id, told.wroteAt ?? now);
  }
  for (const id of isOne ? names.filter(isCustomerUserId) : []) {
    const isKnown = of().some((document) => document.customer === id || userIdsOf(document).includes(id));
    if (!isKnown) change(main, { keys: withKey(documents.get(main), conversationKey(account, id)) });
  }
  const known = profileOf(of());
  if (PARTS.some((part) => profile[part] !== undefined && profile[part] !== known[part])) {
    change(main, {
      profile: { ...known, ...profile, at: now },
      keys: withUsername(documents.get(main), account, profile.username),
    });
  }
  const left = of().flatMap(({ customer, leftAt }) => (leftAt === undefined ? [] : [customer]));
  return isNew ? [{ account, names: personOf(documents, account, nameOf(main)).names, left }] : [];
}

const PARTS = ['number', 'userId', 'parentId', 'username', 'name'] as const satisfies readonly (keyof Profile)[];

/**
 * Somebody with another user id writes from a number that a person has left: the number has another owner now. Its
 * document keeps what is open and paid under it, and is a person of its own. One-sided links do not hold.
 */
function forgetOwner(
  documents: Map<ConversationKey, ConversationDocument>,
  { account, profile, changed, wroteAt }: Told,
  name: string,
  now: Date,
): void {
  const document = documents.get(conversationKey(account, name));
  const userId = profile?.userId;
  if (document?.leftAt === undefined || userId === undefined || changed !== undefined) return;
  if (wroteAt === undefined || wroteAt <= document.leftAt) return;
  if (personOf(documents, account, name).names.includes(userId)) return;
  const { leftAt: _leftAt, profile: _profile, aliases: _aliases, ...rest } = document;
  const first = firstMet(now, userId);
  documents.set(document._id, { ...rest, first, keys: [idKey(account, first)] });
}

function idKey(account: AccountId, first: string): ConversationKey {
  return conversationKey(account, customerId(account, nameIn(first)));
}

/** The first key is the document's own customer id, and stays. */
function withKey(
  { keys = [] }: Pick<ConversationDocument, 'keys'> = {},
  key: ConversationKey,
): readonly ConversationKey[] {
  if (keys.includes(key)) return keys;
  const [own = key, ...others] = keys;
  return own === key ? [key] : [own, ...[...others, key].slice(1 - KEYS_MAX)];
}

/** A person has one user name at a time. */
function withUsername(
  { keys = [] }: Pick<ConversationDocument, 'keys'> = {},
  account: AccountId,
  username = '',
): readonly ConversationKey[] {
  const key = usernameKey(username);
  if (key === undefined) return keys;
  return withKey({ keys: keys.filter((one) => !nameOf(one).startsWith('@')) }, conversationKey(account, key));
}

function updateOf(before: ConversationDocument, after: ConversationDocument, now: Date): SingleUpdate {
  const { aliases, keys, first, profile, leftAt } = after;
  const fields = { aliases, keys, first, profile, leftAt };
  const gone = Object.keys(fields).filter((name) => fields[name as keyof typeof fields] === undefined);
  return {
    filter: { _id: before._id, links: before.links ?? { $exists: false } },
    update: {
      $set: { ...defined(fields), linkedAt: now },
      ...(gone.length > 0 && { $unset: Object.fromEntries(gone.map((name) => [name, ''])) }),
      $inc: { links: 1 },
    },
  };
}
