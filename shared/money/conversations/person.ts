import type { Db } from 'mongodb';
import { type BusinessNumber, isBusinessNumber } from '../../messages/document/chat-message.ts';
import { isCustomerUserId } from '../../messages/document/recipient.ts';
import { type AccountId, type CustomerId, customerId, isCustomerId } from '../../platform/runtime/ids.ts';
import {
  type ConversationDocument,
  type ConversationKey,
  conversationCollection,
  conversationKey,
  type Profile,
  readConversations,
  type Session,
} from './conversation.ts';

/**
 * A person may have several names: numbers (of Brazil with and without the ninth digit; an old and a new one) and user
 * ids. Each number, and each user id that was used alone, keeps its document. A person's documents name each other in
 * `aliases`; user ids without a document stand in `keys`. Every decision reads them all: a session or a paid
 * conversation of one name is the person's. Nothing is ever merged (docs/decisions/0017).
 */
export interface Person {
  /** The one asked for first. */
  readonly names: readonly string[];
  /** In the order of `names`. */
  readonly documents: readonly ConversationDocument[];
}

export type ConversationDocuments = ReadonlyMap<ConversationKey, ConversationDocument>;

/** Documents of a person name all others, so once is enough, except while links are written. */
const ROUNDS_MAX = 3;
/** More than the worker gives a person; limits what is done with half-written links. */
const NAMES_MAX = 32;

/** With all their aliases. One read; one more for aliases, and one for user ids without a document. */
export async function readCustomers(db: Db, keys: Iterable<ConversationKey>): Promise<ConversationDocuments> {
  const documents = new Map<ConversationKey, ConversationDocument>();
  const asked = new Set<ConversationKey>();
  let wanted: readonly ConversationKey[] = [...new Set(keys)];
  for (let round = 0; round < ROUNDS_MAX && wanted.length > 0; round++) {
    for (const key of wanted) asked.add(key);
    for (const [key, document] of await readConversations(db, wanted)) documents.set(key, document);
    const held = new Set([...documents.values()].flatMap(({ keys: own = [] }) => own));
    const loose = wanted.filter((key) => isCustomerUserId(nameOf(key)) && !held.has(key));
    for (const document of await readHolders(db, loose)) documents.set(document._id, document);
    const linked = [...documents.values()].flatMap(({ account, aliases = [] }) =>
      aliases.map((alias) => conversationKey(account, alias)),
    );
    wanted = [...new Set(linked)].filter((key) => !asked.has(key) && !documents.has(key));
  }
  return documents;
}

async function readHolders(db: Db, keys: readonly ConversationKey[]): Promise<readonly ConversationDocument[]> {
  if (keys.length === 0) return [];
  return conversationCollection(db)
    .find({ keys: { $in: [...keys] } })
    .limit(keys.length * NAMES_MAX)
    .toArray();
}

/** Two documents are one person's only if each names the other. */
export function personOf(documents: ConversationDocuments, account: AccountId, customer: string): Person {
  const names = [customer];
  const add = (name: string) => {
    if (names.length < NAMES_MAX && !names.includes(name)) names.push(name);
  };
  const own = conversationKey(account, customer);
  if (isCustomerUserId(customer)) {
    for (const holder of documents.values()) if (holder.keys?.includes(own)) add(holder.customer);
  }
  const found: ConversationDocument[] = [];
  // Also walks over what it adds.
  for (const name of names) {
    const document = documents.get(conversationKey(account, name));
    if (document === undefined) continue;
    found.push(document);
    const { aliases = [] } = document;
    for (const alias of aliases) if (namesBack(documents.get(conversationKey(account, alias)), name)) add(alias);
  }
  for (const document of found) for (const id of userIdsOf(document)) add(id);
  return { names, documents: found };
}

function namesBack(document: ConversationDocument | undefined, name: string): boolean {
  return document?.aliases?.includes(name) === true;
}

export function userIdsOf({ keys = [] }: Pick<ConversationDocument, 'keys'>): readonly string[] {
  return keys.map(nameOf).filter(isCustomerUserId);
}

export function nameOf(key: ConversationKey): string {
  return key.slice(key.indexOf(':') + 1);
}

/** Under any name. `number`: with this number of the account; without it, with the one last written to. */
export function sessionOf({ documents }: Pick<Person, 'documents'>, number?: BusinessNumber): Session {
  const times = documents.flatMap(
    ({ lastInboundAt, sessions }) => (number === undefined ? lastInboundAt : sessions?.[number]) ?? [],
  );
  const [last] = times.sort((a, b) => b.getTime() - a.getTime());
  return last === undefined ? {} : { lastInboundAt: last };
}

/** Last one first. */
export function numbersWrittenTo({
  documents,
}: Pick<Person, 'documents'>): readonly (readonly [number: BusinessNumber, at: Date])[] {
  const last = new Map<BusinessNumber, Date>();
  for (const { sessions = {} } of documents) {
    for (const number of Object.keys(sessions).filter(isBusinessNumber)) {
      const at = sessions[number];
      if (at !== undefined && at > (last.get(number) ?? new Date(0))) last.set(number, at);
    }
  }
  return [...last].sort(([, a], [, b]) => b.getTime() - a.getTime());
}

/** When a customer told the provider to get no marketing, under any name; undefined when not, or resumed since. */
export function marketingStoppedAt({ documents }: Pick<Person, 'documents'>): Date | undefined {
  const wishes = documents.flatMap(({ marketing }) => marketing ?? []);
  const [last] = wishes.sort((a, b) => b.at.getTime() - a.at.getTime());
  return last?.stopped ? last.at : undefined;
}

export async function readPerson(db: Db, account: AccountId, customer: string): Promise<Person> {
  return personOf(await readCustomers(db, [conversationKey(account, customer)]), account, customer);
}

/** As accounts see it. `id`: of the name under which the account met them first. */
export interface Customer {
  readonly id: CustomerId;
  readonly number?: string;
  readonly user_id?: string;
  readonly username?: string;
  readonly name?: string;
}

export function customerOf(account: AccountId, { names, documents }: Person): Customer {
  const [customer = ''] = names;
  const { number, userId, username, name } = profileOf(documents);
  // Somebody else may have a number that the person has left.
  const left = documents.flatMap((document) => (document.leftAt === undefined ? [] : [document.customer]));
  const numbers = [number, ...names].filter(
    (one) => one !== undefined && !isCustomerUserId(one) && !left.includes(one),
  );
  return {
    id: customerId(account, nameIn(firstOf(documents) ?? ` ${customer}`)),
    ...shown('number', numbers[0]),
    ...shown('user_id', userId ?? names.find(isCustomerUserId)),
    ...shown('username', username),
    ...shown('name', name),
  };
}

export async function readPersons(
  db: Db,
  account: AccountId,
  customers: readonly string[],
): Promise<ReadonlyMap<string, Person>> {
  const documents = await readCustomers(
    db,
    customers.map((customer) => conversationKey(account, customer)),
  );
  return new Map(customers.map((customer) => [customer, personOf(documents, account, customer)]));
}

function shown<Name extends string>(name: Name, value: string | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [_ in Name]?: string };
}

/** The newest of each. */
export function profileOf(documents: readonly ConversationDocument[]): Profile {
  const told = documents.flatMap(({ profile }) => profile ?? []).sort((a, b) => a.at.getTime() - b.at.getTime());
  const { at: _, ...profile } = Object.assign({ at: undefined }, ...told);
  return profile;
}

export function firstOf(documents: readonly ConversationDocument[]): string | undefined {
  return documents.map(({ first, customer }) => first ?? ` ${customer}`).sort()[0];
}

export function nameIn(first: string): string {
  return first.slice(first.indexOf(' ') + 1);
}

/** As the provider tells it, or as people write it. Case does not matter. */
const USERNAME = /^@?[A-Za-z0-9._]{1,64}$/;

/** The key by which a user name is found; undefined when it is none. */
export function usernameKey(username: string): string | undefined {
  return USERNAME.test(username) ? `@${username.replace('@', '').toLowerCase()}` : undefined;
}

/** How a customer can be asked for: a number, a user id, a user name, or a customer id. */
export const CUSTOMER_ASKED = /^(@?[A-Za-z0-9._]{1,64}|[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128})$/;

/** By number, user id, user name or customer id. A shared user name: the one who was heard of last. */
export async function findPerson(db: Db, account: AccountId, asked: string): Promise<Person | undefined> {
  const isName = isCustomerUserId(asked) || /^\d+$/.test(asked);
  const key = isCustomerId(asked) ? asked : (usernameKey(asked) ?? asked);
  const holders = isName ? [] : await readHolders(db, [conversationKey(account, key)]);
  const [holder] = holders.toSorted((a, b) => heardAt(b) - heardAt(a));
  const customer = isName ? asked : holder?.customer;
  if (customer === undefined) return undefined;
  const person = await readPerson(db, account, customer);
  return person.documents.length === 0 ? undefined : person;
}

function heardAt({ lastInboundAt, linkedAt }: ConversationDocument): number {
  return Math.max(lastInboundAt?.getTime() ?? 0, linkedAt?.getTime() ?? 0);
}
