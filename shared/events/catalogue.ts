import assert from 'node:assert/strict';
import { channelOf } from '../channels/channels.ts';
import type { AnyMessage } from '../messages/any-message.ts';
import type { ChannelName, HistoryEntry } from '../messages/message.ts';
import { isoTimestamp } from '../runtime/clock.ts';

/** A message reached a state. */
export interface StateChange {
  /** As it is now: it may have gone further by the time that a redo announces this. */
  readonly message: AnyMessage;
  /** The entry of its history that is told. */
  readonly entry: HistoryEntry;
}

interface EventKind {
  /** Whose webhooks may subscribe it. */
  readonly channels: readonly ChannelName[];
  /** It happens when a message reaches this state, by an entry of its history. */
  readonly state: HistoryEntry['state'];
  /** The same for customers, as docs/openapi.json says it under `webhooks`. */
  readonly when: string;
  /** What is posted, its members in order; `undefined` ones are left out. docs/openapi.json has its schema. */
  body(event: string, change: StateChange): object;
}

const ALL = ['sms', 'chatapp'] as const satisfies readonly ChannelName[];

/**
 * Every event that customers are told ("Event kinds"), in the order in which lists name them. What is told, to whom, under which name
 * is decided here alone: subscriptions, the filter of GET /v2/events and the names that a webhook may be registered for follow
 * from it; a test holds docs/openapi.json equal to it. How to add one: docs/extending.md.
 */
export const EVENTS = {
  'message.received': {
    channels: ['chatapp'],
    state: 'received',
    when: 'A customer wrote to the account.',
    body: receivedBody,
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
} as const satisfies Readonly<Record<string, EventKind>>;

export type EventName = keyof typeof EVENTS;

export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[]; // the catalogue's own keys

/** The events of one channel. */
export function eventsOf(channel: ChannelName): readonly EventName[] {
  return EVENT_NAMES.filter((name) => kindOf(name).channels.includes(channel));
}

/** The event that a new entry of a message's history is. */
export function eventName({ state }: HistoryEntry): EventName {
  const name = BY_STATE.get(state);
  if (name === undefined) throw new Error(`no event tells of the state ${state}`);
  return name;
}

/** The state that an event of this name tells of. */
export function stateOf(name: EventName): HistoryEntry['state'] {
  return EVENTS[name].state;
}

/** The exact JSON that is signed and posted. */
export function eventBody(change: StateChange): string {
  const event = eventName(change.entry);
  return JSON.stringify(kindOf(event).body(event, change));
}

const BY_STATE: ReadonlyMap<HistoryEntry['state'], EventName> = new Map(
  EVENT_NAMES.map((name) => [stateOf(name), name]),
);

function kindOf(name: EventName): EventKind {
  return EVENTS[name];
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

/** `operator` is never null here: what arrived was delivered by somebody. */
function readBody(event: string, change: StateChange): object {
  return outboundBody(event, change, { operator: deliveredBy(change) });
}

/** `operator` is never null, as in `readBody`. */
function deliveredBody(event: string, change: StateChange): object {
  const { message, entry } = change;
  const deliveredAt = isoTimestamp(message.deliveredAt ?? entry.at);
  return outboundBody(event, change, { operator: deliveredBy(change), deliveredAt });
}

/** An error that nobody explained is null, not missing. */
function errorBody(event: string, change: StateChange): object {
  const { errorCode = null, errorReason = null } = change.message;
  return outboundBody(event, change, { error: { error_code: errorCode, error_reason: errorReason } });
}

/**
 * "Payload of message.received": a text has these six members and no others. Other types add what is their own, below the type's name; an
 * answer to a message adds its `context`. The business's number is not told: an account has one.
 */
function receivedBody(event: string, { message, entry }: StateChange): object {
  assert('inbound' in message, 'only what a customer wrote is received');
  const { _id, from, inbound } = message;
  const { type, body, more } = inbound;
  const members = { event, from, message_id: _id, type, body, timestamp: isoTimestamp(entry.at) };
  // Ours again behind the provider's: whatever it names its members, none takes the place of ours.
  return { ...members, ...more, ...members };
}

/**
 * Flat, the members in the specification's order ("Payload of message.delivered"). Spec gap: the other events have the same
 * members without `delivered_at`; `operator` is null while nobody told it; `reference` is there when the sender gave one.
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
