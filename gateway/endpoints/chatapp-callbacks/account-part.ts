import { hash } from 'node:crypto';
import {
  type InboundItem,
  type InboxItemDocument,
  ITEM_WEIGHT_MAX,
  itemId,
  type StatusItem,
} from '../../../shared/messages/chat-inbox.ts';
import type { BusinessNumber } from '../../../shared/messages/document/chat-message.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import type { Inbound, Profile } from '../../../shared/money/conversations/conversation.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, isMessageId } from '../../../shared/platform/runtime/ids.ts';
import { nextTurn, turnOver } from '../../../shared/platform/runtime/turns.ts';
import type { JsonObject } from '../../http/context.ts';
import { beginning } from '../../http/fields/field.ts';
import { type Notice, readErrorNotice, readTemplateChange } from './account-news.ts';
import { list, object, storable, string, weightOf } from './loose-json.ts';

export interface AccountPart {
  readonly account: AccountId;
  readonly items: readonly InboxItemDocument[];
  /** Customers who wrote; their sessions are open now. */
  readonly inbound: readonly Inbound[];
  /** How many items were too large and were cut. */
  readonly cut: number;
  readonly notices: readonly NumberNotice[];
}

interface NumberNotice {
  readonly notice: Notice;
  readonly numbers: readonly BusinessNumber[];
}

/**
 * `foreign`: for a number or business account that no account has. `other`: fields and statuses that we do not use.
 * `unreadable`: an id is missing or does not have 1 to 512 characters.
 */
export type Ignored = 'foreign' | 'other' | 'unreadable';

const UPSTREAM_ID_MAX = 512;
const STATUSES: readonly string[] = ['sent', 'delivered', 'read', 'failed'] satisfies StatusItem['status'][];
/**
 * `system` comes from the platform (for example, the customer changed the number); `edit` and `revoke` change or delete
 * an earlier message. Messages in a group open no session with their author either.
 */
const OPENS_NO_SESSION: readonly string[] = ['system', 'edit', 'revoke'];

/** Reads the changes for one account, in slices. `ignored` is counted for the whole post. */
export class PartReader implements AccountPart {
  readonly account: AccountId;
  readonly items: InboxItemDocument[] = [];
  readonly inbound: Inbound[] = [];
  readonly notices: NumberNotice[] = [];
  cut = 0;
  readonly #ignored: Record<Ignored, number>;
  readonly #now: Date;
  #templates = 0;

  constructor(account: AccountId, now: Date, ignored: Record<Ignored, number>) {
    this.account = account;
    this.#now = now;
    this.#ignored = ignored;
  }

  async value(value: JsonObject, number: BusinessNumber): Promise<void> {
    const contacts = list(value.contacts);
    for (const message of list(value.messages)) {
      this.#message(object(message), contacts, number);
      if (turnOver()) await nextTurn();
    }
    for (const call of list(value.calls)) {
      this.#call(object(call), contacts, number);
      if (turnOver()) await nextTurn();
    }
    for (const preference of list(value.user_preferences)) {
      this.#preference(object(preference), contacts);
      if (turnOver()) await nextTurn();
    }
    for (const status of list(value.statuses)) {
      this.#status(object(status), contacts);
      if (turnOver()) await nextTurn();
    }
    for (const error of list(value.errors)) {
      this.notices.push({ notice: readErrorNotice(object(error)), numbers: [number] });
      if (turnOver()) await nextTurn();
    }
  }

  template(entry: JsonObject, value: JsonObject): void {
    const what = readTemplateChange(entry, value, this.#now);
    if (what === undefined) this.#ignored.unreadable++;
    else {
      const known = hash('sha256', JSON.stringify([entry.time, value]), 'base64url');
      // Changes of one post are processed in order, so the last one holds.
      const due = new Date(this.#now.getTime() + this.#templates++);
      this.#keep('template', known, what, due);
    }
  }

  #message(message: JsonObject, contacts: readonly unknown[], number: BusinessNumber): void {
    const upstreamId = upstreamIdOf(message.id);
    if (upstreamId === undefined) {
      this.#ignored.unreadable++;
      return;
    }
    const type = typeof message.type === 'string' ? message.type.slice(0, 64) : 'unknown';
    const { from: known, who } = whoOf(message, contacts);
    // A customer who changes their id may be named by the old id alone, without contacts.
    const from = known ?? userId(object(message.system).previous_user_id) ?? null;
    const sentAt = this.#time(message.timestamp);
    const { body, more } = contentOf(type, message, this.#fits(message));
    const what: InboundItem = {
      ...{ kind: 'message', number, upstreamId, from, sentAt, type, body },
      ...(who && { who }),
      ...(more && { more }),
    };
    this.#keep('in', upstreamId, what);
    if (from !== null && message.group_id === undefined && !OPENS_NO_SESSION.includes(type)) {
      this.inbound.push({ account: this.account, customer: from, number, at: sentAt });
    }
  }

  /**
   * A customer's call opens the session as a message does (WhatsApp Cloud API, "Service messages"). Stored as a message
   * without text, once for its connection and its end. Calls by the business open nothing.
   */
  #call(call: JsonObject, contacts: readonly unknown[], number: BusinessNumber): void {
    const upstreamId = upstreamIdOf(call.id);
    const { from, who } = whoOf(call, contacts);
    if (upstreamId === undefined || from === undefined) {
      this.#ignored.unreadable++;
      return;
    }
    if (call.direction !== undefined && call.direction !== 'USER_INITIATED') {
      this.#ignored.other++;
      return;
    }
    const sentAt = this.#time(call.timestamp);
    const what = { kind: 'message', number, upstreamId, from, sentAt, type: 'call', body: '' } as const;
    this.#keep('in', upstreamId, { ...what, ...(who && { who }) });
    this.inbound.push({ account: this.account, customer: from, number, at: sentAt });
  }

  #preference(preference: JsonObject, contacts: readonly unknown[]): void {
    const { value, category, timestamp } = preference;
    const { wa_id: number, user_id: id, parent_user_id: parent } = preference;
    const { from: customer, who } = whoOf({ from: number, from_user_id: id, from_parent_user_id: parent }, contacts);
    const wish = value === 'stop' ? 'stopped' : value === 'resume' ? 'resumed' : undefined;
    if (category !== 'marketing_messages' || wish === undefined) this.#ignored.other++;
    else if (customer === undefined) this.#ignored.unreadable++;
    else {
      const known = hash('sha256', JSON.stringify([customer, wish, timestamp]), 'base64url');
      const what = { kind: 'preference', customer, wish, toldAt: this.#time(timestamp) } as const;
      this.#keep('preference', known, { ...what, ...(who && { who }) });
    }
  }

  #status(status: JsonObject, contacts: readonly unknown[]): void {
    const upstreamId = upstreamIdOf(status.id);
    if (upstreamId === undefined) {
      this.#ignored.unreadable++;
      return;
    }
    if (!isStatus(status.status)) {
      this.#ignored.other++;
      return;
    }
    const ours = status.biz_opaque_callback_data;
    const recipient = digits(status.recipient_id);
    const contact = contactOf(contacts, status.recipient_id, status.recipient_user_id);
    const who = profileOf(contact, {
      userId: userId(status.recipient_user_id) ?? userId(contact.user_id),
      parentId: userId(status.recipient_parent_user_id) ?? userId(contact.parent_user_id),
    });
    const error = errorOf(status);
    const pricing = pricingOf(status);
    const what: StatusItem = {
      kind: 'status',
      upstreamId,
      ...(typeof ours === 'string' && isMessageId(ours) && { ours }),
      status: status.status,
      ...(recipient !== undefined && { recipient }),
      ...(who && { who }),
      at: this.#time(status.timestamp),
      ...(error !== undefined && { error }),
      ...(pricing !== undefined && { pricing }),
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
    const { account } = this;
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

  /** "A string of unix seconds". Invalid and future times count as now: no session outlasts 24 hours. */
  #time(timestamp: unknown): Date {
    const text = typeof timestamp === 'number' ? String(timestamp) : timestamp;
    const ms = typeof text === 'string' && /^\d{1,11}$/.test(text) ? Number(text) * 1000 : Number.POSITIVE_INFINITY;
    return ms < this.#now.getTime() ? new Date(ms) : this.#now;
  }
}

function upstreamIdOf(id: unknown): string | undefined {
  return typeof id === 'string' && id !== '' && id.length <= UPSTREAM_ID_MAX ? id : undefined;
}

/** The sender's number, or the user id when no number is shown; and the profile. */
function whoOf(thing: JsonObject, contacts: readonly unknown[]) {
  const contact = contactOf(contacts, thing.from, thing.from_user_id);
  const who = profileOf(contact, {
    userId: userId(thing.from_user_id) ?? userId(contact.user_id) ?? userId(thing.from),
    parentId: userId(thing.from_parent_user_id) ?? userId(contact.parent_user_id),
  });
  return { from: digits(thing.from) ?? digits(contact.wa_id) ?? who?.userId, who };
}

function isStatus(status: unknown): status is StatusItem['status'] {
  return typeof status === 'string' && STATUSES.includes(status);
}

/** The customer's entry of `contacts`. A single entry is the customer's. */
function contactOf(contacts: readonly unknown[], number: unknown, id: unknown): JsonObject {
  if (contacts.length === 1) return object(contacts[0]);
  const isTheirs = ({ wa_id, user_id }: JsonObject) =>
    (number !== undefined && wa_id === number) || (id !== undefined && user_id === id);
  return contacts.map(object).find(isTheirs) ?? object(undefined);
}

/** WhatsApp allows far fewer characters. */
const NAME_MAX = 128;

function profileOf(contact: JsonObject, ids: { readonly [_ in 'userId' | 'parentId']?: string | undefined }) {
  const { username, name } = object(contact.profile);
  const text = (value: unknown) => beginning(string(value).trim(), NAME_MAX) || undefined;
  const told: Profile = defined({ ...ids, username: text(username), name: text(name) });
  return Object.keys(told).length === 0 ? undefined : told;
}

/** For customers who show no number (WhatsApp Cloud API, "Business-scoped user IDs"). */
function userId(value: unknown): string | undefined {
  return typeof value === 'string' && isCustomerUserId(value) ? value : undefined;
}

function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^[1-9]\d{6,14}$/.test(value) ? value : undefined;
}

/** How much of a text is kept when the message is too large. The Cloud API allows 4,096 characters. */
const CUT_BODY = 16_384;
/** For an error's title and details, which are copied into the message and its events. */
const ERROR_TEXT_MAX = 1_024;

/** Group ids have some 60 characters (WhatsApp Cloud API, "Group messages"). */
const GROUP_ID_MAX = 512;

/**
 * `body` of the specification is what a person would read of the message; all else goes into `more` unchanged. If the
 * message is too large (`whole` is false), only the beginning of `body` and the group are kept. The group is needed
 * because an answer would not go to the author alone.
 */
function contentOf(type: string, message: JsonObject, whole: boolean): Pick<InboundItem, 'body' | 'more'> {
  if (!whole) {
    const group = string(message.group_id).slice(0, GROUP_ID_MAX);
    const cut = beginning(textOf(type, object(message[type])), CUT_BODY);
    return group === '' ? { body: cut } : { body: cut, more: { group_id: group } };
  }
  const { id: _id, from: _from, timestamp: _timestamp, type: _type, ...rest } = message;
  const body = textOf(type, object(rest[type]));
  const { text: _, ...others } = rest;
  const more = storable(type === 'text' ? others : rest);
  return Object.keys(more).length === 0 ? { body } : { body, more };
}

function textOf(type: string, own: JsonObject): string {
  switch (type) {
    case 'text':
    case 'system':
      return string(own.body);
    case 'button':
    case 'order':
      return string(own.text);
    case 'interactive':
      return (
        string(object(own.button_reply).title) ||
        string(object(own.list_reply).title) ||
        string(object(own.nfm_reply).body)
      );
    case 'reaction':
      return string(own.emoji);
    case 'location':
      return string(own.name) || string(own.address);
    default:
      return string(own.caption);
  }
}

function errorOf({ errors }: JsonObject): StatusItem['error'] {
  if (list(errors).length === 0) return undefined;
  const error = object(list(errors)[0]);
  const details = string(object(error.error_data).details);
  const title = string(error.title) || string(error.message);
  return {
    code: Number.isSafeInteger(error.code) ? Number(error.code) : 0,
    title: beginning(title, ERROR_TEXT_MAX),
    ...(details !== '' && { details: beginning(details, ERROR_TEXT_MAX) }),
  };
}

/** For names such as `authentication_international`. */
const PRICING_WORD_MAX = 64;

function pricingOf({ pricing }: JsonObject): StatusItem['pricing'] {
  const { billable, pricing_model: model, type, category } = object(pricing);
  const read = defined({
    billable: typeof billable === 'boolean' ? billable : undefined,
    ...{ model: pricingWord(model), type: pricingWord(type), category: pricingWord(category) },
  });
  return Object.keys(read).length > 0 ? read : undefined;
}

function pricingWord(value: unknown): string | undefined {
  return string(value).slice(0, PRICING_WORD_MAX) || undefined;
}
