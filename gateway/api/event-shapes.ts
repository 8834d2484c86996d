import { z } from 'zod';
import type { Member } from '../../shared/events/account-event.ts';
import { EVENT_NAMES, EVENTS, type EventName } from '../../shared/events/catalogue.ts';
import type { VerificationOutcome } from '../../shared/messages/document/verification.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { exampleOf } from './contract.ts';
import type { Examples } from './endpoint.ts';
import { capitalised, decimal, id, named, text, time, whole } from './shapes.ts';

/** What is posted to customers ("Event kinds"); shared/events/catalogue.ts makes the bodies. */

export const Customer = named(
  'Customer',
  'A person on the chat-app channel. A person with a user name may show no number.',
  {
    id: id(
      'cus',
      'Of the person, for this account. It stays when the person changes number or user name.',
      'cus_3tq7v0e5c9rd2m8x1kz6hny4wb',
    ),
    number: text('The number: digits, country code first.', { example: '919876543210' }).optional(),
    user_id: text("The provider's id of the person for your business. Sends take it as `to`.", {
      example: 'IN.13491208655302741918',
    }).optional(),
    username: text('The user name that the person shows. It may change, and be another person’s then.', {
      example: 'asha.rao',
    }).optional(),
    name: text('The name in the person’s profile, as they wrote it.', { example: 'Asha' }).optional(),
  },
);

const test = z
  .literal(true)
  .meta({ description: 'The message is a test: it was sent with a test key, or from the dashboard in test mode.' })
  .optional();

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
    to: text('Your number that the customer wrote to. An answer on the chat-app channel takes it as `from`.', {
      example: '919000000001',
    }),
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
    test,
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
    reply_to: text(
      'Chat-app: your message that it quotes or reacts to, or whose button was pressed. Absent if it is none of yours, or not known any more.',
      { example: 'msg_01m7znjn7hdb5pft3awkb6pgvz' },
    ).optional(),
    customer: Customer.optional().meta({ description: 'Chat-app: who wrote, as far as the provider tells it.' }),
    group_id: text(
      "Chat app: the provider's id of the group that it was written in. Absent where the customer wrote to you alone. It opens no session: `send-text` to the customer does not answer in the group.",
    ).optional(),
  })
  .meta({
    id: 'MessageReceivedEvent',
    description:
      "An SMS has `channel` too. On the chat-app channel, types other than `text` have one more member, named like the type, with the details. The file of an `image`, `video`, `audio`, `document` or `sticker` is at `GET /v2/chatapp/media/{message_id}`, for some days. A quick reply of a template has the type `button`: `body` and `button.text` are its label, `button.payload` is the payload that you gave it. A button of `send-buttons` has the type `interactive`, with `interactive.button_reply.id`. Answers also have `reply_to`, your message that they answer, and a `context`, whose `id` is the provider's id of it.",
  });

export const FALLBACK_BECAUSE = z
  .enum(['failed', 'not_delivered'])
  .meta({ description: '`not_delivered`: its time was over. It may still arrive; that is told, and costs nothing.' });

export const OTHER_TLVS = z
  .array(
    z.strictObject({
      tag: text('Its tag.', { pattern: '^0x[0-9A-F]{4}$', example: '0x1403' }),
      value: text('Its octets in hexadecimal, 64 at most.', { example: '343034313030' }),
    }),
  )
  .meta({
    description: 'What else the carrier sent with it, its own parameters (0x1400 to 0x3FFF) among them: 8 at most.',
  })
  .optional();

/** Only for SMS, and webhooks with `raw`. */
const raw = named('RawReceipt', 'The receipt as the carrier wrote it. Its codes are the carrier’s own.', {
  receipt: text('Its text, cut before the words of the message; empty of a carrier over HTTPS.', {
    example: 'id:7f3a1c sub:001 dlvrd:001 submit date:2611210430 done date:2611210430 stat:DELIVRD err:000',
  }),
  receipted_message_id: text('TLV 0x001E: the carrier’s id.', { example: '7f3a1c' }).optional(),
  message_state: whole('TLV 0x0427: 2 is delivered.', { example: 2 }).optional(),
  network_error_code: text('TLV 0x0423 in hexadecimal: the type of network, then the code.').optional(),
  other_tlvs: OTHER_TLVS,
}).optional();

/** `more`: further members of this status, or replacements of the common ones. */
function statusEvent(component: string, status: string, more: z.ZodRawShape) {
  return named(component, {
    event: z.literal(`message.${status}`),
    message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient.', { example: '919876543210' }),
    status: z.literal(status),
    operator: text('Network or carrier; null while it is unknown.').nullable(),
    timestamp: time('When it happened.', '2026-11-21T04:30:01+00:00'),
    reference: text('Your own name for the message, if you gave one.', { example: 'order 7' }).optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.').optional(),
    test,
    from: text('Chat-app: your number that it left from.').optional(),
    ...more,
  });
}

function deliveredBy(example: string) {
  return text('Network or carrier that delivered; `chatapp` on the chat-app channel.', { example });
}

/** Why a message did not arrive. Without arguments the example has no reason. */
function why(example: { readonly code?: string; readonly reason?: string } = {}) {
  const { code, reason } = example;
  return {
    error_code: text('The reason, as a code.', code === undefined ? {} : { example: code }).nullable(),
    error_reason: text('The reason, in words.', reason === undefined ? {} : { example: reason }).nullable(),
  };
}

export const MessageFallbackEvent = named('MessageFallbackEvent', {
  event: z.literal('message.fallback'),
  message_id: id('msg', 'Id of the chat-app message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
  to: text('Recipient.', { example: '919876543210' }),
  fallback_message_id: id('msg', 'Id of the SMS, which has events of its own. Null if it could not go.').nullable(),
  because: FALLBACK_BECAUSE,
  timestamp: time('When it happened.', '2026-11-21T04:31:01+00:00'),
  ...why(),
  reference: text('Your own name for the message, if you gave one.', { example: 'order 7' }).optional(),
  conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.', 'cnv_01m7znjn7hdb5pft3awkb6pgvz'),
  test,
  from: text('Your number that the chat-app message left from.', { example: '919000000001' }),
});

function verificationEvent(component: string, state: VerificationOutcome, when: string) {
  return named(component, {
    event: z.literal(`verification.${state}`),
    verification_id: id('vrf', 'Id of the verification.', 'vrf_01m7znjn7hdb5pft3awkb6pgvz'),
    to: text('Recipient of the code.', { example: '919876543210' }),
    state: z.literal(state),
    attempts: whole('Codes that were tried.', { minimum: 0, example: state === 'failed' ? 5 : 1 }),
    message_id: id('msg', 'The message that had the code.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
    reference: text('As it was given.', { example: 'sign-in 7' }).optional(),
    timestamp: time(when, '2026-11-22T14:02:40+00:00'),
    channel: z.enum(['sms', 'chatapp']).meta({ description: 'Where the code went first.' }),
    test,
  });
}

const REASON = 'Why, in the words of whoever decided. `null` when nobody gave a reason.';

function decisionEvent(component: string, status: string, reason: z.ZodString) {
  return named(component, {
    event: z.literal(`template.${status}`),
    template_id: text('Of a DLT template: its id, or `tpr_…` while it has none.', {
      example: '1107160000000012345',
    }).optional(),
    name: text('Its name.', { example: 'Login code' }),
    language: text('Of a chat-app template: its language.').optional(),
    category: text('Of a chat-app template: its category.').optional(),
    business_id: text("Of a chat-app template: the provider's business account that has it.").optional(),
    status: z.literal(status),
    reason: reason.nullable(),
    timestamp: time('When it was decided.', '2026-11-22T10:00:00+00:00'),
    channel: z.enum(['sms', 'chatapp']),
  });
}

const TemplateStoppedEvent = named('TemplateStoppedEvent', {
  event: z.literal('template.stopped'),
  name: text('Its name.', { example: 'order_update' }),
  language: text('Of a chat-app template: its language.', { example: 'en_US' }),
  category: text('Of a chat-app template: its category.', { example: 'utility' }),
  business_id: text("The provider's business account that has it.", { example: '102290129340398' }),
  status: text(
    "The provider's status: `paused` (for some hours), `disabled` (for good), `archived`, `limit_exceeded`, `pending_deletion`, `deleted`, or another word of the provider.",
    { example: 'paused' },
  ),
  reason: text(REASON, { example: 'FIRST_PAUSE' }).nullable(),
  timestamp: time('When it was decided.', '2026-11-22T10:00:00+00:00'),
  channel: z.literal('chatapp'),
});

type ListedName = {
  [Name in EventName]: (typeof EVENTS)[Name] extends { readonly members: object } ? Name : never;
}[EventName];

function isListed(name: EventName): name is ListedName {
  return 'members' in EVENTS[name];
}

function listedShape(name: ListedName): z.ZodType<object> {
  const { members, channels } = EVENTS[name];
  const shapes = Object.entries<Member>(members).map(([member, { about, example, nullable, id: kind }]) => {
    const shape =
      typeof example === 'number'
        ? (Number.isInteger(example) ? whole : decimal)(about, { example })
        : typeof example === 'string'
          ? kind === undefined
            ? text(about, { example })
            : id(kind, about, example)
          : z.array(text()).meta({ description: about, example });
    return [member, nullable ? shape.nullable() : shape];
  });
  return named(`${name.split(/[._]/).map(capitalised).join('')}Event`, {
    event: z.literal(name),
    ...Object.fromEntries(shapes),
    timestamp: time('When it happened.', '2026-11-22T10:00:00+00:00'),
    channel: z.literal(channels[0]),
  });
}

const LISTED_SHAPES = Object.fromEntries(
  EVENT_NAMES.filter(isListed).map((name) => [name, listedShape(name)]),
) as Readonly<Record<ListedName, z.ZodType<object>>>; // one for each name

export const EVENT_SHAPES: Readonly<Record<EventName, z.ZodType<object>>> = {
  'message.received': MessageReceivedEvent,
  'message.read': statusEvent('MessageReadEvent', 'read', {
    operator: deliveredBy('chatapp'),
    reference: text('Your own name for the message, if you gave one.').optional(),
    conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.', 'cnv_01m7znjn7hdb5pft3awkb6pgvz'),
    customer: Customer.optional(),
    from: text('Your number that it left from.', { example: '919000000001' }),
  }),
  'message.sent': statusEvent('MessageSentEvent', 'sent', {}),
  'message.delivered': statusEvent('MessageDeliveredEvent', 'delivered', {
    operator: deliveredBy('Jio'),
    delivered_at: time('When it was delivered.', '2026-11-21T04:30:00+00:00'),
    raw,
  }),
  'message.failed': statusEvent('MessageFailedEvent', 'failed', {
    ...why({ code: '1', reason: 'Unknown subscriber' }),
    raw,
  }),
  'message.expired': statusEvent('MessageExpiredEvent', 'expired', { ...why(), raw }),
  'message.rejected': statusEvent('MessageRejectedEvent', 'rejected', {
    ...why({ code: '69', reason: 'submit failed' }),
    raw,
  }),
  'message.fallback': MessageFallbackEvent,
  'verification.approved': verificationEvent('VerificationApprovedEvent', 'approved', 'When it was checked.'),
  'verification.failed': verificationEvent('VerificationFailedEvent', 'failed', 'When the last code was checked.'),
  'verification.expired': verificationEvent('VerificationExpiredEvent', 'expired', 'When its time was over.'),
  'template.approved': decisionEvent('TemplateApprovedEvent', 'approved', text(REASON)),
  'template.rejected': decisionEvent(
    'TemplateRejectedEvent',
    'rejected',
    text(REASON, { example: 'The header is not yours.' }),
  ),
  'template.stopped': TemplateStoppedEvent,
  ...LISTED_SHAPES,
};

const CHAT_TEMPLATE = {
  ...{ template_id: undefined, name: 'order_update', language: 'en_US', category: 'utility' },
  ...{ business_id: '102290129340398', channel: 'chatapp' },
};

/** For events that differ by channel: the differences from the example that the fields make. */
const DIFFERENCES: Readonly<Partial<Record<EventName, Readonly<Record<string, object>>>>> = {
  'message.received': {
    SMS: { to: '56161', reply_to: undefined },
    'quick reply': {
      ...{ message_id: 'msg_01m7zp2c8qexw0v5d6f7g8h9jk', channel: undefined, reply_to: undefined },
      ...{ type: 'button', body: 'Where is it?' },
      button: { payload: 'WHERE-1234', text: 'Where is it?' },
      context: { id: 'wamid.HBgMOTE5ODc2NTQzMjEw' },
    },
  },
  'message.delivered': {
    SMS: {},
    'chat-app': {
      ...{ operator: 'chatapp', reference: undefined },
      ...{ conversation_id: 'cnv_01m7znjn7hdb5pft3awkb6pgvz', from: '919000000001' },
    },
  },
  'template.approved': { SMS: {}, 'Chat-app': CHAT_TEMPLATE },
  'template.rejected': {
    SMS: {},
    'Chat-app': { ...CHAT_TEMPLATE, reason: 'INVALID_FORMAT: Variables stand side by side.' },
  },
};

/** Undefined where one example suffices. */
export function examplesOf(name: EventName): Examples | undefined {
  const examples = DIFFERENCES[name];
  const whole = exampleOf(EVENT_SHAPES[name]) as object; // events are objects
  return (
    examples && Object.fromEntries(Object.entries(examples).map(([of, more]) => [of, defined({ ...whole, ...more })]))
  );
}
