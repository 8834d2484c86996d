import { z } from 'zod';
import type { EventName } from '../../shared/events/catalogue.ts';
import type { Examples } from './endpoint.ts';
import { id, text, time, whole } from './shapes.ts';

/** What is posted to customers ("Event kinds"); shared/events/catalogue.ts makes the bodies. */

export const MessageReceivedEvent = z
  .looseObject({
    event: z.literal('message.received'),
    from: text(
      'The customer: a number, or the user id of one who shows none; null if the provider does not say. An answer takes it as `to`.',
      { example: '919876543210' },
    ).nullable(),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    type: text(
      "What it is: `text`, `image`, `button` …, by the provider's name. SMS: `text`; `binary` if it is no text, or in an alphabet that cannot be read.",
      { example: 'text' },
    ),
    body: text(
      'The text, the caption, or the title of the button; empty if the type has none. SMS of type `binary`: the octets in base64.',
      { example: 'Where is my order?' },
    ),
    timestamp: time('When the customer wrote it.', '2026-11-21T04:30:01+00:00'),
    to: text('SMS: your number, as `ops number` has it.', { example: '56161' }).optional(),
    channel: z.literal('sms').meta({ description: 'SMS only.', example: 'sms' }).optional(),
    opt_out: z
      .enum(['out', 'in', 'help', 'near'])
      .meta({
        description:
          'SMS: the text asks for no more messages, for messages again, or for help. `near`: it has such a word among others; nothing followed from it, so decide yourself.',
      })
      .optional(),
    missing_parts: z
      .array(whole(undefined, { minimum: 1 }))
      .meta({
        description:
          'SMS of several parts, some of which did not come within 30 minutes: their numbers. The body has the others.',
      })
      .optional(),
    total_parts: whole('With `missing_parts`: how many there are in all.', { minimum: 2 }).optional(),
    data_coding: z
      .union([whole(), z.array(whole())])
      .meta({
        description: 'SMS of type `binary`: the data_coding that the carrier named; several where its parts differ.',
      })
      .optional(),
    button: z
      .looseObject({
        payload: text('The payload that you gave it with `buttons`; otherwise its label.').optional(),
        text: text('Its label.').optional(),
      })
      .meta({ description: 'Type `button`: the quick reply of a template that was pressed.' })
      .optional(),
    context: z
      .looseObject({
        id: text(
          "The provider's id of that message; `GET /v2/messages/{message_id}` shows it as `carrier_message_id` of its part.",
        ).optional(),
      })
      .meta({ description: 'Of an answer to a message.' })
      .optional(),
    group_id: text(
      "Chat app: the provider's id of the group that it was written in. Absent where the customer wrote to you alone. It opens no session: `send-text` to the customer does not answer in the group.",
    ).optional(),
  })
  .meta({
    id: 'MessageReceivedEvent',
    description:
      "An SMS has `to` and `channel` too. On the chat-app channel, types other than `text` have one more member, named like the type, with the details. The file of an `image`, `video`, `audio`, `document` or `sticker` is at `GET /v2/chatapp/media/{message_id}`, for some days. A quick reply of a template has the type `button`: `body` and `button.text` are its label, `button.payload` is the payload that you gave it. A button of `send-buttons` has the type `interactive`, with `interactive.button_reply.id`. Answers also have a `context`, whose `id` is the provider's id of the message that they answer.",
  });

const RecipientOptedOutEvent = z
  .strictObject({
    event: z.literal('recipient.opted_out'),
    message_id: id('msg', "Id of the customer's message that said it.", 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    recipient: text("The customer's number.", { example: '919876543210' }),
    number: text('Your number that the customer wrote to.', { example: '56161' }),
    word: text('What the customer wrote.', { example: 'STOP' }),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    channel: z.literal('sms'),
  })
  .meta({ id: 'RecipientOptedOutEvent' });

const RecipientOptedInEvent = z
  .strictObject({
    event: z.literal('recipient.opted_in'),
    message_id: id('msg', "Id of the customer's message that said it.", 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    recipient: text("The customer's number.", { example: '919876543210' }),
    number: text('Your number that the customer wrote to.', { example: '56161' }),
    word: text('What the customer wrote.', { example: 'START' }),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    channel: z.literal('sms'),
  })
  .meta({ id: 'RecipientOptedInEvent' });

const MessageReadEvent = z
  .strictObject({
    event: z.literal('message.read'),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient.', { example: '919876543210' }),
    status: z.literal('read'),
    operator: text('Network or carrier that delivered; `chatapp` on the chat-app channel.', { example: 'chatapp' }),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    reference: text('Your own name for the message, if you gave one.').optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.', 'cnv_01m7znjn7hdb5pft3awkb6pgvz'),
  })
  .meta({ id: 'MessageReadEvent' });

const MessageSentEvent = z
  .strictObject({
    event: z.literal('message.sent'),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient.', { example: '919876543210' }),
    status: z.literal('sent'),
    operator: text('Network or carrier; null while it is unknown.').nullable(),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    reference: text('Your own name for the message, if you gave one.', { example: 'order 7' }).optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.').optional(),
  })
  .meta({ id: 'MessageSentEvent' });

const MessageDeliveredEvent = z
  .strictObject({
    event: z.literal('message.delivered'),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient.', { example: '919876543210' }),
    status: z.literal('delivered'),
    operator: text('Network or carrier that delivered; `chatapp` on the chat-app channel.', { example: 'Jio' }),
    delivered_at: time('When it was delivered.', '2026-11-21T04:30:00+00:00'),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    reference: text('Your own name for the message, if you gave one.', { example: 'order 7' }).optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.').optional(),
  })
  .meta({ id: 'MessageDeliveredEvent' });

const MessageFailedEvent = z
  .strictObject({
    event: z.literal('message.failed'),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient.', { example: '919876543210' }),
    status: z.literal('failed'),
    operator: text('Network or carrier; null while it is unknown.').nullable(),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    error_code: text('The reason, as a code.', { example: '1' }).nullable(),
    error_reason: text('The reason, in words.', { example: 'Unknown subscriber' }).nullable(),
    reference: text('Your own name for the message, if you gave one.', { example: 'order 7' }).optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.').optional(),
  })
  .meta({ id: 'MessageFailedEvent' });

const MessageExpiredEvent = z
  .strictObject({
    event: z.literal('message.expired'),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient.', { example: '919876543210' }),
    status: z.literal('expired'),
    operator: text('Network or carrier; null while it is unknown.').nullable(),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    error_code: text('The reason, as a code.').nullable(),
    error_reason: text('The reason, in words.').nullable(),
    reference: text('Your own name for the message, if you gave one.', { example: 'order 7' }).optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.').optional(),
  })
  .meta({ id: 'MessageExpiredEvent' });

const MessageRejectedEvent = z
  .strictObject({
    event: z.literal('message.rejected'),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient.', { example: '919876543210' }),
    status: z.literal('rejected'),
    operator: text('Network or carrier; null while it is unknown.').nullable(),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    error_code: text('The reason, as a code.', { example: '69' }).nullable(),
    error_reason: text('The reason, in words.', { example: 'submit failed' }).nullable(),
    reference: text('Your own name for the message, if you gave one.', { example: 'order 7' }).optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.').optional(),
  })
  .meta({ id: 'MessageRejectedEvent' });

const TemplateApprovedEvent = z
  .strictObject({
    event: z.literal('template.approved'),
    template_id: text('Of a DLT template: its id, or `tpr_…` while it has none.', {
      example: '1107160000000012345',
    }).optional(),
    name: text('Its name.', { example: 'Login code' }),
    language: text('Of a chat-app template: its language.').optional(),
    category: text('Of a chat-app template: its category.').optional(),
    status: z.literal('approved'),
    reason: text('Why, in the words of whoever decided. `null` when nobody gave a reason.').nullable(),
    timestamp: time('When it was decided.', '2026-11-22T10:00:00+00:00'),
    channel: z.enum(['sms', 'chatapp']),
  })
  .meta({ id: 'TemplateApprovedEvent' });

const TemplateRejectedEvent = z
  .strictObject({
    event: z.literal('template.rejected'),
    template_id: text('Of a DLT template: its id, or `tpr_…` while it has none.', {
      example: '1107160000000012345',
    }).optional(),
    name: text('Its name.', { example: 'Login code' }),
    language: text('Of a chat-app template: its language.').optional(),
    category: text('Of a chat-app template: its category.').optional(),
    status: z.literal('rejected'),
    reason: text('Why, in the words of whoever decided. `null` when nobody gave a reason.', {
      example: 'The header is not yours.',
    }).nullable(),
    timestamp: time('When it was decided.', '2026-11-22T10:00:00+00:00'),
    channel: z.enum(['sms', 'chatapp']),
  })
  .meta({ id: 'TemplateRejectedEvent' });

const TemplateStoppedEvent = z
  .strictObject({
    event: z.literal('template.stopped'),
    name: text('Its name.', { example: 'order_update' }),
    language: text('Of a chat-app template: its language.', { example: 'en_US' }),
    category: text('Of a chat-app template: its category.', { example: 'utility' }),
    status: text(
      "The provider's status: `paused` (for some hours), `disabled` (for good), `archived`, `limit_exceeded`, `pending_deletion`, `deleted`, or another word of the provider.",
      { example: 'paused' },
    ),
    reason: text('Why, in the words of whoever decided. `null` when nobody gave a reason.', {
      example: 'FIRST_PAUSE',
    }).nullable(),
    timestamp: time('When it was decided.', '2026-11-22T10:00:00+00:00'),
    channel: z.literal('chatapp'),
  })
  .meta({ id: 'TemplateStoppedEvent' });

export const EVENT_SHAPES: Readonly<
  Record<EventName, { readonly shape: z.ZodType<object>; readonly examples: Examples }>
> = {
  'message.received': {
    shape: MessageReceivedEvent,
    examples: {
      SMS: {
        event: 'message.received',
        from: '919876543210',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        type: 'text',
        body: 'Where is my order?',
        timestamp: '2026-11-21T04:30:01+00:00',
        to: '56161',
        channel: 'sms',
      },
      'quick reply': {
        event: 'message.received',
        from: '919876543210',
        message_id: 'msg_01m7zp2c8qexw0v5d6f7g8h9jk',
        type: 'button',
        body: 'Where is it?',
        timestamp: '2026-11-21T04:30:01+00:00',
        button: { payload: 'WHERE-1234', text: 'Where is it?' },
        context: { id: 'wamid.HBgMOTE5ODc2NTQzMjEw' },
      },
    },
  },
  'recipient.opted_out': {
    shape: RecipientOptedOutEvent,
    examples: {
      SMS: {
        event: 'recipient.opted_out',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        recipient: '919876543210',
        number: '56161',
        word: 'STOP',
        timestamp: '2026-11-21T04:30:01+00:00',
        channel: 'sms',
      },
    },
  },
  'recipient.opted_in': {
    shape: RecipientOptedInEvent,
    examples: {
      SMS: {
        event: 'recipient.opted_in',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        recipient: '919876543210',
        number: '56161',
        word: 'START',
        timestamp: '2026-11-21T04:30:01+00:00',
        channel: 'sms',
      },
    },
  },
  'message.read': {
    shape: MessageReadEvent,
    examples: {
      'chat-app': {
        event: 'message.read',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'read',
        operator: 'chatapp',
        timestamp: '2026-11-21T04:30:01+00:00',
        conversation_id: 'cnv_01m7znjn7hdb5pft3awkb6pgvz',
      },
    },
  },
  'message.sent': {
    shape: MessageSentEvent,
    examples: {
      SMS: {
        event: 'message.sent',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'sent',
        operator: null,
        timestamp: '2026-11-21T04:30:01+00:00',
        reference: 'order 7',
      },
    },
  },
  'message.delivered': {
    shape: MessageDeliveredEvent,
    examples: {
      SMS: {
        event: 'message.delivered',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'delivered',
        operator: 'Jio',
        delivered_at: '2026-11-21T04:30:00+00:00',
        timestamp: '2026-11-21T04:30:01+00:00',
        reference: 'order 7',
      },
      'chat-app': {
        event: 'message.delivered',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'delivered',
        operator: 'chatapp',
        delivered_at: '2026-11-21T04:30:00+00:00',
        timestamp: '2026-11-21T04:30:01+00:00',
        conversation_id: 'cnv_01m7znjn7hdb5pft3awkb6pgvz',
      },
    },
  },
  'message.failed': {
    shape: MessageFailedEvent,
    examples: {
      SMS: {
        event: 'message.failed',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'failed',
        operator: null,
        timestamp: '2026-11-21T04:30:01+00:00',
        error_code: '1',
        error_reason: 'Unknown subscriber',
        reference: 'order 7',
      },
    },
  },
  'message.expired': {
    shape: MessageExpiredEvent,
    examples: {
      SMS: {
        event: 'message.expired',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'expired',
        operator: null,
        timestamp: '2026-11-21T04:30:01+00:00',
        error_code: null,
        error_reason: null,
        reference: 'order 7',
      },
    },
  },
  'message.rejected': {
    shape: MessageRejectedEvent,
    examples: {
      SMS: {
        event: 'message.rejected',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        to: '919876543210',
        status: 'rejected',
        operator: null,
        timestamp: '2026-11-21T04:30:01+00:00',
        error_code: '69',
        error_reason: 'submit failed',
        reference: 'order 7',
      },
    },
  },
  'template.approved': {
    shape: TemplateApprovedEvent,
    examples: {
      SMS: {
        event: 'template.approved',
        template_id: '1107160000000012345',
        name: 'Login code',
        status: 'approved',
        reason: null,
        timestamp: '2026-11-22T10:00:00+00:00',
        channel: 'sms',
      },
      'Chat-app': {
        event: 'template.approved',
        name: 'order_update',
        language: 'en_US',
        category: 'utility',
        status: 'approved',
        reason: null,
        timestamp: '2026-11-22T10:00:00+00:00',
        channel: 'chatapp',
      },
    },
  },
  'template.rejected': {
    shape: TemplateRejectedEvent,
    examples: {
      SMS: {
        event: 'template.rejected',
        template_id: '1107160000000012345',
        name: 'Login code',
        status: 'rejected',
        reason: 'The header is not yours.',
        timestamp: '2026-11-22T10:00:00+00:00',
        channel: 'sms',
      },
      'Chat-app': {
        event: 'template.rejected',
        name: 'order_update',
        language: 'en_US',
        category: 'utility',
        status: 'rejected',
        reason: 'INVALID_FORMAT: Variables stand side by side.',
        timestamp: '2026-11-22T10:00:00+00:00',
        channel: 'chatapp',
      },
    },
  },
  'template.stopped': {
    shape: TemplateStoppedEvent,
    examples: {
      'Chat-app': {
        event: 'template.stopped',
        name: 'order_update',
        language: 'en_US',
        category: 'utility',
        status: 'paused',
        reason: 'FIRST_PAUSE',
        timestamp: '2026-11-22T10:00:00+00:00',
        channel: 'chatapp',
      },
    },
  },
};
