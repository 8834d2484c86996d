/**
 * "Resources and their fields", members in the specification's order. Required fields and the form of phone numbers are
 * in decisions.md, Requests and Chat-app.
 */
export type FieldType = 'string' | 'phone' | 'url' | 'integer' | 'timestamp' | 'date' | 'array';

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly values?: readonly string[];
  /** What an array holds: strings, phone numbers, or records. */
  readonly of?: 'string' | 'phone' | readonly Field[];
  /** In requests: may be left out. In results: null while unknown. */
  readonly optional?: true;
  /** In requests: whether it is required depends on another field (`params`: on the template). */
  readonly dependent?: true;
}

const SUCCESS = { name: 'status', type: 'string', values: ['success'] } as const satisfies Field;
const ROUTE = { name: 'route', type: 'string', values: ['transactional', 'promotional'], optional: true } as const;

export const REQUESTS = {
  'SMS message': [
    { name: 'to', type: 'phone' },
    { name: 'message', type: 'string' },
    { name: 'sender', type: 'string' },
    ROUTE,
  ],
  'Bulk SMS request': [
    { name: 'to', type: 'array', of: 'phone' },
    { name: 'message', type: 'string' },
    { name: 'sender', type: 'string' },
    ROUTE,
  ],
  'Scheduled message': [
    { name: 'to', type: 'phone' },
    { name: 'message', type: 'string' },
    { name: 'sender', type: 'string' },
    { name: 'schedule_time', type: 'timestamp' },
  ],
  'template message': [
    { name: 'to', type: 'phone' },
    { name: 'template', type: 'string' },
    { name: 'language', type: 'string' },
    { name: 'params', type: 'array', of: 'string', dependent: true },
  ],
  'text message': [
    { name: 'to', type: 'phone' },
    { name: 'message', type: 'string' },
  ],
  'media message': [
    { name: 'to', type: 'phone' },
    { name: 'type', type: 'string', values: ['image', 'video', 'audio', 'document', 'sticker'] },
    { name: 'url', type: 'url' },
    { name: 'caption', type: 'string', optional: true },
  ],
  'button message': [
    { name: 'to', type: 'phone' },
    { name: 'body', type: 'string' },
    {
      name: 'buttons',
      type: 'array',
      of: [
        { name: 'id', type: 'string' },
        { name: 'title', type: 'string' },
      ],
    },
  ],
  'Webhook configuration': [
    { name: 'url', type: 'url' },
    { name: 'events', type: 'array', of: 'string' },
  ],
} as const satisfies Record<string, readonly Field[]>;

export const RESULTS = {
  'SMS send result': [
    SUCCESS,
    { name: 'message_id', type: 'string' },
    { name: 'to', type: 'phone' },
    { name: 'status_code', type: 'string', values: ['1000'] },
    { name: 'credits_used', type: 'integer' },
  ],
  'Bulk SMS result': [
    SUCCESS,
    { name: 'batch_id', type: 'string' },
    { name: 'total', type: 'integer' },
    { name: 'credits_used', type: 'integer' },
  ],
  'Scheduled message result': [
    SUCCESS,
    { name: 'schedule_id', type: 'string' },
    { name: 'scheduled_for', type: 'timestamp' },
  ],
  'Cancel result': [SUCCESS, { name: 'message', type: 'string' }],
  'Delivery status record': [
    { name: 'message_id', type: 'string' },
    { name: 'to', type: 'phone' },
    {
      name: 'status',
      type: 'string',
      values: ['queued', 'sent', 'delivered', 'failed', 'expired', 'rejected', 'read', 'received'],
    },
    { name: 'delivered_at', type: 'timestamp', optional: true },
    { name: 'operator', type: 'string', optional: true },
  ],
  'Balance record': [
    { name: 'balance', type: 'integer' },
    { name: 'currency', type: 'string' },
    { name: 'expiry_date', type: 'date' },
  ],
  'DLT template list': [
    {
      name: 'templates',
      type: 'array',
      of: [
        { name: 'id', type: 'string' },
        { name: 'name', type: 'string' },
        { name: 'content', type: 'string' },
      ],
    },
  ],
  'Chat-app template list': [
    {
      name: 'templates',
      type: 'array',
      of: [
        { name: 'name', type: 'string' },
        { name: 'status', type: 'string' },
        { name: 'language', type: 'string' },
      ],
    },
  ],
  'template result': [SUCCESS, { name: 'message_id', type: 'string' }, { name: 'conversation_id', type: 'string' }],
  'chat-app result': [SUCCESS, { name: 'message_id', type: 'string' }],
  'media result': [SUCCESS, { name: 'message_id', type: 'string' }, { name: 'media_id', type: 'string' }],
  'Webhook configuration result': [SUCCESS, { name: 'webhook_id', type: 'string' }],
} as const satisfies Record<string, readonly Field[]>;

export type RequestRecord = keyof typeof REQUESTS;
export type ResultRecord = keyof typeof RESULTS;

/** Every error answer (decisions.md, Errors). */
export const PROBLEM: readonly Field[] = [
  { name: 'type', type: 'string' },
  { name: 'title', type: 'string' },
  { name: 'status', type: 'integer' },
  { name: 'detail', type: 'string' },
  { name: 'code', type: 'string' },
  { name: 'status_code', type: 'string' },
  {
    name: 'errors',
    type: 'array',
    of: [
      { name: 'field', type: 'string' },
      { name: 'code', type: 'string' },
      { name: 'detail', type: 'string' },
    ],
  },
  { name: 'request_id', type: 'string' },
];
