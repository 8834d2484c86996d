import { hash } from 'node:crypto';
import {
  type InboundItem,
  type InboxItemDocument,
  ITEM_WEIGHT_MAX,
  itemId,
  type StatusItem,
} from '../../shared/chat-inbox/inbox-item.ts';
import type { Inbound } from '../../shared/conversations/store.ts';
import { GRAPH_ID } from '../../shared/providers/provider-form.ts';
import { type AccountId, isMessageId } from '../../shared/runtime/ids.ts';
import type { JsonObject } from '../http/context.ts';
import { Slice } from '../http/slice.ts';
import { billingOf, contentOf, errorOf } from './item-content.ts';
import { list, object } from './loose-json.ts';
import { ACCOUNT_FIELDS, type Notice, readErrorNotice, readNotice } from './read-notice.ts';
import { readTemplateChange, TEMPLATE_FIELDS } from './read-template-change.ts';
import { weightOf } from './weight.ts';

/** The content of one post, ready to be stored. */
export interface CallbackPost {
  /** One for each account that something is for. */
  readonly parts: readonly AccountPart[];
  /** How many entries were left out, by reason, for the metrics. */
  readonly ignored: Readonly<Record<Ignored, number>>;
  /** How many of them were for whom: `number_106540352242922` or `business_102290129340398`. */
  readonly strays: ReadonlyMap<string, number>;
}

export interface AccountPart {
  readonly account: AccountId;
  readonly items: readonly InboxItemDocument[];
  /** Customers who wrote. Their sessions are open now. */
  readonly inbound: readonly Inbound[];
  /** How many items were too large and lost a part. */
  readonly cut: number;
  /** For operators. They are not stored. */
  readonly notices: readonly Notice[];
}

/**
 * `foreign`: for a number or business account that none of the accounts has. `other`: changes of fields that we do not
 * use, statuses that we do not know. `unreadable`: an id is missing or does not have 1 to 512 characters.
 */
export type Ignored = 'foreign' | 'other' | 'unreadable';

/** Whose the phone number or the business account with this id is, among the accounts that the poster may write to. */
export type FindOwners = (by: OwnedId, id: string) => Promise<readonly AccountId[]>;
export type OwnedId = 'phoneNumberId' | 'businessId';

const UPSTREAM_ID_MAX = 512;
const STATUSES: readonly string[] = ['sent', 'delivered', 'read', 'failed'] satisfies StatusItem['status'][];
/**
 * `system` comes from the platform (the customer changed the number, say). `edit` and `revoke` change or delete a
 * message that came before. Messages in a group open no session with their author either.
 */
const OPENS_NO_SESSION: readonly string[] = ['system', 'edit', 'revoke'];

/**
 * Reads a post in the WhatsApp Cloud API's shape ("Components" of its webhooks reference): any number of entries and
 * changes, each with messages, statuses, or both. All numbers of an app may post to one address, so each change has its
 * own account. The signature proves only the sender, so nothing else is trusted: values that are missing or of the wrong
 * type are left out. Messages of unknown types are kept. Stores nothing. Ids derive from the content, so the same post
 * gives the same items. Works in slices, because 3 MB can hold 26,000 messages.
 *
 * No provider sends an item that weighs more than `ITEM_WEIGHT_MAX`, and such an item would burden every reader.
 * Refusing the post would not help: the provider would repeat it for seven days, with everything else in it. Dropping
 * the item could lose a customer's message or the fate of one of ours. So it is cut: the result keeps who wrote and
 * when, or which message reached which status and why, and the first 16,384 characters of a text.
 */
export async function readCallback(body: JsonObject, findOwners: FindOwners, now: Date): Promise<CallbackPost> {
  const post = new PostReader(findOwners, now);
  const slice = new Slice();
  for (const entry of list(body.entry)) {
    if (slice.over) await slice.rest();
    for (const change of list(object(entry).changes)) {
      if (slice.over) await slice.rest();
      const { field, value } = object(change);
      if (field === 'messages') await post.value(object(value));
      else if (TEMPLATE_FIELDS.has(String(field))) await post.template(object(entry), object(value));
      else if (ACCOUNT_FIELDS.has(String(field))) await post.notice(object(entry), String(field), object(value));
      else post.ignored.other++;
    }
  }
  return { parts: [...post.readers.values()], ignored: post.ignored, strays: post.strays };
}

/** Hands each change to the readers of its accounts. */
class PostReader {
  readonly readers = new Map<AccountId, Reader>();
  readonly ignored = { foreign: 0, other: 0, unreadable: 0 };
  readonly strays = new Map<string, number>();
  readonly #findOwners: FindOwners;
  readonly #now: Date;

  constructor(findOwners: FindOwners, now: Date) {
    this.#findOwners = findOwners;
    this.#now = now;
  }

  async value(value: JsonObject): Promise<void> {
    const { messages, statuses, errors } = value;
    const entries = list(messages).length + list(statuses).length + list(errors).length;
    const id = object(value.metadata).phone_number_id;
    for (const reader of await this.#readersOf('phoneNumberId', id, entries)) await reader.value(value);
  }

  /** Templates belong to the business account, which `entry` names. */
  async template(entry: JsonObject, value: JsonObject): Promise<void> {
    for (const reader of await this.#readersOf('businessId', entry.id, 1)) reader.template(entry, value);
  }

  async notice(entry: JsonObject, field: string, value: JsonObject): Promise<void> {
    for (const reader of await this.#readersOf('businessId', entry.id, 1))
      reader.notices.push(readNotice(field, value));
  }

  async #readersOf(by: OwnedId, given: unknown, entries: number): Promise<readonly Reader[]> {
    const id = typeof given === 'string' && GRAPH_ID.test(given) ? given : undefined;
    const owners = id === undefined ? [] : await this.#findOwners(by, id);
    if (owners.length === 0 && entries > 0) {
      this.ignored.foreign += entries;
      const stray = `${by === 'phoneNumberId' ? 'number' : 'business'}_${id ?? 'unknown'}`;
      this.strays.set(stray, (this.strays.get(stray) ?? 0) + entries);
    }
    return owners.map((account) => this.#readerOf(account));
  }

  #readerOf(account: AccountId): Reader {
    const known = this.readers.get(account);
    if (known !== undefined) return known;
    const reader = new Reader({ _id: account }, this.#now, this.ignored);
    this.readers.set(account, reader);
    return reader;
  }
}

/** What is for one account. */
class Reader implements AccountPart {
  readonly items: InboxItemDocument[] = [];
  readonly inbound: Inbound[] = [];
  readonly notices: Notice[] = [];
  cut = 0;
  readonly ignored: Record<Ignored, number>;
  readonly #provider: { readonly _id: AccountId };
  readonly #now: Date;
  readonly #slice = new Slice();
  /** Changes of templates so far. */
  #templates = 0;

  constructor(provider: { readonly _id: AccountId }, now: Date, ignored: Record<Ignored, number>) {
    this.#provider = provider;
    this.#now = now;
    this.ignored = ignored;
  }

  get account(): AccountId {
    return this.#provider._id;
  }

  async value(value: JsonObject): Promise<void> {
    const contacts = list(value.contacts);
    for (const message of list(value.messages)) {
      this.#message(object(message), contacts);
      await this.pause();
    }
    for (const status of list(value.statuses)) {
      this.#status(object(status));
      await this.pause();
    }
    for (const error of list(value.errors)) {
      this.notices.push(readErrorNotice(object(error)));
      await this.pause();
    }
  }

  template(entry: JsonObject, value: JsonObject): void {
    const what = readTemplateChange(value, entry.time, this.#now);
    if (what === undefined) this.ignored.unreadable++;
    else {
      const known = hash('sha256', JSON.stringify([entry.time, value]), 'base64url');
      // Changes of one post are worked off in its order: the last one is what holds.
      const due = new Date(this.#now.getTime() + this.#templates++);
      this.#keep('template', known, what, due);
    }
  }

  /** Lets the event loop do other work when the slice's time is over. */
  async pause(): Promise<void> {
    if (this.#slice.over) await this.#slice.rest();
  }

  #message(message: JsonObject, contacts: readonly unknown[]): void {
    const upstreamId = upstreamIdOf(message.id);
    if (upstreamId === undefined) {
      this.ignored.unreadable++;
      return;
    }
    const type = typeof message.type === 'string' ? message.type.slice(0, 64) : 'unknown';
    const [only] = contacts;
    const from = digits(message.from) ?? (contacts.length === 1 ? digits(object(only).wa_id) : undefined) ?? null;
    const sentAt = this.#time(message.timestamp);
    const { body, more } = contentOf(type, message, this.#fits(message));
    const what: InboundItem = { kind: 'message', upstreamId, from, sentAt, type, body, ...(more && { more }) };
    this.#keep('in', upstreamId, what);
    if (from !== null && message.group_id === undefined && !OPENS_NO_SESSION.includes(type)) {
      this.inbound.push({ account: this.#provider._id, customer: from, at: sentAt });
    }
  }

  #status(status: JsonObject): void {
    const upstreamId = upstreamIdOf(status.id);
    if (upstreamId === undefined) {
      this.ignored.unreadable++;
      return;
    }
    if (!isStatus(status.status)) {
      this.ignored.other++;
      return;
    }
    const ours = status.biz_opaque_callback_data;
    const error = errorOf(status);
    const billing = this.#fits(status) ? billingOf(status) : undefined;
    const what: StatusItem = {
      kind: 'status',
      upstreamId,
      ...(typeof ours === 'string' && isMessageId(ours) && { ours }),
      status: status.status,
      at: this.#time(status.timestamp),
      ...(error !== undefined && { error }),
      ...(billing !== undefined && { billing }),
    };
    this.#keep(status.status, upstreamId, what);
  }

  /** Checked before the item is read. Counting stops at the limit, so even a huge item costs little. */
  #fits(item: JsonObject): boolean {
    if (weightOf(item, ITEM_WEIGHT_MAX) <= ITEM_WEIGHT_MAX) return true;
    this.cut++;
    return false;
  }

  #keep(kind: Parameters<typeof itemId>[1], id: string, what: InboxItemDocument['what'], due = this.#now): void {
    const { _id: account } = this.#provider;
    this.items.push({
      _id: itemId(account, kind, id),
      account,
      at: this.#now,
      due,
      tries: 0,
      what,
      weight: weightOf(what, ITEM_WEIGHT_MAX),
    });
  }

  /**
   * "A string of unix seconds". An invalid or future time counts as now, so that no session is longer than 24 hours.
   */
  #time(timestamp: unknown): Date {
    const text = typeof timestamp === 'number' ? String(timestamp) : timestamp;
    const ms = typeof text === 'string' && /^\d{1,11}$/.test(text) ? Number(text) * 1000 : Number.POSITIVE_INFINITY;
    return ms < this.#now.getTime() ? new Date(ms) : this.#now;
  }
}

function upstreamIdOf(id: unknown): string | undefined {
  return typeof id === 'string' && id !== '' && id.length <= UPSTREAM_ID_MAX ? id : undefined;
}

function isStatus(status: unknown): status is StatusItem['status'] {
  return typeof status === 'string' && STATUSES.includes(status);
}

/** A phone number. Undefined for the user ids that newer payloads can have in its place. */
function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^[1-9]\d{6,14}$/.test(value) ? value : undefined;
}
