import { setImmediate } from 'node:timers/promises';
import type { InboundItem, InboxItemDocument, StatusItem } from '../../shared/chat-inbox/inbox-item.ts';
import type { Inbound } from '../../shared/conversations/store.ts';
import type { ProviderDocument } from '../../shared/providers/provider.ts';
import { isMessageId } from '../../shared/runtime/ids.ts';
import { storable } from './storable.ts';

/** What one post of the provider says, ready to be stored. */
export interface Callback {
  readonly items: readonly InboxItemDocument[];
  /** Customers who wrote: their sessions are open. */
  readonly inbound: readonly Inbound[];
  /** What was left out, by reason, for the metrics. */
  readonly ignored: Readonly<Record<Ignored, number>>;
}

/**
 * `foreign`: for another phone number. `other`: changes of fields that we do not use, statuses that we do not know.
 * `unreadable`: without what makes it one (an id of 1 to 512 characters).
 */
export type Ignored = 'foreign' | 'other' | 'unreadable';

type Json = Readonly<Record<string, unknown>>;

const UPSTREAM_ID_MAX = 512;
const SLICE = 500;
const STATUSES: readonly string[] = ['sent', 'delivered', 'read', 'failed'] satisfies StatusItem['status'][];

/**
 * Reads a post in the WhatsApp Cloud API's shape (facts: chat-app, "Webhook POST"): any number of entries and changes, each
 * with messages, statuses, or both. Believes nothing beyond the signature: what is missing or of another type is left out,
 * messages of unknown types are kept. Writes nothing;
 * ids derive from what is said, so the same post gives the same items. In slices: 3 MB can hold 26,000 messages.
 */
export async function readCallback(
  body: Json,
  provider: Pick<ProviderDocument, '_id' | 'phoneNumberId'>,
  now: Date,
): Promise<Callback> {
  const reader = new Reader(provider, now);
  for (const entry of list(body.entry)) {
    for (const change of list(entry.changes)) {
      if (change.field === 'messages') await reader.value(object(change.value));
      else reader.ignored.other++;
    }
  }
  return reader;
}

class Reader implements Callback {
  readonly items: InboxItemDocument[] = [];
  readonly inbound: Inbound[] = [];
  readonly ignored = { foreign: 0, other: 0, unreadable: 0 };
  readonly #provider: Pick<ProviderDocument, '_id' | 'phoneNumberId'>;
  readonly #now: Date;
  #read = 0;

  constructor(provider: Pick<ProviderDocument, '_id' | 'phoneNumberId'>, now: Date) {
    this.#provider = provider;
    this.#now = now;
  }

  async value(value: Json): Promise<void> {
    const messages = list(value.messages);
    const statuses = list(value.statuses);
    if (object(value.metadata).phone_number_id !== this.#provider.phoneNumberId) {
      this.ignored.foreign += messages.length + statuses.length;
      return;
    }
    const contacts = list(value.contacts);
    for (const message of messages) {
      this.#message(message, contacts);
      await this.#pause();
    }
    for (const status of statuses) {
      this.#status(status);
      await this.#pause();
    }
  }

  /** Lets others have a turn after some of them: each takes a few µs. */
  async #pause(): Promise<void> {
    this.#read += 1;
    if (this.#read % SLICE === 0) await setImmediate();
  }

  #message(message: Json, contacts: readonly Json[]): void {
    const upstreamId = upstreamIdOf(message.id);
    if (upstreamId === undefined) {
      this.ignored.unreadable++;
      return;
    }
    const { id: _id, from: _from, timestamp: _timestamp, type: _type, ...rest } = message;
    const type = typeof message.type === 'string' ? message.type.slice(0, 64) : 'unknown';
    const [only] = contacts;
    const from = digits(message.from) ?? (contacts.length === 1 ? digits(only?.wa_id) : undefined) ?? null;
    const sentAt = this.#time(message.timestamp);
    const { body, more } = contentOf(type, rest);
    const what: InboundItem = { kind: 'message', upstreamId, from, sentAt, type, body, ...(more && { more }) };
    this.#keep('in', upstreamId, what);
    // What the platform says of a customer (a changed number) is not the customer's writing.
    if (from !== null && type !== 'system') {
      this.inbound.push({ account: this.#provider._id, customer: from, at: sentAt });
    }
  }

  #status(status: Json): void {
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
    const [error] = list(status.errors);
    const billing = storable({ conversation: status.conversation, pricing: status.pricing });
    const what: StatusItem = {
      kind: 'status',
      upstreamId,
      ...(typeof ours === 'string' && isMessageId(ours) && { ours }),
      status: status.status,
      at: this.#time(status.timestamp),
      ...(error !== undefined && { error: errorOf(error) }),
      ...(Object.keys(billing).length > 0 && { billing }),
    };
    this.#keep(status.status, upstreamId, what);
  }

  #keep(kind: string, upstreamId: string, what: InboxItemDocument['what']): void {
    const { _id: account } = this.#provider;
    this.items.push({
      _id: `${account}:${kind}:${upstreamId}`,
      account,
      at: this.#now,
      due: this.#now,
      tries: 0,
      what,
    });
  }

  /** "A string of unix seconds". A time that is none, or has not come yet, is now: a session is never longer than 24 h. */
  #time(timestamp: unknown): Date {
    const text = typeof timestamp === 'number' ? String(timestamp) : timestamp;
    const ms = typeof text === 'string' && /^\d{1,11}$/.test(text) ? Number(text) * 1000 : Number.POSITIVE_INFINITY;
    return ms < this.#now.getTime() ? new Date(ms) : this.#now;
  }
}

/** The specification's `body`: what a person would read of it; all else, as it came, in `more`. */
function contentOf(type: string, rest: Json): { readonly body: string; readonly more?: Json } {
  const own = object(rest[type]);
  const body = textOf(type, own);
  const { text: _, ...others } = rest;
  const more = storable(type === 'text' ? others : rest);
  return Object.keys(more).length === 0 ? { body } : { body, more };
}

function textOf(type: string, own: Json): string {
  switch (type) {
    case 'text':
    case 'system':
      return string(own.body);
    case 'button':
      return string(own.text);
    case 'interactive':
      return string(object(own.button_reply).title) || string(object(own.list_reply).title);
    case 'reaction':
      return string(own.emoji);
    case 'location':
      return string(own.name) || string(own.address);
    default:
      return string(own.caption);
  }
}

function errorOf(error: Json): StatusItem['error'] & object {
  const details = string(object(error.error_data).details);
  const title = string(error.title) || string(error.message);
  return { code: Number.isSafeInteger(error.code) ? Number(error.code) : 0, title, ...(details !== '' && { details }) };
}

function upstreamIdOf(id: unknown): string | undefined {
  return typeof id === 'string' && id !== '' && id.length <= UPSTREAM_ID_MAX ? id : undefined;
}

function isStatus(status: unknown): status is StatusItem['status'] {
  return typeof status === 'string' && STATUSES.includes(status);
}

/** A phone number: newer payloads may have a user id instead (facts: chat-app). */
function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^[1-9]\d{6,14}$/.test(value) ? value : undefined;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}
