import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { channelOf } from '../messages/channels/channels.ts';
import type { AnyMessage } from '../messages/document/any-message.ts';
import { CHANNEL_NAMES, type ChannelName } from '../messages/document/channel.ts';
import type { HistoryEntry, RawReceipt, ReceiptTlvs } from '../messages/document/message.ts';
import type { VerificationDocument, VerificationOutcome } from '../messages/document/verification.ts';
import { ACCOUNT_ROLES, OPERATOR_ROLES } from '../people/users/user.ts';
import type { Told } from '../platform/runtime/act.ts';
import { isoTimestamp } from '../platform/runtime/clock.ts';
import { type AccountId, isTestAccount, type MessageId } from '../platform/runtime/ids.ts';
import {
  type AccountChange,
  accountBody,
  accountEvent,
  conditionEvent,
  conditionWords,
  type Member,
  type Notice,
} from './account-event.ts';

export interface StateChange {
  /** The message as it is now: when a redo announces the change, it may have moved on. */
  readonly message: AnyMessage;
  readonly entry: HistoryEntry;
}

/** What a webhook is for: the messages of a channel, or what happens to the account itself. */
export const EVENT_CHANNELS: readonly EventChannel[] = [...CHANNEL_NAMES, 'account'];
export type EventChannel = ChannelName | 'account';

interface EventKind {
  readonly channels: readonly EventChannel[];
  /** When it happens, for customers; in the API's document under `webhooks`. */
  readonly when: string;
  /** Members of its body besides name, time and channel. Absent: see gateway/api/event-shapes.ts. */
  readonly members?: Readonly<Record<string, Member>>;
}

interface MessageEventKind extends EventKind {
  /** A new history entry with this state is this event. */
  readonly state: HistoryEntry['state'];
  /** Whether the body says who the customer is, where the channel knows more than a number. */
  readonly tellsCustomer?: true;
  /** The posted body, its members in order; `undefined` members are left out. */
  body(event: string, change: StateChange, customer?: object): object;
}

const ALL = CHANNEL_NAMES;

function wordMembers(word: string) {
  return {
    message_id: {
      about: "Id of the customer's message that said it.",
      id: 'msg',
      example: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
    },
    recipient: { about: "The customer's number.", example: '919876543210' },
    number: { about: 'Your number that the customer wrote to.', example: '56161' },
    word: { about: 'What the customer wrote.', example: word },
  } as const;
}

/**
 * The events of messages ("Event kinds"), in the order of lists. Subscriptions, the filter of GET /v2/events and the
 * names accepted for webhooks follow from these tables; a test compares the API's document with them. How to add one:
 * docs/extending.md.
 */
const MESSAGE_EVENTS = {
  'message.received': {
    channels: ALL,
    state: 'received',
    when: 'A customer wrote to the account, or somebody sent an SMS to one of its numbers.',
    tellsCustomer: true,
    body: receivedBody,
  },
  'recipient.opted_out': {
    channels: ['sms'],
    state: 'opted_out',
    when: 'A customer wrote STOP, or another word for it: SMS to this customer are refused from now on.',
    members: wordMembers('STOP'),
    body: optOutBody,
  },
  'recipient.opted_in': {
    channels: ['sms'],
    state: 'opted_in',
    when: 'A customer who had opted out wrote START, or another word for it.',
    members: wordMembers('START'),
    body: optOutBody,
  },
  'message.read': {
    channels: ['chatapp'],
    state: 'read',
    when: 'The customer opened the message.',
    tellsCustomer: true,
    body: readBody,
  },
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
  'message.fallback': {
    channels: ['chatapp'],
    state: 'fallback',
    when: 'The SMS that was asked for with `fallback` goes in place of the message, or could not go.',
    body: fallbackBody,
  },
} as const satisfies Readonly<Record<string, MessageEventKind>>;

const CUSTOMER = {
  customer: { about: 'A number, or the user id of a customer who shows none.', example: '919876543210' },
} as const;

/** A chat-app customer's marketing wishes. GET /v2/events does not list them, as they are about no message. */
const MARKETING_EVENTS = {
  'marketing.stopped': {
    channels: ['chatapp'],
    when: 'A customer told the chat-app provider to get no marketing of you: marketing templates to this customer are refused from now on.',
    members: CUSTOMER,
  },
  'marketing.resumed': {
    channels: ['chatapp'],
    when: 'A customer who had stopped marketing wants it again.',
    members: CUSTOMER,
  },
} as const satisfies Readonly<Record<`marketing.${MarketingChange['wish']}`, EventKind>>;

/** How the codes of `POST /v2/verify` end. GET /v2/verifications lists them; GET /v2/events does not. */
const VERIFICATION_EVENTS = {
  'verification.approved': { channels: ALL, when: 'A code of yours was given back, and it was the right one.' },
  'verification.failed': {
    channels: ALL,
    when: 'Too many wrong codes were tried: the right one opens nothing any more.',
  },
  'verification.expired': { channels: ALL, when: 'The time of a code was over before it was given back.' },
} as const satisfies Readonly<Record<`verification.${VerificationOutcome}`, EventKind>>;

const SETTERS = ['owner', 'developer'] as const;
const OWNERS = ['owner'] as const;
const ON_CALL = ['operator', 'operator_support'] as const;

/** GET /v2/events does not list them, because it reads the histories of messages. */
const TEMPLATE_EVENTS = {
  'template.approved': {
    channels: [...ALL, 'account'],
    outcome: 'approved',
    when: 'A template may be sent from now on, for the first time or again.',
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    words: ({ name, channel }) => ({
      subject: `Template “${name}” is approved`,
      text: [`The template “${name}” may be sent from now on.`],
      page: templatePage(channel),
    }),
  },
  'template.rejected': {
    channels: [...ALL, 'account'],
    outcome: 'rejected',
    when: 'A template was refused; `reason` says why.',
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    words: ({ name, channel, reason }) => ({
      subject: `Template “${name}” is refused`,
      text: [
        `The template “${name}” was refused.${reason ? ` The reason: ${reason}` : ''}`,
        'Change it, and ask for it again.',
      ],
      page: templatePage(channel),
    }),
  },
  'template.stopped': {
    channels: ['chatapp', 'account'],
    outcome: 'stopped',
    when: 'An approved template cannot be sent any more; `status` says why: `paused`, `disabled`, `archived`, `deleted` …',
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    words: ({ name, channel, status, reason }) => ({
      subject: `Template “${name}” cannot be sent any more`,
      text: [`The provider says of the template “${name}”: ${status}.${reason ? ` The reason: ${reason}` : ''}`],
      page: templatePage(channel),
    }),
  },
} as const satisfies Readonly<Record<string, EventKind & Notice & { readonly outcome: TemplateOutcome }>>;

function templatePage(channel: unknown): string {
  return channel === 'chatapp' ? '/templates/chatapp' : '/templates';
}

const WEBHOOK_ID = { about: 'Id of the webhook.', example: 'whk_3fa85f6457174562b3fc2c963f' };

const SENDER_MEMBERS = {
  sender: { about: 'As recipients see it.', example: 'HARKRA' },
  reason: { about: 'Why. Null: nobody said.', example: 'The header is not yours.', nullable: true },
} as const;

const CTA_MEMBERS = {
  value: { about: 'The link, app or number, as it is compared.', example: 'acme.in/offers' },
  reason: { about: 'Why. Null: nobody said.', example: 'The host is not yours.', nullable: true },
} as const;

const PREFIX = { about: 'How the numbers begin: the country code and three digits.', example: '994771' };
const TRAFFIC_MEMBERS = {
  prefix: PREFIX,
  messages: { about: 'To it, in two clock hours.', example: 412 },
  usual_messages: { about: 'The most in two hours of the two weeks before.', example: 3 },
  delivered: { about: 'How many arrived: a part of 1.', example: 0.04 },
  usual_delivered: { about: 'How many arrive usually.', example: 0.93 },
  converted: {
    about: 'How many codes of verifications were given back: a part of 1. Null: nobody knows.',
    example: 0.02,
    nullable: true,
  },
  usual_converted: { about: 'How many are usually.', example: 0.81, nullable: true },
} as const;
const TRAFFIC_READERS = {
  mayGet: [...ACCOUNT_ROLES, ...OPERATOR_ROLES],
  getsUnasked: [...SETTERS, ...ON_CALL],
  alsoOperators: true,
} as const;

function trafficWords(told: Readonly<Record<keyof typeof TRAFFIC_MEMBERS, Told>>): string {
  const [arrived, usually] = [told.delivered, told.usual_delivered].map((part) => Math.round(Number(part) * 100));
  const [given, usuallyGiven] = [told.converted, told.usual_converted].map((part) => Math.round(Number(part) * 100));
  const codes =
    told.converted === null ? '' : ` Of their codes ${given} % were given back, where ${usuallyGiven} % are.`;
  return `Numbers that begin with ${told.prefix} got ${told.messages} messages in two hours, at most ${told.usual_messages} before, and ${arrived} % of them arrived, where ${usually} % do.${codes}`;
}

/** An entry is all that an account's event needs, besides the place where it happens. */
const ACCOUNT_EVENTS = {
  'key.created': accountEvent({
    when: 'An API key was made.',
    members: {
      key_id: { about: 'Id of the key.', example: '01m7znjn7hdb5pft3awkb6pgvz' },
      name: { about: 'Its name.', example: 'shop server' },
      scopes: { about: 'What it may do.', example: ['send', 'read'] },
      created_by: { about: 'Who made it. Null: your service provider.', example: 'asha@example.com', nullable: true },
    },
    mayGet: [...SETTERS, 'operator'],
    getsUnasked: [...OWNERS, 'operator'],
    words: ({ name, scopes, created_by }) => ({
      subject: `New API key: ${name}`,
      text: [
        `${created_by ?? 'Your service provider'} made the API key ${name}. It may: ${[scopes].flat().join(', ')}.`,
        'If nobody of you wanted it, revoke it now, and change the password of whoever made it.',
      ],
      page: '/keys',
    }),
  }),
  'user.added': accountEvent({
    when: 'Somebody was invited to the account.',
    members: {
      user_id: { about: 'Id of the user.', example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' },
      username: { about: 'What the user signs in with.', example: 'ravi@example.com' },
      role: { about: 'What the user may do.', example: 'developer' },
    },
    mayGet: [...OWNERS, 'operator'],
    getsUnasked: [...OWNERS, 'operator'],
    words: ({ username, role }) => ({
      subject: `New user: ${username}`,
      text: [
        `${username} was invited, as ${role}.`,
        'If nobody of you wanted that, remove the user, and see the audit for who did it.',
      ],
      page: '/users',
    }),
  }),
  'sender.approved': accountEvent({
    when: 'A sender may be used from now on.',
    members: SENDER_MEMBERS,
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    words: ({ sender }) => ({
      subject: `Sender ${sender} is approved`,
      text: [`Messages may be sent as ${sender} from now on.`],
      page: '/senders',
    }),
  }),
  'sender.rejected': accountEvent({
    when: 'A sender was refused; `reason` says why.',
    members: SENDER_MEMBERS,
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    words: ({ sender, reason }) => ({
      subject: `Sender ${sender} is refused`,
      text: [
        `Messages may not be sent as ${sender}.${reason ? ` The reason: ${reason}` : ''}`,
        'To ask once more, remove the sender first.',
      ],
      page: '/senders',
    }),
  }),
  'cta.approved': accountEvent({
    when: 'A link, an app or a callback number is registered from now on.',
    members: CTA_MEMBERS,
    mayGet: ACCOUNT_ROLES,
    getsUnasked: [],
    words: ({ value }) => ({
      subject: `${value} is registered`,
      text: [`Messages may hold ${value} from now on.`],
      page: '/ctas',
    }),
  }),
  'cta.rejected': accountEvent({
    when: 'A link, an app or a callback number was refused; `reason` says why.',
    members: CTA_MEMBERS,
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    words: ({ value, reason }) => ({
      subject: `${value} is refused`,
      text: [
        `Messages should not hold ${value}.${reason ? ` The reason: ${reason}` : ''}`,
        'To ask once more, remove it first.',
      ],
      page: '/ctas',
    }),
  }),
  'traffic.held': accountEvent({
    when: 'Messages to a prefix are held, because they look like fraud.',
    members: TRAFFIC_MEMBERS,
    ...TRAFFIC_READERS,
    words: (told) => ({
      subject: `Messages to ${told.prefix}… are held`,
      text: [
        `${trafficWords(told)} Somebody may be paid for them, so sends to such numbers are refused now.`,
        'Look who asks for these messages. If they are right, release the prefix.',
      ],
      page: '/limits',
      operatorsPage: '',
    }),
  }),
  'traffic.suspicious': accountEvent({
    when: 'Messages to a prefix look like fraud, and are sent: the brake of the account only watches.',
    members: TRAFFIC_MEMBERS,
    ...TRAFFIC_READERS,
    words: (told) => ({
      subject: `Messages to ${told.prefix}… look like fraud`,
      text: [
        `${trafficWords(told)} Somebody may be paid for them. They are sent.`,
        'Look who asks for these messages. Your service provider can have such traffic held.',
      ],
      page: '/limits',
      operatorsPage: '',
    }),
  }),
  'traffic.released': accountEvent({
    when: 'A prefix that was held is released: messages to it are sent again.',
    members: {
      prefix: PREFIX,
      by: { about: 'Who released it. `ops`: your service provider.', example: 'user usr_01m7znjn7hdb5pft3awkb6pgvz' },
      reason: { about: 'Why it is right.', example: 'Our launch in Baku' },
    },
    ...TRAFFIC_READERS,
    words: ({ prefix, reason }) => ({
      subject: `Messages to ${prefix}… are sent again`,
      text: [
        `Somebody released the prefix: ${reason}`,
        'It is trusted for a week. If nobody of you wanted that, see the audit for who did it.',
      ],
      page: '/limits',
      operatorsPage: '',
    }),
  }),
  'sign_in.new_device': accountEvent({
    when: 'A user signed in with a browser that the user had not used before.',
    members: {
      user_id: { about: 'Id of the user.', example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' },
      username: { about: 'What the user signs in with.', example: 'asha@example.com' },
      address: { about: 'Where it was.', example: '203.0.113.7' },
      agent: { about: 'The browser, as it named itself.', example: 'Mozilla/5.0', nullable: true },
    },
    mayGet: 'self',
    getsUnasked: [...ACCOUNT_ROLES, ...OPERATOR_ROLES],
    words: ({ username, address, agent }) => ({
      subject: 'You signed in with a new browser',
      text: [
        `Somebody signed in as ${username} from ${address}, with a browser that was not used before: ${agent ?? 'it did not say which'}.`,
        'If that was not you, change your password and end all other sessions.',
      ],
      page: '/profile',
    }),
  }),
  'balance.low': conditionEvent({
    when: 'The balance is not above the threshold of the account, or lasts for less than two days.',
    members: {
      balance: { about: 'Credits that are left.', example: 480 },
      threshold: { about: 'The threshold of the account. Null: it has none.', example: 500, nullable: true },
    },
    example: [
      'The balance is not above 500 credits.',
      'Ask your service provider for credits before they are used up.',
    ],
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    page: () => '/credits',
  }),
  'account.expiring': conditionEvent({
    when: 'The credits of the account expire within two weeks.',
    members: {},
    example: [
      'The credits expire after 2026-12-05.',
      'Use the credits, or ask your service provider to extend the expiry date.',
    ],
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    page: () => '/credits',
  }),
  'webhook.failing': conditionEvent({
    when: 'No post to a webhook has been acknowledged for a minute or longer.',
    members: { webhook_id: WEBHOOK_ID },
    example: ['Every post to example.com fails.', 'Look into the delivery log of the webhook.'],
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    page: ({ webhook_id }) => `/webhooks/${webhook_id}`,
  }),
  'webhook.disabled': conditionEvent({
    when: 'A webhook was disabled because it failed for five days or answered 410, or by an operator. Nothing is posted to it any more.',
    members: { webhook_id: WEBHOOK_ID },
    example: ['The webhook to example.com is disabled.', 'Correct the server, then enable the webhook.'],
    mayGet: ACCOUNT_ROLES,
    getsUnasked: SETTERS,
    page: ({ webhook_id }) => `/webhooks/${webhook_id}`,
  }),
  'provider.stopped': conditionEvent({
    when: 'The provider of the chat-app number does not allow it any more: its messages do not leave.',
    members: {},
    example: ['Chat-app number 15550783881 is stopped: provider_refused', 'Ask your service provider.'],
    mayGet: [...ACCOUNT_ROLES, ...OPERATOR_ROLES],
    getsUnasked: [...SETTERS, ...ON_CALL],
    alsoOperators: true,
    page: () => '',
  }),
  'provider.notice': conditionEvent({
    when: 'The provider of the chat-app number tells of the number or the business account: its quality, a limit, a ban.',
    members: {},
    example: [
      'The provider of chat-app number 15550783881 tells: phone number quality update: FLAGGED.',
      'Send to customers who expect it only.',
    ],
    mayGet: [...ACCOUNT_ROLES, ...OPERATOR_ROLES],
    getsUnasked: [...SETTERS, ...ON_CALL],
    alsoOperators: true,
    page: () => '',
  }),
} as const;

/** For operators only. They have no account, so no webhooks. */
const OPERATOR_NOTICES = {
  'approval.waiting': {
    when: 'An account asks for a sender, a CTA or a DLT template. Told at most once an hour.',
    mayGet: OPERATOR_ROLES.filter((role) => role !== 'operator_desk'),
    getsUnasked: ON_CALL,
    words: ({ senders, ctas, templates }) => ({
      subject: 'Something waits for your decision',
      text: [
        `Senders that wait: ${senders}. Links and numbers that wait: ${ctas}. DLT templates that wait: ${templates}.`,
      ],
      page: '/admin/approvals',
    }),
  },
  'carrier.down': carrierNotice('A carrier has had no bind for a minute or longer.'),
  'carrier.refusing': carrierNotice('A carrier refuses all messages, or many of them.'),
} as const satisfies Readonly<Record<string, Notice>>;

function carrierNotice(when: string): Notice {
  const words = conditionWords(({ carrier_id }) => `/admin/carriers/${carrier_id}`);
  return { when, mayGet: OPERATOR_ROLES, getsUnasked: ON_CALL, words };
}

export const EVENTS = {
  ...MESSAGE_EVENTS,
  ...VERIFICATION_EVENTS,
  ...MARKETING_EVENTS,
  ...TEMPLATE_EVENTS,
  ...ACCOUNT_EVENTS,
};
export const NOTICES = { ...TEMPLATE_EVENTS, ...ACCOUNT_EVENTS, ...OPERATOR_NOTICES };

export type AccountEventName = keyof typeof ACCOUNT_EVENTS;
export type NoticeName = keyof typeof NOTICES;

export type EventName = keyof typeof EVENTS;
export type MessageEventName = keyof typeof MESSAGE_EVENTS;

// The catalogue's own keys.
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];
export const MESSAGE_EVENT_NAMES = Object.keys(MESSAGE_EVENTS) as readonly MessageEventName[];
export const ACCOUNT_EVENT_NAMES = Object.keys(ACCOUNT_EVENTS) as readonly AccountEventName[];
/** Told by `announceConditions` when they begin. */
export const CONDITION_NOTICES = [
  ...(['balance.low', 'account.expiring', 'webhook.failing', 'webhook.disabled'] as const),
  ...(['provider.stopped', 'provider.notice'] as const),
  ...(['carrier.down', 'carrier.refusing'] as const),
] satisfies readonly NoticeName[];
export const NOTICE_NAMES = Object.keys(NOTICES) as readonly NoticeName[];

export function eventsOf(channel: EventChannel): readonly EventName[] {
  const kinds: Readonly<Record<EventName, EventKind>> = EVENTS;
  return EVENT_NAMES.filter((name) => kinds[name].channels.includes(channel));
}

export function eventName({ state }: HistoryEntry): MessageEventName {
  const name = BY_STATE.get(state);
  if (name === undefined) throw new Error(`no event tells of the state ${state}`);
  return name;
}

export function stateOf(name: MessageEventName): HistoryEntry['state'] {
  return MESSAGE_EVENTS[name].state;
}

/** The exact JSON that is signed and posted. `customers`: of `customersOf`. `raw`: with the receipt, if it was kept. */
export function eventBody(change: StateChange, customers?: Customers, raw = false): string {
  const event = eventName(change.entry);
  const kind = kindOf(event);
  const customer = kind.tellsCustomer ? customers?.get(change.message._id) : undefined;
  const body = kind.body(event, change, customer);
  const receipt = raw ? change.entry.raw : undefined;
  return JSON.stringify({
    ...body,
    ...(receipt !== undefined && { raw: rawMember(receipt) }),
    ...(isTestAccount(change.message.account) && { test: true }),
  });
}

function rawMember({ text, tlvs }: RawReceipt): object {
  return { receipt: text, ...tlvMembers(tlvs) };
}

/** As events and timelines show them. */
export function tlvMembers({ receiptedMessageId, messageState, networkErrorCode, others }: ReceiptTlvs = {}) {
  return {
    receipted_message_id: receiptedMessageId,
    message_state: messageState,
    network_error_code: networkErrorCode,
    other_tlvs: others,
  };
}

export type Customers = ReadonlyMap<MessageId, object>;

/** The customers of those messages whose events say who they are. One read per account, seldom two. */
export async function customersOf(db: Db, changes: readonly StateChange[]): Promise<Customers> {
  const byAccount = new Map<AccountId, AnyMessage[]>();
  for (const { message, entry } of changes) {
    if (!kindOf(eventName(entry)).tellsCustomer) continue;
    const others = byAccount.get(message.account);
    if (others === undefined) byAccount.set(message.account, [message]);
    else others.push(message);
  }
  const found = new Map<MessageId, object>();
  for (const [account, messages] of byAccount) {
    for (const channel of CHANNEL_NAMES) {
      const own = messages.filter((message) => message.channel === channel);
      if (own.length === 0) continue;
      for (const one of await channelOf({ channel }).customersOf(db, account, own)) found.set(...one);
    }
  }
  return found;
}

/** The event of a template's change, and the exact JSON that is signed and posted. */
export function templateEvent(change: TemplateChange): { readonly event: EventName; readonly body: string } {
  const event = `template.${change.event}` as const;
  return { event, body: JSON.stringify(templateBody(event, change)) };
}

/** The event of a customer's wish, and the exact JSON that is signed and posted. */
export function marketingEvent(change: MarketingChange): { readonly event: EventName; readonly body: string } {
  const event = `marketing.${change.wish}` as const;
  return { event, body: JSON.stringify(marketingBody(event, change)) };
}

/** The event of a code's end, and the exact JSON that is signed and posted. */
export function verificationEvent(end: VerificationEnd): { readonly event: EventName; readonly body: string } {
  const event = `verification.${end.outcome}` as const;
  return { event, body: JSON.stringify(verificationBody(event, end)) };
}

/** The exact JSON that is signed and posted. */
export function accountEventBody(change: AccountChange<AccountEventName>): string {
  return JSON.stringify(accountBody(change));
}

const BY_STATE: ReadonlyMap<HistoryEntry['state'], MessageEventName> = new Map(
  MESSAGE_EVENT_NAMES.map((name) => [stateOf(name), name]),
);

function kindOf(name: MessageEventName): MessageEventKind {
  return MESSAGE_EVENTS[name];
}

interface OwnMembers {
  readonly operator?: string;
  readonly deliveredAt?: string;
  readonly error?: { readonly error_code: string | null; readonly error_reason: string | null };
}

function sentBody(event: string, change: StateChange): object {
  return outboundBody(event, change, {});
}

/** `operator` is never null here: a message that was read was delivered by somebody. */
function readBody(event: string, change: StateChange, customer?: object): object {
  return { ...outboundBody(event, change, { operator: deliveredBy(change) }), customer };
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
 * The payload of "message.received". A text has exactly these six members. Other types add theirs under the type's
 * name; an answer to a message adds its `context`. An SMS also has `to` and `channel`; `opt_out` if it is an opt-out
 * word or close to one; and `missing_parts` or `data_coding` if it could not be read completely.
 */
function receivedBody(event: string, { message, entry }: StateChange, customer?: object): object {
  assert('inbound' in message, 'only what a customer wrote is received');
  const { _id, from, inbound } = message;
  const { type, body, more } = inbound;
  const members = { event, from, message_id: _id, type, body, timestamp: isoTimestamp(entry.at) };
  // Our members are written again after the provider's, which may replace none of them.
  return { ...members, ...more, ...members, ...channelOf(message).eventMembers(message), customer };
}

/** `message_id` is the customer's message, `number` the number that it was sent to. */
function optOutBody(event: string, { message, entry }: StateChange): object {
  assert('inbound' in message, 'only a customer opts out or in');
  const { _id, from, to, inbound } = message;
  const timestamp = isoTimestamp(entry.at);
  return { event, message_id: _id, recipient: from, number: to, word: inbound.body, timestamp, channel: 'sms' };
}

/**
 * A flat object, in the specification's order ("Payload of message.delivered"). Spec gap: the other events have the
 * same members without `delivered_at`. `operator` is null while unknown; `reference` is present when the sender gave
 * one.
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

/** `fallback_message_id` is the SMS, which has events of its own. Null if it could not go: then the error says why. */
function fallbackBody(event: string, { message, entry }: StateChange): object {
  assert('fallback' in message && message.fallback !== undefined, 'only a message with a fallback falls back');
  const { decided, ended } = message.fallback;
  return {
    event,
    message_id: message._id,
    to: message.to,
    fallback_message_id: ended?.kind === 'sent' ? ended.message : null,
    because: decided?.because,
    timestamp: isoTimestamp(entry.at),
    error_code: entry.error?.code ?? null,
    error_reason: entry.error?.reason ?? null,
    reference: message.reference,
    ...channelOf(message).eventMembers(message),
  };
}

function deliveredBy({ message }: StateChange): string {
  return channelOf(message).deliveredBy(message);
}

export interface VerificationEnd {
  readonly verification: VerificationDocument;
  readonly outcome: VerificationOutcome;
  readonly at: Date;
}

function verificationBody(event: string, { verification, outcome, at }: VerificationEnd): object {
  const { _id, account, to, attempts, message, reference, channel } = verification;
  return {
    ...{ event, verification_id: _id, to, state: outcome, attempts, message_id: message, reference },
    ...{ timestamp: isoTimestamp(at), channel },
    ...(isTestAccount(account) && { test: true }),
  };
}

/** A chat-app customer told the provider to get no more marketing from the account, or to get it again. */
export interface MarketingChange {
  readonly account: AccountId;
  readonly customer: string;
  readonly wish: 'stopped' | 'resumed';
  readonly at: Date;
}

function marketingBody(event: string, { customer, at }: MarketingChange): object {
  return { event, customer, timestamp: isoTimestamp(at), channel: 'chatapp' };
}

/** `stopped`: an approved template that cannot be sent any more. */
type TemplateOutcome = 'approved' | 'rejected' | 'stopped';

/** Kept in the template's document until maintenance has announced it (workers/maintenance/announce.ts). */
export interface UnannouncedTemplateEvent {
  readonly event: TemplateOutcome;
  /** The status after the change; for `stopped` it says why. */
  readonly status: string;
  readonly reason?: string;
  readonly at: Date;
}

export interface TemplateChange extends UnannouncedTemplateEvent {
  readonly account: AccountId;
  readonly channel: ChannelName;
  readonly template: string;
  /** Members that name the template: of SMS its id and name, of chat-app its name, language and category. */
  readonly named: Readonly<Record<string, string>>;
}

function templateBody(event: string, { named, status, reason, at, channel }: TemplateChange): object {
  return { event, ...named, status, reason: reason ?? null, timestamp: isoTimestamp(at), channel };
}
