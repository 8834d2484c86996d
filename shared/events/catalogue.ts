import assert from 'node:assert/strict';
import { channelOf } from '../messages/channels/channels.ts';
import type { AnyMessage } from '../messages/document/any-message.ts';
import type { ChannelName, HistoryEntry } from '../messages/document/message.ts';
import { isoTimestamp } from '../platform/runtime/clock.ts';
import { type TemplateChange, type TemplateOutcome, templateBody } from './template-change.ts';

/** A message reached a state. */
export interface StateChange {
  /** The message as it is now. When a redo announces the change, the message may have moved on. */
  readonly message: AnyMessage;
  /** The history entry that the event reports. */
  readonly entry: HistoryEntry;
}

interface EventKind {
  /** The channels whose webhooks may subscribe to it. */
  readonly channels: readonly ChannelName[];
  /** When it happens, in words for customers; the API's document shows it under `webhooks`. */
  readonly when: string;
}

interface MessageEventKind extends EventKind {
  /** The event happens when a message reaches this state, shown by a new entry of its history. */
  readonly state: HistoryEntry['state'];
  /** The posted body, its members in order; `undefined` members are left out. Its shape: gateway/api/event-shapes.ts. */
  body(event: string, change: StateChange): object;
}

const ALL = ['sms', 'chatapp'] as const satisfies readonly ChannelName[];

/**
 * The events of messages ("Event kinds"), in the order of lists. Only these tables decide name, channel, time and body of an
 * event. Subscriptions, the filter of GET /v2/events and the names accepted for webhooks follow from them; a test compares
 * the API's document with them. How to add one: docs/extending.md.
 */
const MESSAGE_EVENTS = {
  'message.received': {
    channels: ALL,
    state: 'received',
    when: 'A customer wrote to the account, or somebody sent an SMS to one of its numbers.',
    body: receivedBody,
  },
  'recipient.opted_out': {
    channels: ['sms'],
    state: 'opted_out',
    when: 'A customer wrote STOP, or another word for it: SMS to this customer are refused from now on.',
    body: optOutBody,
  },
  'recipient.opted_in': {
    channels: ['sms'],
    state: 'opted_in',
    when: 'A customer who had opted out wrote START, or another word for it.',
    body: optOutBody,
  },
  'message.read': { channels: ['chatapp'], state: 'read', when: 'The customer opened the message.', body: readBody },
  'message.sent': {
    channels: ALL,
    state: 'sent',
    when: 'The carrier or the provider took the message.',
    body: sentBody,
  },
  'message.delivered': { channels: ALL, state: 'delivered', when: 'The message arrived.', body: deliveredBody },
  'message.failed': { channels: ALL, state: 'failed', when: 'The message was not delivered.', body: errorBody },
  'message.expired': {
    channels: ALL,
    state: 'expired',
    when: 'The validity of the message ended before it was delivered.',
    body: errorBody,
  },
  'message.rejected': { channels: ALL, state: 'rejected', when: 'The message was refused for good.', body: errorBody },
} as const satisfies Readonly<Record<string, MessageEventKind>>;

/** The events of templates. GET /v2/events does not list them, because it reads the histories of messages. */
const TEMPLATE_EVENTS = {
  'template.approved': {
    channels: ALL,
    outcome: 'approved',
    when: 'A template may be sent from now on, for the first time or again.',
  },
  'template.rejected': { channels: ALL, outcome: 'rejected', when: 'A template was refused; `reason` says why.' },
  'template.stopped': {
    channels: ['chatapp'],
    outcome: 'stopped',
    when: 'An approved template cannot be sent any more; `status` says why: `paused`, `disabled`, `archived`, `deleted` …',
  },
} as const satisfies Readonly<Record<string, EventKind & { readonly outcome: TemplateOutcome }>>;

/** All events that customers can receive. */
export const EVENTS = { ...MESSAGE_EVENTS, ...TEMPLATE_EVENTS };

export type EventName = keyof typeof EVENTS;
export type MessageEventName = keyof typeof MESSAGE_EVENTS;

// The catalogue's own keys.
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];
export const MESSAGE_EVENT_NAMES = Object.keys(MESSAGE_EVENTS) as readonly MessageEventName[];

/** The events of one channel. */
export function eventsOf(channel: ChannelName): readonly EventName[] {
  const kinds: Readonly<Record<EventName, EventKind>> = EVENTS;
  return EVENT_NAMES.filter((name) => kinds[name].channels.includes(channel));
}

/** The event for a new entry of a message's history. */
export function eventName({ state }: HistoryEntry): MessageEventName {
  const name = BY_STATE.get(state);
  if (name === undefined) throw new Error(`no event tells of the state ${state}`);
  return name;
}

/** The state that an event of this name reports. */
export function stateOf(name: MessageEventName): HistoryEntry['state'] {
  return MESSAGE_EVENTS[name].state;
}

/** The exact JSON that is signed and posted. */
export function eventBody(change: StateChange): string {
  const event = eventName(change.entry);
  return JSON.stringify(kindOf(event).body(event, change));
}

/** The event that tells of a template's change, and the exact JSON that is signed and posted. */
export function templateEvent(change: TemplateChange): { readonly event: EventName; readonly body: string } {
  const event = `template.${change.event}` as const;
  return { event, body: JSON.stringify(templateBody(event, change)) };
}

const BY_STATE: ReadonlyMap<HistoryEntry['state'], MessageEventName> = new Map(
  MESSAGE_EVENT_NAMES.map((name) => [stateOf(name), name]),
);

function kindOf(name: MessageEventName): MessageEventKind {
  return MESSAGE_EVENTS[name];
}

/** Members that only some events have, each in its place. */
interface OwnMembers {
  readonly operator?: string;
  readonly deliveredAt?: string;
  readonly error?: { readonly error_code: string | null; readonly error_reason: string | null };
}

function sentBody(event: string, change: StateChange): object {
  return outboundBody(event, change, {});
}

/** `operator` is never null here: a message that arrived was delivered by somebody. */
function readBody(event: string, change: StateChange): object {
  return outboundBody(event, change, { operator: deliveredBy(change) });
}

/** `operator` is never null, as in `readBody`. */
function deliveredBody(event: string, change: StateChange): object {
  const { message, entry } = change;
  const deliveredAt = isoTimestamp(message.deliveredAt ?? entry.at);
  return outboundBody(event, change, { operator: deliveredBy(change), deliveredAt });
}

/** An unexplained error is null, not missing. */
function errorBody(event: string, change: StateChange): object {
  const { errorCode, errorReason } = change.message;
  const { code = null, reason = null } = change.entry.error ?? { code: errorCode, reason: errorReason };
  return outboundBody(event, change, { error: { error_code: code, error_reason: reason } });
}

/**
 * The payload of "message.received". A text has exactly these six members. Other types add their own members under the type's
 * name, and an answer to a message adds its `context`. On the chat-app channel the business's number is left out, because an
 * account has only one. An SMS also has `to` and `channel`; `opt_out` if it is an opt-out word or close to one; and `missing_parts`
 * or `data_coding` if it could not be read completely.
 */
function receivedBody(event: string, { message, entry }: StateChange): object {
  assert('inbound' in message, 'only what a customer wrote is received');
  const { _id, from, inbound } = message;
  const { type, body, more } = inbound;
  const members = { event, from, message_id: _id, type, body, timestamp: isoTimestamp(entry.at) };
  // Our members are written again after the provider's, so that none of the provider's members can replace them.
  return { ...members, ...more, ...members, ...channelOf(message).eventMembers(message) };
}

/** `message_id` is the customer's message. `number` is the number that it was sent to. The whole text was the opt-out word. */
function optOutBody(event: string, { message, entry }: StateChange): object {
  assert('inbound' in message, 'only a customer opts out or in');
  const { _id, from, to, inbound } = message;
  const timestamp = isoTimestamp(entry.at);
  return { event, message_id: _id, recipient: from, number: to, word: inbound.body, timestamp, channel: 'sms' };
}

/**
 * A flat object, in the specification's order ("Payload of message.delivered"). Spec gap: the other events have the same members
 * without `delivered_at`. `operator` is null while unknown. `reference` is present when the sender gave one.
 */
function outboundBody(event: string, { message, entry }: StateChange, own: OwnMembers): object {
  return {
    event,
    message_id: message._id,
    to: message.to,
    status: entry.state,
    operator: message.operator ?? own.operator ?? null,
    delivered_at: own.deliveredAt,
    timestamp: isoTimestamp(entry.at),
    ...own.error,
    reference: message.reference,
    ...channelOf(message).eventMembers(message),
  };
}

function deliveredBy({ message }: StateChange): string {
  return channelOf(message).deliveredBy(message);
}
