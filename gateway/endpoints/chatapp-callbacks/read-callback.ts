import { GRAPH_ID, type ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import type { BusinessNumber } from '../../../shared/messages/document/chat-message.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { nextTurn, turnOver } from '../../../shared/platform/runtime/turns.ts';
import type { JsonObject } from '../../http/context.ts';
import { ACCOUNT_FIELDS, readNotice, TEMPLATE_FIELDS } from './account-news.ts';
import { type AccountPart, type Ignored, PartReader } from './account-part.ts';
import { list, object } from './loose-json.ts';

/** Callback fields about one number and its customers. */
const NUMBER_FIELDS: ReadonlySet<string> = new Set(['messages', 'calls', 'user_preferences']);

export interface CallbackPost {
  readonly parts: readonly AccountPart[];
  /** How many entries were left out, by reason. */
  readonly ignored: Readonly<Record<Ignored, number>>;
  /** The left-out ones for unknown owners: `number_106540352242922` or `business_102290129340398`. */
  readonly unknown: ReadonlyMap<string, number>;
}

/** The numbers with this phone number id or business account that the poster may write to. */
export type FindOwners = (by: OwnedId, id: string) => Promise<readonly Owner[]>;
export type Owner = Pick<ProviderDocument, 'account'> & { readonly number: BusinessNumber };
export type OwnedId = 'phoneNumberId' | 'businessId';

/**
 * Reads a post in the WhatsApp Cloud API's shape ("Components" of its webhooks reference): any number of entries and
 * changes, each with its own number and account. The signature proves only the sender, so missing values and wrong
 * types are left out; messages of unknown types are kept. Stores nothing. Ids derive from the content, so the same post
 * gives the same items. Works in slices, because 3 MB can hold 26,000 messages.
 *
 * An item heavier than `ITEM_WEIGHT_MAX` is cut, because it would burden every reader. A refused post would be repeated
 * for seven days with all else in it, and dropping the item could lose a customer's message. A cut item keeps who
 * wrote, when, and the first 16,384 characters of a text.
 */
export async function readCallback(body: JsonObject, findOwners: FindOwners, now: Date): Promise<CallbackPost> {
  const post = new PostReader(findOwners, now);
  for (const entry of list(body.entry)) {
    if (turnOver()) await nextTurn();
    for (const change of list(object(entry).changes)) {
      if (turnOver()) await nextTurn();
      const { field, value } = object(change);
      if (NUMBER_FIELDS.has(String(field))) await post.value(object(value));
      else if (TEMPLATE_FIELDS.has(String(field))) await post.template(object(entry), object(value));
      else if (ACCOUNT_FIELDS.has(String(field))) await post.notice(object(entry), String(field), object(value));
      else post.ignored.other++;
    }
  }
  return { parts: [...post.readers.values()], ignored: post.ignored, unknown: post.unknown };
}

class PostReader {
  readonly readers = new Map<AccountId, PartReader>();
  readonly ignored = { foreign: 0, other: 0, unreadable: 0 };
  readonly unknown = new Map<string, number>();
  readonly #findOwners: FindOwners;
  readonly #now: Date;

  constructor(findOwners: FindOwners, now: Date) {
    this.#findOwners = findOwners;
    this.#now = now;
  }

  async value(value: JsonObject): Promise<void> {
    const { messages, statuses, errors, calls, user_preferences: preferences } = value;
    const entries = [messages, statuses, errors, calls, preferences].reduce<number>(
      (sum, one) => sum + list(one).length,
      0,
    );
    const id = object(value.metadata).phone_number_id;
    for (const { account, number } of await this.#ownersOf('phoneNumberId', id, entries)) {
      await this.#readerOf(account).value(value, number);
    }
  }

  /** Templates belong to the business account that `entry` names. */
  async template(entry: JsonObject, value: JsonObject): Promise<void> {
    for (const account of accountsOf(await this.#ownersOf('businessId', entry.id, 1))) {
      this.#readerOf(account).template(entry, value);
    }
  }

  async notice(entry: JsonObject, field: string, value: JsonObject): Promise<void> {
    const owners = await this.#ownersOf('businessId', entry.id, 1);
    const notice = readNotice(field, value);
    for (const account of accountsOf(owners)) {
      const own = owners.filter((one) => one.account === account).map(({ number }) => number);
      // A notice of one number is for that one, others are for all numbers of the business account.
      const meant = own.find((number) => number === notice.number);
      const numbers = meant === undefined ? own : [meant];
      this.#readerOf(account).notices.push({ notice, numbers });
    }
  }

  async #ownersOf(by: OwnedId, given: unknown, entries: number): Promise<readonly Owner[]> {
    const id = typeof given === 'string' && GRAPH_ID.test(given) ? given : undefined;
    const owners = id === undefined ? [] : await this.#findOwners(by, id);
    if (owners.length === 0 && entries > 0) {
      this.ignored.foreign += entries;
      const unknown = `${by === 'phoneNumberId' ? 'number' : 'business'}_${id ?? 'unknown'}`;
      this.unknown.set(unknown, (this.unknown.get(unknown) ?? 0) + entries);
    }
    return owners;
  }

  #readerOf(account: AccountId): PartReader {
    const known = this.readers.get(account);
    if (known !== undefined) return known;
    const reader = new PartReader(account, this.#now, this.ignored);
    this.readers.set(account, reader);
    return reader;
  }
}

function accountsOf(owners: readonly Owner[]): ReadonlySet<AccountId> {
  return new Set(owners.map(({ account }) => account));
}
