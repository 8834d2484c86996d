import { z } from 'zod';
import { MESSAGE_EVENT_NAMES, stateOf } from '../../../shared/events/catalogue.ts';
import { CHANNEL_NAMES } from '../../../shared/messages/document/channel.ts';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import { Customer, FALLBACK_BECAUSE, OTHER_TLVS } from '../../api/event-shapes.ts';
import { flag, id, named, text, time, whole } from '../../api/shapes.ts';
import { DELIVERY_STATES } from '../webhooks/deliveries.ts';
import { SAID } from './texts.ts';

/** A second charge for the same text to the same number within this time is marked. */
export const REPEAT_MS = 60_000;

export const MessageId = id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz');

export const IN_PATH = { message_id: MessageId.describe('Id of a message.') };

export const Encoding = z.enum(['GSM7', 'UCS2']).meta({ id: 'Encoding', description: 'How the text travels.' });

export const SHOWN_STATES = [...new Set(Object.values(STATES).map(({ shown }) => shown))];

const Status = z.enum(SHOWN_STATES).meta({
  id: 'Status',
  description:
    'Status of a message: queued → sent → delivered | failed | expired | rejected. Chat-app messages can become read after that; messages from customers are received.',
});

const ReachedStatus = z.enum([...new Set([...SHOWN_STATES, ...MESSAGE_EVENT_NAMES.map(stateOf)])]).meta({
  id: 'ReachedStatus',
  description:
    "A status that the message had. A customer's SMS that put the customer on the list of opt-outs, or took the customer off it, has `opted_out` or `opted_in` too; a chat-app message has `fallback` when an SMS went in its place, or could not.",
});

const COMMON = {
  message_id: MessageId,
  to: text(
    'Recipient: a number, or the user id of a chat-app customer. Of what was received: your number, perhaps a short code.',
    { pattern: '^(erased|[1-9][0-9]{2,14}|[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128})$', example: '919876543210' },
  ),
  status: Status.meta({ example: 'delivered' }),
  delivered_at: time('When it was delivered.', '2026-11-21T10:00:04+00:00').nullable(),
  operator: text('Network or carrier that delivered; `chatapp` on the chat-app channel. Null until then.', {
    example: 'Example Carrier',
  }).nullable(),
  direction: z
    .enum(['in', 'out'])
    .meta({ description: '`in`: from a customer. Chat-app messages, and SMS that were received.' })
    .optional(),
  from: text(
    'Who wrote. Of what was received: a number, or the user id of a chat-app customer who shows none; null if the provider does not say; `to` is then your number. Of what was sent on the chat-app channel: your number that it left from.',
  )
    .nullable()
    .optional(),
  conversation_id: id('cnv', 'Chat-app: the conversation that it belongs to.').optional(),
  error_code: text(
    'Why it failed, as a code. `unconfirmed`: the carrier may have taken an earlier copy, and the copy sent after that was refused, expired or was never answered. Such a message is not refunded, and a receipt can still make it `delivered`.',
  ).optional(),
  error_reason: text('Why it failed, in words.').optional(),
  outcome: z
    .literal('unknown')
    .meta({
      description:
        'The message was submitted and the carrier never answered: it counts as neither sent nor failed until that is decided. With an `error_code`: it was sent again and refused for that reason, and the result of the earlier copy is awaited.',
    })
    .optional(),
};

const channel = z.enum(CHANNEL_NAMES);
const reference = text('Your own name for the message.');

export const FallbackShown = z
  .strictObject({
    channel: z.literal('sms'),
    after_seconds: whole('How long the message had to be delivered.', { minimum: 10, example: 60 }),
    state: z.enum(['waiting', 'not_needed', 'going', 'sent', 'refused']).meta({
      description:
        '`waiting`: the message may still arrive. `not_needed`: it arrived, or cannot fail any more. `going`: it is decided that the SMS goes. `sent`: the SMS is paid for; it has an id and a status of its own. `refused`: it could not go.',
    }),
    due_at: time('While it waits: when the SMS goes.').optional(),
    because: FALLBACK_BECAUSE.optional(),
    message_id: id('msg', 'Id of the SMS.').optional(),
    error_code: text('Why it could not go, as a code.').optional(),
    error_reason: text('Why it could not go, in words.').optional(),
  })
  .meta({ description: 'Chat-app: the SMS that goes in its place if it fails or is not delivered in time.' });

export const DeliveryStatus = z
  .strictObject({
    ...COMMON,
    reference: reference.optional(),
    segments: whole('Number of SMS that the text is sent as.', { minimum: 1, example: 1 }).optional(),
    channel: channel.meta({ description: 'Of chat-app messages, and of SMS that were received.' }).optional(),
    fallback: FallbackShown.optional(),
    timeline: z
      .array(z.strictObject({ status: ReachedStatus, at: time() }))
      .meta({ description: 'Every status that it had, oldest first.' }),
  })
  .meta({
    id: 'DeliveryStatus',
    allOf: [{ oneOf: [{ required: ['segments'] }, { required: ['channel', 'direction'] }] }],
  });

const SMS_MEMBERS = ['sender', 'route', 'segments'];
const OTHER_MEMBERS = ['direction', 'type'];

/** Sent SMS have other members than all other messages. */
export const OF_ITS_KIND = [{ oneOf: [{ required: SMS_MEMBERS }, { required: OTHER_MEMBERS }] }];

export const Message = z
  .strictObject({
    ...COMMON,
    channel: channel.meta({ description: 'How it travels.' }),
    type: text(
      'Chat-app: `template`, `text`, `image`, `video`, `audio`, `document`, `sticker`, `buttons`, `list`, `url`, `flow`, `location_request`, `contact_request`, `product`, `product_list`, `catalog`, `location`, `contacts`, `reaction`; of what a customer wrote, the type as the provider names it. SMS that was received: `text` or `binary`.',
    ).optional(),
    customer: Customer.optional().meta({ description: 'Chat-app: who wrote it, or whom it is to.' }),
    sender: text('SMS: as it was sent.', { example: 'HARKRA' }).optional(),
    route: z.enum(ROUTES).meta({ description: 'SMS: kind of traffic.', example: 'transactional' }).optional(),
    segments: whole('SMS: number of SMS that the text is sent as.', { minimum: 1, example: 1 }).optional(),
    created_at: time(
      'When it was accepted. For a message of a batch: when the batch was accepted. For a scheduled one: the time it was scheduled for.',
      '2026-11-21T10:00:00+00:00',
    ),
    batch_id: id('bat', 'Id of the batch.').optional(),
    reference: reference.meta({ example: 'order 7' }).optional(),
    closed_reason: z
      .literal('no_receipt')
      .meta({ description: 'Why a `sent` message will not change again.' })
      .optional(),
  })
  .meta({ id: 'Message', description: 'A message of either channel.', allOf: OF_ITS_KIND });

export const MessagePage = named('MessagePage', 'Messages, newest first.', {
  data: z.array(Message).meta({ description: 'Newest first.' }),
  next_cursor: text('Send it as `cursor` to get the next page; null at the end.', {
    example: 'bWVzc2FnZXM6bXNnXzAxbTd6bmpuN2hkYjVwZnQzYXdrYjZwZ3Z6',
  }).nullable(),
  has_more: flag('Whether there may be more.', true),
  searched_to: time(
    'Present when the request ended before the list did: it looked at messages that were accepted at this time or later.',
  ).optional(),
});

export const Explanation = z
  .strictObject({
    cause: text('What happened.'),
    advice: text('What to do.'),
    since: time('Since when it stands in the way.').optional(),
    until: time('When that ends, if it is known: the next try, the hours in which it may be sent.').optional(),
  })
  .meta({
    description:
      'Why the message did not arrive, or what it waits for, and what to do about it. Absent when all is well.',
  });

export const Part = z.strictObject({
  number: whole(undefined, { minimum: 1, example: 1 }),
  state: z
    .enum(['accepted', 'refused', 'unknown', 'delivered', 'failed', 'expired', 'rejected'])
    .meta({ example: 'delivered' }),
  carrier_message_id: text(undefined, { example: '7f3a' }).nullable(),
  error: text().nullable(),
});

const event = z.enum(MESSAGE_EVENT_NAMES);

export const Happened = z.strictObject({
  at: time(),
  what: z.enum([
    'accepted',
    'template',
    'path',
    'paid',
    'taken',
    'answer',
    'receipt',
    'policy',
    'state',
    'webhook',
    'refunded',
    'fallback',
  ]),
  message_id: id(
    'msg',
    'Of what happened to the SMS in its place: the id of the SMS. Absent: it happened to the message.',
  ).optional(),
  because: FALLBACK_BECAUSE.optional(),
  status: ReachedStatus.optional(),
  carrier: text().optional(),
  credits: whole().optional(),
  ledger_seq: whole('Number of the ledger entry; one debit may pay for many messages.').optional(),
  change_id: text('Id of the change: `GET /v2/ledger?change_id=…`.').optional(),
  event: event.optional(),
  webhook_id: text().optional(),
  result: z
    .union([whole(), text()])
    .meta({
      description:
        'For a `webhook`: the HTTP status, or a code of ours if there was no answer. For a `receipt`: `matched`, `duplicate` (it changed nothing), `unknown_settled` (it decided the fate of a submit without an answer), `held` (it does not tell the end: the message fails later unless a better one comes), `ignored` (nobody knows its word; it changed nothing), `failover` (its error surely means that it was not delivered: the next carrier of the route is asked, once; the recipient gets it twice if the carrier was wrong).',
    })
    .optional(),
  duration_ms: whole(undefined, { minimum: 0 }).optional(),
  template_id: text().optional(),
  entity_id: text().optional(),
  template: text().optional(),
  language: text().optional(),
  path: text().optional(),
  outcome: z
    .enum(['sent', 'partial', 'rejected', 'failover', 'retry', 'throttled', 'unknown', 'requeue'])
    .meta({
      description:
        'The result of the answers to all segments together. `failover`: this carrier refused it, and the next one of its route is asked.',
    })
    .optional(),
  error_code: text().optional(),
  error_reason: text().optional(),
  parts: z.array(Part).optional(),
  policy: z
    .enum(['assume_sent', 'resend'])
    .meta({
      description:
        "For a submit whose answer did not come within its carrier's waiting time. `assume_sent`: the message counts as sent; if it never left, it is charged and never arrives (4 of 7,788 messages in a run of 15 kills). `resend`: it is sent again; the recipient may get it twice (none lost and none doubled in that run).",
    })
    .optional(),
  became: z
    .enum(['sent', 'queued', 'failed', 'delivered', 'expired', 'rejected'])
    .meta({
      description:
        'For a `policy`: the state that the message got. `queued`: it is sent again. `failed`: it was sent again, and refused or never answered; see `error_code` `unconfirmed`. Other states come from earlier receipts.',
    })
    .optional(),
  raw: z
    .strictObject({
      text: text(),
      receipted_message_id: text().optional(),
      message_state: whole().optional(),
      network_error_code: text('Octets in hexadecimal.').optional(),
      other_tlvs: OTHER_TLVS,
    })
    .meta({ description: "The receipt's text without the words of the message, and its parameters." })
    .optional(),
  carrier_message_id: text().optional(),
  done_at: time('By the carrier.').optional(),
});

export const WholeMessage = z
  .strictObject({
    ...Message.shape,
    ...SAID,
    explanation: Explanation.optional(),
    encoding: Encoding.meta({ example: 'GSM7' }).optional(),
    valid_until: time('The message expires if it is not delivered by then.', '2026-11-23T10:00:00+00:00').optional(),
    path: text('Routing group.', { example: 'transactional' }).optional(),
    carrier: text('The carrier that took it last.', { example: 'alpha' }).nullable().optional(),
    in_reply_to: text(
      "SMS: the customer's message (STOP, START or HELP) that this one answers by itself, as the account has set.",
    ).optional(),
    fallback: FallbackShown.optional(),
    fallback_of: id('msg', 'SMS: the chat-app message in whose place it goes.').optional(),
    verification_id: id('vrf', 'The verification whose code it has.').optional(),
    resend_of: text('SMS: the message that it repeats (`POST /v2/messages/{message_id}/resend`).').optional(),
    reply_to: text('Chat-app: the message that this one answers or reacts to, or whose button was pressed.').optional(),
    template: text('Chat-app: its name.').optional(),
    language: text('Chat-app: of the template.').optional(),
    held_back: text(
      'Chat-app: the provider took it and held it back, in its word: `held_for_quality_assessment`, `paused`.',
    ).optional(),
    pricing: z
      .strictObject({
        billable: flag('Whether the provider takes money for it.', true).optional(),
        model: text('`PMP`: by message. Older: `CBP`, `NBP`.', { example: 'PMP' }).optional(),
        type: text('`regular`, `free_customer_service`, `free_entry_point` …', { example: 'regular' }).optional(),
        category: text('`marketing`, `utility`, `authentication`, `service` …', { example: 'utility' }).optional(),
      })
      .meta({
        description:
          "Chat-app: what the provider says of its price, in the provider's words. It takes money for what is delivered; what you pay is in `timeline`.",
      })
      .optional(),
    cost: text('Chat-app, for operators: what the provider takes for it by its price list.', {
      example: '0.0014 USD',
    }).optional(),
    tries: whole('Submits that a carrier refused for now.', { minimum: 0, example: 0 }).optional(),
    parts: z.array(Part).meta({ description: 'One per segment, from the moment that a carrier answered.' }).optional(),
    webhooks: z
      .array(
        z.strictObject({
          event_id: text('The header `webhook-id` of the posts.', {
            example: 'evt_01m7znjn7hdb5pft3awkb6pgvz_delivered',
          }),
          event: event.meta({ example: 'message.delivered' }),
          webhook_id: text('The endpoint.', { example: 'whk_3fa85f6457174562b3fc2c963f' }),
          state: z.enum(DELIVERY_STATES).meta({ example: 'done' }),
          attempts: whole(undefined, { minimum: 0, example: 1 }),
        }),
      )
      .meta({ description: 'One per event and endpoint.' }),
    repeats: z
      .array(MessageId)
      .meta({
        description: 'SMS: other messages with the same text to the same number within a minute. Each was charged.',
      })
      .optional(),
    resent_as: z
      .array(MessageId)
      .meta({ description: 'SMS: the newest ten messages that repeat it, because somebody sent it again.' })
      .optional(),
    timeline: z.array(Happened).meta({
      description:
        "What happened, oldest first: `accepted`; the `template` that the text matched; the `path`; `paid`; `taken` by a carrier's worker; a carrier's `answer` to a submit and its `receipt`, raw and as we read them (the unusual ones, or all if the account asks for it; kept for 30 days unless your service provider says otherwise); the `policy` that decided about a submit without an answer; each `state`; each `webhook` attempt (the newest 20 of a delivery); `refunded`; of a chat-app message whose `fallback` goes, that decision, and what happened to the SMS, with its `message_id`.",
    }),
  })
  .meta({
    id: 'WholeMessage',
    allOf: [
      {
        oneOf: [
          { required: [...SMS_MEMBERS, 'encoding', 'valid_until', 'path', 'carrier', 'tries', 'parts'] },
          { required: OTHER_MEMBERS },
        ],
      },
    ],
  });
