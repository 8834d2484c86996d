import type { Db } from 'mongodb';
import { updateEach } from '../../platform/mongo/update-each.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { type ConversationDocument, type ConversationKey, conversationKey } from './conversation.ts';
import type { Session } from './session.ts';
import { ensureConversations, readConversations } from './store.ts';

/**
 * The provider may know a customer by another number than the account does: numbers of Brazil with and without the ninth digit, of
 * Mexico with 52 and 521, of Argentina with 54 and 549. Each number keeps its document. Two that are one person name each other in
 * `aliases`, and every decision reads them all: a session of one is a session of the person, and a conversation that was
 * paid for under one serves the others. Nothing is ever merged, so it does not matter when or in which order numbers are linked
 * (docs/decisions/0017).
 */
export interface Pair {
  readonly account: AccountId;
  readonly customer: string;
  readonly alias: string;
}

export type ConversationDocuments = ReadonlyMap<ConversationKey, ConversationDocument>;

/** How often aliases of aliases are looked up. */
const ROUNDS_MAX = 3;
/** Far more than one person has. Older ones are dropped. */
const ALIASES_MAX = 8;

/** The documents of these customers and of all their aliases. One read; one more only for customers who have aliases. */
export async function readCustomers(db: Db, keys: Iterable<ConversationKey>): Promise<ConversationDocuments> {
  const asked = new Set(keys);
  const documents = await readConversations(db, asked);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const linked = [...documents.values()].flatMap(({ account, aliases = [] }) =>
      aliases.map((alias) => conversationKey(account, alias)),
    );
    const further = linked.filter((key) => !asked.has(key));
    if (further.length === 0) break;
    for (const key of further) asked.add(key);
    for (const [key, document] of await readConversations(db, further)) documents.set(key, document);
  }
  return documents;
}

/** All numbers of a customer, the given one first. Pure. */
export function namesOf(documents: ConversationDocuments, account: AccountId, customer: string): readonly string[] {
  const names = [customer];
  // Also walks over what it adds.
  for (const name of names) {
    const { aliases = [] } = documents.get(conversationKey(account, name)) ?? {};
    names.push(...aliases.filter((alias) => !names.includes(alias)));
  }
  return names;
}

/** The documents of a customer's numbers, that of the given one first. Pure. */
export function documentsOf(
  documents: ConversationDocuments,
  account: AccountId,
  customer: string,
): readonly ConversationDocument[] {
  return namesOf(documents, account, customer).flatMap((name) => documents.get(conversationKey(account, name)) ?? []);
}

/** The session of a customer: of whichever number the last message came from. Pure. */
export function sessionOf(documents: ConversationDocuments, account: AccountId, customer: string): Session {
  const times = documentsOf(documents, account, customer).flatMap(({ lastInboundAt }) => lastInboundAt ?? []);
  const [last] = times.sort((a, b) => b.getTime() - a.getTime());
  return last === undefined ? {} : { lastInboundAt: last };
}

/** When a customer told the provider to get no marketing, under whichever number; undefined when not, or resumed since. Pure. */
export function marketingStoppedAt(
  documents: ConversationDocuments,
  account: AccountId,
  customer: string,
): Date | undefined {
  const wishes = documentsOf(documents, account, customer).flatMap(({ marketing }) => marketing ?? []);
  const [last] = wishes.sort((a, b) => b.at.getTime() - a.at.getTime());
  return last?.stopped ? last.at : undefined;
}

/** From `now` on the two numbers of each pair are one person. May be repeated. */
export async function linkCustomers(db: Db, pairs: readonly Pair[], now: Date): Promise<void> {
  const both = pairs.flatMap((pair) => [pair, { ...pair, customer: pair.alias, alias: pair.customer }]);
  await ensureConversations(db, both);
  await updateEach(
    db,
    'conversations',
    both.flatMap(({ account, customer, alias }) => {
      const _id = conversationKey(account, customer);
      return [
        {
          filter: { _id, aliases: { $ne: alias } },
          update: { $push: { aliases: { $each: [alias], $slice: -ALIASES_MAX } } },
        },
        { filter: { _id }, update: { $max: { linkedAt: now } } },
      ];
    }),
  );
}
