import type { ChannelName, HistoryEntry } from '../messages/message.ts';
import { deliveredBody, errorBody, readBody, receivedBody, type StateChange, sentBody } from './bodies.ts';

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
