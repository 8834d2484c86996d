import type { Db } from 'mongodb';
import { completedNumber } from '../../../shared/carriers/numbers/number.ts';
import { channelOf } from '../../../shared/messages/channels/channels.ts';
import { CHANNEL_NAMES } from '../../../shared/messages/document/channel.ts';
import type { MessageState } from '../../../shared/messages/document/message.ts';
import { customerProblem, isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { STATES, shownState } from '../../../shared/messages/document/status.ts';
import type { AccountDocument, ChangeId } from '../../../shared/money/accounts/account.ts';
import { homeOf } from '../../../shared/money/accounts/number-check.ts';
import { CUSTOMER_ASKED, type Customer, findPerson } from '../../../shared/money/conversations/person.ts';
import { readEntries } from '../../../shared/money/ledger/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, type GroupId, idTime, isBatchId, isMessageId } from '../../../shared/platform/runtime/ids.ts';
import { isLooking } from '../../access/looking.ts';
import { endpoint, type Gateway, refused, type Shown } from '../../api/endpoint.ts';
import { choice, Fault, optional, string, type Values } from '../../http/fields/field.ts';
import { changeId, cursorOf, limit, pageOf, queryTime } from '../../http/fields/query.ts';
import { listMessages, listMessagesWith, type MessageFilter } from './message-list.ts';
import { explainWhole } from './obstacle.ts';
import { IN_PATH, type Message, MessagePage, SHOWN_STATES, WholeMessage } from './shapes.ts';
import { textRulesFor } from './texts.ts';
import { type MessageSummary, viewOf } from './views.ts';
import { readWholeMessage, timelineOf, type WholeMessage as Whole } from './whole.ts';

/** This many entries of a page count as one request. Reading them takes the embedded store some 3 ms. */
const ENTRIES_PER_REQUEST = 250;

/** Both spellings are used elsewhere. */
const DIRECTIONS = { in: 'in', out: 'out', inbound: 'in', outbound: 'out' } as const;
const DIRECTION_NAMES = Object.keys(DIRECTIONS) as (keyof typeof DIRECTIONS)[]; // its own keys

/** `to` is the recipient, as everywhere in the API, so the parameters for times have other names. */
export const MESSAGE_FILTER = {
  channel: optional(choice(CHANNEL_NAMES, 'How they travel.')),
  direction: optional(
    choice(DIRECTION_NAMES, '`in` or `inbound`: what you received. `out` or `outbound`: what you sent.'),
  ),
  state: optional(choice(SHOWN_STATES, 'As the status endpoint shows it.')),
  to: optional(
    string(
      {
        description:
          "Recipient: digits, no plus sign; or the user id of a chat-app customer. Without a country code it is taken to be a number of the account's country. Of what you received, the number that it came to; it may be a short code of yours.",
        pattern: '^([0-9]{3,7}|0?[1-9][0-9]{7,14}|[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128})$',
      },
      (to) => {
        const problem = /^\d{3,7}$/.test(to) ? undefined : customerProblem(to.replace(/^0/, ''));
        return problem === undefined ? to : new Fault('invalid_phone', problem);
      },
    ),
  ),
  from: optional(
    string(
      {
        description:
          'Who wrote. Of what you received the customer: a number, or the user id of a chat-app customer. Of what was sent on the chat-app channel your number.',
        pattern: '^([0-9]{3,15}|[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128})$',
      },
      // Companies write from short codes.
      (from) =>
        /^\d{3,15}$/.test(from) || isCustomerUserId(from)
          ? from
          : new Fault('invalid_phone', 'It must be 3 to 15 digits, or the user id of a chat-app customer.'),
    ),
  ),
  reference: optional(string({ description: 'Your own name for the message.' }, (text) => text)),
  sender: optional(string({ description: 'SMS: the sender.' }, (text) => text)),
  batch_id: optional(
    string({ description: 'Messages of a bulk request.', pattern: '^bat_[0-9a-hjkmnp-tv-z]{26}$' }, (id) =>
      isBatchId(id) ? id : new Fault('invalid_value', 'It must be a batch_id, `bat_` and 26 characters.'),
    ),
  ),
  created_from: optional(queryTime('Accepted at this time or later. A plus sign must be written as `%2B`.')),
  created_before: optional(queryTime('Accepted before this time.')),
};

export const messages = endpoint({
  id: 'messages',
  call: 'messages.list',
  method: 'get',
  path: '/v2/messages',
  tag: 'Reading back',
  summary: 'Messages of the account',
  description:
    'Extension. Newest first, in pages. Search by recipient (`to`), customer (`from`), `reference`, batch, time and the states failed, expired, rejected, read and received goes by an index. Other filters, and further ones beside these, look at 1,000 messages per request: a page may then have fewer entries than `limit`, even none, although `has_more` is true. `searched_to` says how far back it has looked; continue with `next_cursor` and the same filters. An SMS is listed when its carrier has answered, or about three seconds after its 200; half a minute after it where the gateway that gave it was killed. One message by its id, at once: `GET /v2/messages/{message_id}`. A page counts as one request for each 250 of `limit`.',
  scopes: ['read'],
  test: 'apart',
  query: {
    ...MESSAGE_FILTER,
    customer: optional(
      string(
        {
          description:
            'Chat-app: to and from this person, under all names: a number, a user id, a user name, or the `id` of a `customer`.',
          pattern: CUSTOMER_ASKED.source,
        },
        (asked) =>
          CUSTOMER_ASKED.test(asked)
            ? asked
            : new Fault('invalid_value', 'Give a number, a user id, a user name, or the id of a customer.'),
      ),
    ),
    change_id: optional(changeId('Only what this change of the balance paid for: `change_id` of the statement.')),
    limit,
    cursor: cursorOf('messages', isMessageId),
  },
  queryRules: [
    (_given, has, problems) => {
      if (has('customer') && (has('to') || has('from'))) {
        problems.add('customer', 'conflict', 'It stands for both: leave out `to` and `from`.');
      }
    },
  ],
  reads: ({ limit, customer }) =>
    Math.ceil(limit / (customer === undefined ? ENTRIES_PER_REQUEST : THREAD_PER_REQUEST)),
  answer: MessagePage,
  async handle({ db }, { caller, query }) {
    const change = query.change_id;
    const about = change === undefined ? {} : await paidBy(db, caller.account._id, change as ChangeId); // only compared with
    if (about === undefined) return pageOf('messages', [], undefined);
    const account = caller.account._id;
    const filter = { ...messageFilter(query), ...about };
    if (query.customer !== undefined) {
      const person = query.channel === 'sms' ? undefined : await personAsked(db, caller.account, query.customer);
      if (person === undefined) return pageOf('messages', [], undefined);
      const { messages, next } = await listMessagesWith(db, account, person.names, filter, query.cursor, query.limit);
      return pageOf('messages', await messageRecords(db, account, messages), next);
    }
    const list = (numbers: Pick<MessageFilter, 'to' | 'from'>) =>
      listMessages(db, account, { ...filter, ...numbers }, query.cursor, query.limit);
    const home = homeOf(caller.account);
    const whole = mapped(query, (number) => completedNumber(number, home));
    let found = await list(whole);
    // Without a check of numbers, messages may have been sent to the digits as they are.
    const isAsWritten = whole.to === query.to && whole.from === query.from;
    if (!isAsWritten && found.messages.length === 0 && found.next === undefined) found = await list(query);
    const { messages, next, searchedTo } = found;
    const page = pageOf('messages', await messageRecords(db, account, messages), next);
    return searchedTo === undefined ? page : { ...page, searched_to: isoTimestamp(idTime(searchedTo)) };
  },
});

export const THREAD_PER_REQUEST = 50;

/** A person as written: a number with or without country code, a user id, a user name, a customer id. */
export function personAsked(
  db: Db,
  account: Parameters<typeof homeOf>[0] & Pick<AccountDocument, '_id'>,
  asked: string,
) {
  return findPerson(db, account._id, completedNumber(asked, homeOf(account)));
}

async function messageRecords(db: Db, account: AccountId, messages: readonly MessageSummary[]) {
  const channel = 'chatapp';
  const customers = await channelOf({ channel }).customersOf(
    db,
    account,
    messages.filter((message) => message.channel === channel),
  );
  return messages.map((message) => messageRecord(message, customers.get(message._id)));
}

/** The messages of a change as a filter. Undefined: there are none. */
async function paidBy(db: Db, account: AccountId, change: ChangeId): Promise<MessageFilter | undefined> {
  const [entry] = await readEntries(db, account, [change]);
  if (entry === undefined) return undefined;
  const { covers, reference } = entry;
  if (covers !== undefined) return { paid: { group: change as GroupId, ...covers } }; // debits are groups
  return reference !== undefined && isBatchId(reference) ? { batch: reference } : undefined;
}

function mapped({ to, from }: Pick<MessageFilter, 'to' | 'from'>, change: (number: string) => string) {
  return { to: to && change(to), from: from && change(from) };
}

/** For files: numbers without a country code become numbers of the account's country. */
export function withCountryCode(filter: MessageFilter, account: Parameters<typeof homeOf>[0]): MessageFilter {
  const home = homeOf(account);
  return { ...filter, ...defined(mapped(filter, (number) => completedNumber(number, home))) };
}

export function messageFilter(query: Values<typeof MESSAGE_FILTER>): MessageFilter {
  const { channel, direction, state, to, from, reference, sender, batch_id: batch } = query;
  return defined({
    ...{ channel, to, from, reference, sender, batch },
    direction: direction && DIRECTIONS[direction],
    states: state && STATE_NAMES.filter((one) => STATES[one].shown === state),
    createdFrom: query.created_from,
    createdBefore: query.created_before,
  });
}

const STATE_NAMES = Object.keys(STATES) as MessageState[]; // its own keys

/** The five fields of "Delivery status record" (null while unknown), then our additions (absent while unknown). */
export function messageRecord(message: MessageSummary, customer?: Customer): Shown<typeof Message> {
  const view = viewOf(message);
  return {
    message_id: message._id,
    to: message.to,
    status: shownState(message),
    delivered_at: message.deliveredAt === undefined ? null : isoTimestamp(message.deliveredAt),
    operator: view.operatorOf(message),
    ...view.summary(message),
    customer,
    created_at: isoTimestamp(idTime(message._id)),
    batch_id: message.batch,
    reference: message.reference,
    error_code: message.errorCode,
    error_reason: message.errorReason,
    outcome: message.outcome,
    closed_reason: message.closedReason,
  };
}

const AT = '2026-11-21T10:00:04+00:00';

function exampleOf(status: string, operator: string | null, more: object, ended: readonly object[]) {
  const at = '2026-11-21T10:00:00+00:00';
  return {
    ...{ message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz', to: '919876543210', status, operator },
    ...{ channel: 'sms', sender: 'HARKRA', route: 'transactional', segments: 1, created_at: at, reference: 'order 7' },
    ...{
      encoding: 'GSM7',
      valid_until: '2026-11-23T10:00:00+00:00',
      path: 'transactional',
      carrier: 'alpha',
      tries: 0,
    },
    ...more,
    timeline: [
      { at, what: 'accepted' },
      { at, what: 'paid', credits: 1, ledger_seq: 12 },
      { at, what: 'taken', carrier: 'alpha' },
      { at: '2026-11-21T10:00:01+00:00', what: 'state', status: 'sent' },
      ...ended,
    ],
  };
}

export const MESSAGE_EXAMPLES = {
  delivered: exampleOf(
    'delivered',
    'Example Carrier',
    {
      delivered_at: AT,
      parts: [{ number: 1, state: 'delivered', carrier_message_id: '7f3a', error: null }],
      webhooks: [
        {
          ...{ event_id: 'evt_01m7znjn7hdb5pft3awkb6pgvz_delivered', event: 'message.delivered' },
          ...{ webhook_id: 'whk_3fa85f6457174562b3fc2c963f', state: 'done', attempts: 1 },
        },
      ],
    },
    [
      { at: AT, what: 'state', status: 'delivered' },
      {
        ...{ at: AT, what: 'webhook', event: 'message.delivered', webhook_id: 'whk_3fa85f6457174562b3fc2c963f' },
        ...{ result: 200, duration_ms: 31 },
      },
    ],
  ),
  failed: exampleOf(
    'failed',
    null,
    {
      ...{ delivered_at: null, error_code: '1', error_reason: 'The number does not exist' },
      explanation: {
        cause: 'The number does not exist.',
        advice: 'Remove the number from your list, or ask the recipient for the right one.',
      },
      parts: [{ number: 1, state: 'failed', carrier_message_id: '7f3a', error: '1' }],
      webhooks: [],
    },
    [
      {
        ...{
          at: AT,
          what: 'receipt',
          carrier: 'alpha',
          result: 'matched',
          carrier_message_id: '7f3a',
          status: 'failed',
        },
        raw: { text: 'id:7f3a sub:001 dlvrd:000 stat:UNDELIV err:001' },
        ...{ error_code: '1', error_reason: 'The number does not exist' },
      },
      { at: AT, what: 'state', status: 'failed' },
    ],
  ),
};

/** Another account's message is answered like one that does not exist. */
export const message = endpoint({
  id: 'message',
  call: 'messages.get',
  method: 'get',
  path: '/v2/messages/{message_id}',
  tag: 'Reading back',
  summary: 'One message with its timeline',
  description:
    'Extension. Everything that is known about it, with its text for those who may read it: `text_shown` says so.',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  reads: 1,
  answer: WholeMessage,
  problems: ['message_not_found'],
  examples: { answer: MESSAGE_EXAMPLES },
  async handle(gateway, { caller, params, told }) {
    const id = params.message_id;
    if (!isMessageId(id)) return refused('message_not_found');
    told.messageId = id;
    const whole = await readWholeMessage(gateway.db, caller.account._id, id, textRulesFor(caller));
    return whole === undefined ? refused('message_not_found') : wholeRecord(gateway, whole, isLooking(caller));
  },
});

export async function wholeRecord(
  gateway: Gateway,
  whole: Whole,
  forOperator: boolean,
): Promise<Shown<typeof WholeMessage>> {
  const { message, said, customer, deliveries, repeats, resends, pricing } = whole;
  return {
    ...messageRecord(message, customer),
    ...said,
    explanation: await explainWhole(gateway, whole, forOperator),
    ...viewOf(message).whole(message),
    ...(pricing === undefined ? {} : { pricing }),
    cost: forOperator && 'cost' in message ? message.cost : undefined,
    webhooks: deliveries.map(({ eventId, event, endpoint, state, attempts }) => ({
      event_id: eventId,
      event,
      webhook_id: endpoint,
      state,
      attempts: attempts.length,
    })),
    ...(repeats.length > 0 && { repeats }),
    ...(resends.length > 0 && { resent_as: resends }),
    timeline: timelineOf(whole),
  };
}
