import type { Field } from './fields.ts';

/** A row of "Event kinds" with the payload's members in order. */
export interface EventRow {
  readonly event: string;
  readonly channel: 'sms' | 'chatapp';
  /** The cause: a message to a number with these last digits, to `any` other one, or a customer who `writes`. */
  readonly cause: string;
  readonly payload: readonly Field[];
}

/** The shape of events that the specification does not show (decisions.md, Webhooks). */
function common(event: string, more: readonly Field[] = []): readonly Field[] {
  return [
    { name: 'event', type: 'string', values: [event] },
    { name: 'message_id', type: 'string' },
    { name: 'to', type: 'phone' },
    { name: 'status', type: 'string', values: [event.slice('message.'.length)] },
    { name: 'operator', type: 'string', optional: true },
    { name: 'timestamp', type: 'timestamp' },
    ...more,
  ];
}

const ERROR: readonly Field[] = [
  { name: 'error_code', type: 'string' },
  { name: 'error_reason', type: 'string' },
];

/** "Payload of message.delivered": seven members, none of them ever null. */
const DELIVERED: readonly Field[] = [
  { name: 'event', type: 'string', values: ['message.delivered'] },
  { name: 'message_id', type: 'string' },
  { name: 'to', type: 'phone' },
  { name: 'status', type: 'string', values: ['delivered'] },
  { name: 'operator', type: 'string' },
  { name: 'delivered_at', type: 'timestamp' },
  { name: 'timestamp', type: 'timestamp' },
];

const RECEIVED: readonly Field[] = [
  { name: 'event', type: 'string', values: ['message.received'] },
  { name: 'from', type: 'phone' },
  { name: 'message_id', type: 'string' },
  { name: 'type', type: 'string' },
  { name: 'body', type: 'string' },
  { name: 'timestamp', type: 'timestamp' },
];

export const EVENT_KINDS: readonly EventRow[] = [
  { event: 'message.sent', channel: 'sms', cause: 'any', payload: common('message.sent') },
  { event: 'message.delivered', channel: 'sms', cause: 'any', payload: DELIVERED },
  { event: 'message.failed', channel: 'sms', cause: '101', payload: common('message.failed', ERROR) },
  { event: 'message.expired', channel: 'sms', cause: '102', payload: common('message.expired', ERROR) },
  { event: 'message.rejected', channel: 'sms', cause: '103', payload: common('message.rejected', ERROR) },
  { event: 'message.received', channel: 'chatapp', cause: 'writes', payload: RECEIVED },
  {
    event: 'message.read',
    channel: 'chatapp',
    cause: 'any',
    payload: common('message.read', [{ name: 'conversation_id', type: 'string' }]),
  },
];

/** Types of customers' messages: `message.received` has the type's members below its name (decisions.md, Webhooks). */
export const INBOUND_TYPES: readonly {
  readonly type: string;
  readonly message: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The type's own member beside the usual six. */
  readonly own?: string;
}[] = [
  { type: 'text', message: { type: 'text', text: { body: 'Where is it?' } }, body: 'Where is it?' },
  {
    type: 'image',
    message: { type: 'image', image: { id: '7001', mime_type: 'image/jpeg', sha256: 'aGk=', caption: 'The parcel' } },
    body: 'The parcel',
    own: 'image',
  },
  {
    type: 'interactive',
    message: {
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes, please' } },
    },
    body: 'Yes, please',
    own: 'interactive',
  },
];
