import type { Db } from 'mongodb';
import { z } from 'zod';
import { CUSTOMER_ASKED, numbersWrittenTo } from '../../../shared/money/conversations/person.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, isMessageId } from '../../../shared/platform/runtime/ids.ts';
import { CostlyRead, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { named, pageFields, text } from '../../api/shapes.ts';
import { matching, optional } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, readsPer } from '../../http/fields/query.ts';
import { listMessages, listMessagesWith } from '../messages/message-list.ts';
import { messageRecord, personAsked, THREAD_PER_REQUEST } from '../messages/messages.ts';
import { Message, OF_ITS_KIND } from '../messages/shapes.ts';
import { SAID, type TextRules, textRulesFor } from '../messages/texts.ts';
import type { MessageSummary } from '../messages/views.ts';
import { InboxPerson, ofNumber, personRecord } from './inbox.ts';
import { readSaid, WRITTEN } from './texts.ts';

const InboxMessage = z
  .strictObject({
    ...Message.shape,
    ...WRITTEN,
    template: text().optional(),
    language: text().optional(),
    params: SAID.params,
  })
  .meta({
    id: 'InboxMessage',
    description:
      'As `GET /v2/messages` shows it, with what was written (`body`, 4,096 characters at most, else `body_cut`), or the template that was sent with its values. Texts are masked or left out for those who may not read them, as in `GET /v2/messages/{message_id}`.',
    allOf: OF_ITS_KIND,
  });

const RECEIVED = {
  message_id: 'msg_01m82n0a4c6g1yzr3k8w5qv2hx',
  to: '918000000001',
  status: 'received',
  delivered_at: null,
  operator: null,
  channel: 'chatapp',
  direction: 'in',
  from: '919876543210',
  type: 'text',
  created_at: '2026-11-22T14:01:00+00:00',
  body: 'Where is it now?',
};

/** Has the messages of all names of a customer (conversations/person.ts). Other accounts' customers are unknown. */
export const inboxThread = endpoint({
  id: 'inboxThread',
  call: 'inbox.thread',
  method: 'get',
  path: '/v2/account/inbox/{customer}',
  tag: 'Account',
  summary: 'Messages with a customer',
  description:
    'Extension. The chat-app messages to and from one customer, newest first, with their texts: of all your numbers, or of one. Without `number` the session is that with the number that the customer wrote to last. A page counts as one request for each 50 of `limit`.',
  scopes: ['read'],
  test: 'apart',
  params: {
    customer: text('The customer: a number, a user id, a user name, or the `id` of a `customer`.', {
      example: '919876543210',
    }),
  },
  query: { number: ofNumber, limit, cursor: cursorOf('thread', isMessageId) },
  answer: named('InboxThread', {
    ...InboxPerson.shape,
    ...pageFields(z.array(InboxMessage).meta({ example: [RECEIVED] })),
  }),
  problems: ['customer_not_found'],
  handle({ db, clock }, { caller, params: { customer }, query: { number, limit, cursor } }) {
    if (!CUSTOMER_ASKED.test(customer)) return refused('customer_not_found');
    const account = caller.account._id;
    return new CostlyRead(Math.ceil(limit / THREAD_PER_REQUEST), async () => {
      const person = await personAsked(db, caller.account, customer);
      if (person === undefined) return refused('customer_not_found');
      const { messages, next } = await listMessagesWith(db, account, person.names, { number }, cursor, limit);
      const data = await withTexts(db, account, messages, textRulesFor(caller));
      const [written] = numbersWrittenTo(person);
      const thread = { person, ...defined({ number: number ?? written?.[0] }) };
      return { ...personRecord(account, thread, clock.now()), ...pageOf('thread', data, next) };
    });
  },
});

async function withTexts(
  db: Db,
  account: AccountId,
  messages: readonly MessageSummary[],
  rules: TextRules,
): Promise<Shown<typeof InboxMessage>[]> {
  const ids = messages.map(({ _id }) => _id);
  const said = await readSaid(db, account, ids, rules);
  return messages.map((message) => ({ ...messageRecord(message), ...said.get(message._id) }));
}

export const receivedSms = endpoint({
  id: 'receivedSms',
  call: 'sms.received',
  method: 'get',
  path: '/v2/account/received-sms',
  tag: 'Account',
  summary: 'Received SMS',
  description:
    "Extension. What was written to the account's numbers, newest first. A page counts as one request for each 100 of `limit`.",
  scopes: ['read'],
  test: 'apart',
  query: {
    number: optional(
      matching(
        'Only what was written to this number of the account.',
        /^[0-9]{3,15}$/,
        'a number of the account, 3 to 15 digits',
        'invalid_phone',
      ),
    ),
    limit,
    cursor: cursorOf('received-sms', isMessageId),
  },
  reads: readsPer(100),
  answer: named(
    'ReceivedSmsPage',
    pageFields(z.array(InboxMessage).meta({ example: [{ ...RECEIVED, to: '919000000001', channel: 'sms' }] })),
  ),
  async handle({ db }, { caller, query: { number, limit, cursor } }) {
    const account = caller.account._id;
    const filter = { channel: 'sms', direction: 'in', to: number } as const;
    const { messages, next } = await listMessages(db, account, filter, cursor, limit);
    return pageOf('received-sms', await withTexts(db, account, messages, textRulesFor(caller)), next);
  },
});
