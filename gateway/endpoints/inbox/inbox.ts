import type { Db } from 'mongodb';
import { z } from 'zod';
import { type BusinessNumber, isBusinessNumber } from '../../../shared/messages/document/chat-message.ts';
import { CUSTOMER_FORM, isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import {
  type ConversationDocument,
  conversationCollection,
  conversationKey,
  isSessionOpen,
  listMarketingStops,
  SESSION_MS,
  sessionUntil,
} from '../../../shared/money/conversations/conversation.ts';
import {
  type Customer as CustomerRecord,
  customerOf,
  marketingStoppedAt,
  numbersWrittenTo,
  type Person,
  personOf,
  readCustomers,
  sessionOf,
} from '../../../shared/money/conversations/person.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { Customer } from '../../api/event-shapes.ts';
import { flag, named, pageShape, text, time, whole } from '../../api/shapes.ts';
import { Fault, optional, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, pageOfFound, readsPer } from '../../http/fields/query.ts';
import { listMessages } from '../messages/message-list.ts';
import { type TextRules, textRulesFor } from '../messages/texts.ts';
import { readSaid, WRITTEN } from './texts.ts';

/** Customers who wrote on the chat-app channel, and until when they may be written to freely. */

const PaidConversation = named('PaidConversation', 'The conversation that is paid now.', {
  conversation_id: text(undefined, { example: 'cnv_01m82mzqhr5d8rx0q2c0g7n3za' }),
  until: time(undefined, '2026-11-23T13:58:00+00:00'),
  credits: whole(undefined, { example: 1 }),
  by: z.enum(['user', 'business']),
});

/** A customer, under whichever name, and until when one of the account's numbers may write freely. */
export const InboxPerson = z.strictObject({
  customer: Customer,
  to: text('What to give as `to`: the number, or the user id of one who shows none.', { example: '919876543210' }),
  aliases: z.array(text()).meta({
    description:
      'Other names of the same person, as the provider told them: an old number, a number of Brazil without the ninth digit, user ids. Session and conversation hold for all of them, whichever one you write to.',
  }),
  number: text(
    'Your number that the session is with: an answer takes it as `from`. Null if the customer wrote to none yet.',
    { example: '919000000001' },
  ).nullable(),
  marketing_stopped_at: time(
    'When the customer told the provider to get no marketing of you. Null: not, or resumed since.',
    '2026-11-20T08:00:00+00:00',
  ).nullable(),
  last_message_at: time(undefined, '2026-11-22T14:01:00+00:00').nullable(),
  session_open: flag('Whether any message may be sent from this number now; otherwise templates only.', true),
  session_until: time(undefined, '2026-11-23T14:01:00+00:00').nullable(),
  conversation: PaidConversation.nullable().meta({
    description:
      'The conversation that is paid for now: further messages in it cost nothing, from whichever of your numbers.',
    example: {
      conversation_id: 'cnv_01m82mzqhr5d8rx0q2c0g7n3za',
      until: '2026-11-23T13:58:00+00:00',
      credits: 1,
      by: 'user',
    },
  }),
});

const LastMessage = named('InboxLastMessage', 'The newest message of a thread.', {
  type: text().optional(),
  ...WRITTEN,
});

const InboxCustomer = named('InboxCustomer', 'A customer who wrote, or was written to.', {
  ...InboxPerson.shape,
  last_message: LastMessage.nullable().meta({
    description: 'What the customer wrote last; null when it is kept no longer.',
    example: { type: 'text', body: 'Where is it now?' },
  }),
});

export const ofNumber = optional(
  string({ description: 'Only what was written between customers and this number of the account.' }, (number) =>
    isBusinessNumber(number)
      ? number
      : new Fault('invalid_phone', 'It must be a number of the account: digits, country code first.'),
  ),
);

export const inbox = endpoint({
  id: 'inbox',
  call: 'inbox.list',
  method: 'get',
  path: '/v2/account/inbox',
  tag: 'Account',
  summary: 'Customers who wrote',
  description:
    'Extension. The customers who wrote on the chat-app channel, the last one first, with the time until which they may be written to freely. `limit` counts customers: one who wrote to several of your numbers has an entry for each. With `number` only those of one number are shown; a page may then be empty and not the last. A page counts as one request for each 10 of `limit`.',
  scopes: ['read'],
  test: 'apart',
  query: { number: ofNumber, limit, cursor: cursorOf('inbox', isPlace) },
  reads: readsPer(10),
  answer: pageShape('InboxPage', InboxCustomer),
  async handle({ db, clock }, { caller, query: { number: wanted, limit, cursor } }) {
    const account = caller.account._id;
    const found = await listInbox(db, account, cursor && placeOf(cursor), limit + 1);
    const end = found.slice(0, limit).at(-1);
    const keys = found.map(({ customer }) => conversationKey(account, customer));
    const documents = await readCustomers(db, keys);
    // A person is listed where they wrote last, under whichever name.
    const page = found.slice(0, limit).flatMap((one) => {
      const person = personOf(documents, account, one.customer);
      const isLast = person.documents.every((other) => other === one || other._id === one._id || !isAfter(other, one));
      const numbers = isLast ? numbersWrittenTo(person) : [];
      return numbers.flatMap(([number, at]) => ((wanted ?? number) === number ? [{ person, number, at }] : []));
    });
    const last = await lastMessages(db, account, page, textRulesFor(caller));
    const now = clock.now();
    const data = page.map((thread) => ({
      ...personRecord(account, thread, now),
      last_message: last.get(thread) ?? null,
    }));
    return pageOf('inbox', data, found.length > limit && end !== undefined ? textOf(end) : undefined);
  },
});

function isAfter(a: ConversationDocument, b: ConversationDocument): boolean {
  const [of, than] = [a.lastInboundAt?.getTime() ?? 0, b.lastInboundAt?.getTime() ?? 0];
  return of > than || (of === than && a._id > b._id);
}

/** The messages between a customer and one number. `at`: when the customer last wrote to it. */
interface Thread {
  readonly person: Person;
  readonly number: BusinessNumber;
  readonly at: Date;
}

/** Without `number`: the customer wrote to none. */
export function personRecord(
  account: AccountId,
  { person, number }: Pick<Thread, 'person'> & Partial<Pick<Thread, 'number'>>,
  now: Date,
): Shown<typeof InboxPerson> {
  const customer = customerOf(account, person);
  const session = number === undefined ? {} : sessionOf(person, number);
  const until = sessionUntil(session);
  const stopped = marketingStoppedAt(person);
  const [paid] = person.documents
    .flatMap(({ current }) => current ?? [])
    .filter((one) => one.until > now)
    .sort((a, b) => b.until.getTime() - a.until.getTime());
  const to = recipientOf(customer, person);
  return {
    customer,
    to,
    aliases: person.names.filter((name) => name !== to),
    number: number ?? null,
    marketing_stopped_at: stopped === undefined ? null : isoTimestamp(stopped),
    last_message_at: session.lastInboundAt === undefined ? null : isoTimestamp(session.lastInboundAt),
    session_open: isSessionOpen(session, now),
    session_until: until === undefined ? null : isoTimestamp(until),
    conversation:
      paid === undefined
        ? null
        : { conversation_id: paid.id, until: isoTimestamp(paid.until), credits: paid.credits, by: paid.by },
  };
}

function recipientOf({ number, user_id }: CustomerRecord, { names: [first = ''] }: Person): string {
  return number ?? user_id ?? first;
}

async function lastMessages(
  db: Db,
  account: AccountId,
  threads: readonly Thread[],
  rules: TextRules,
): Promise<ReadonlyMap<Thread, Shown<typeof LastMessage>>> {
  const ids = new Map<Thread, MessageId>();
  const types = new Map<Thread, string | undefined>();
  for (const thread of threads) {
    const { person, number, at } = thread;
    const wrote = person.documents.find(({ sessions }) => sessions?.[number]?.getTime() === at.getTime());
    if (wrote === undefined) continue;
    // Ids have the provider's time, as `at` does, so one day of the index is enough.
    const createdFrom = new Date(at.getTime() - 1_000);
    const filter = { from: wrote.customer, to: number, channel: 'chatapp', createdFrom } as const;
    const [last] = (await listMessages(db, account, filter, undefined, 1)).messages;
    if (last === undefined) continue;
    ids.set(thread, last._id);
    types.set(thread, last.inbound?.type);
  }
  const said = await readSaid(db, account, [...ids.values()], rules);
  return new Map([...ids].map(([thread, id]) => [thread, { type: types.get(thread), ...said.get(id) }]));
}

type Place = `${number}:${string}`;

function isPlace(text: string): text is Place {
  const [, customer = ''] = /^\d{1,15}:(.+)$/.exec(text) ?? [];
  return /^\d{1,20}$/.test(customer) || isCustomerUserId(customer);
}

function placeOf(text: Place): { readonly atMs: number; readonly customer: string } {
  const colon = text.indexOf(':');
  return { atMs: Number(text.slice(0, colon)), customer: text.slice(colon + 1) };
}

function textOf({ lastInboundAt, customer }: ConversationDocument): Place {
  return `${lastInboundAt?.getTime() ?? 0}:${customer}`;
}

const MarketingStop = named(
  'MarketingStop',
  'A customer who wants no marketing of the account on the chat-app channel.',
  {
    customer: text('A number, or the user id of one who shows none.', { example: '919876543210' }),
    since: time('When the customer said so to the provider.', '2026-11-28T10:00:00+00:00'),
  },
);

export const marketingStops = endpoint({
  id: 'marketingStops',
  call: 'chatapp.marketingStops',
  method: 'get',
  path: '/v2/account/marketing-stops',
  tag: 'Account',
  summary: 'Customers who stopped marketing',
  description:
    'Extension. Customers of the chat-app channel who told the provider to get no marketing of the account, by number. Marketing templates to them are refused with 403 `marketing_opted_out`, until they resume them in the chat app. A page counts as one request for each 250 of `limit`.',
  scopes: ['read', 'manage'],
  query: { limit, cursor: cursorOf('marketing-stops', (text): text is string => CUSTOMER_FORM.test(text)) },
  reads: readsPer(250),
  answer: pageShape('MarketingStopPage', MarketingStop),
  async handle({ db }, { caller, query: { limit, cursor } }) {
    const found = await listMarketingStops(db, caller.account._id, cursor, limit + 1);
    return pageOfFound('marketing-stops', found, limit, stopRecord, ({ customer }) => customer);
  },
});

function stopRecord({ customer, marketing }: ConversationDocument): Shown<typeof MarketingStop> {
  return { customer, since: isoTimestamp(marketing?.at ?? new Date(0)) };
}

/** The index is named, so that no plan walks the customers of other accounts. */
const INDEX = 'inbox';

interface InboxPlace {
  readonly atMs: number;
  readonly customer: string;
}

/** The customer who wrote last comes first. */
function listInbox(
  db: Db,
  account: AccountId,
  after: InboxPlace | undefined,
  limit: number,
): Promise<ConversationDocument[]> {
  const at = new Date(after?.atMs ?? 0);
  const rest =
    after === undefined
      ? { lastInboundAt: { $exists: true } }
      : {
          lastInboundAt: { $lte: at },
          $or: [{ lastInboundAt: { $lt: at } }, { _id: { $lt: conversationKey(account, after.customer) } }],
        };
  return conversationCollection(db)
    .find({ account, ...rest })
    .sort({ lastInboundAt: -1, _id: -1 })
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

export function countOpenSessions(db: Db, account: AccountId, now: Date, most: number): Promise<number> {
  const since = new Date(now.getTime() - SESSION_MS);
  return conversationCollection(db).countDocuments(
    { account, lastInboundAt: { $gt: since } },
    { hint: INDEX, limit: most },
  );
}
