import { type LossDocument, listLosses } from '../../../shared/money/conversations/loss.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime, isConversationId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { id, named, pageShape, text, time, whole } from '../../api/shapes.ts';
import { optional } from '../../http/fields/field.ts';
import { cursorOf, limit } from '../../http/fields/query.ts';
import { pageOfFound } from '../../http/page.ts';
import { AccountIdText, accountId } from '../operators/fields.ts';
import { decimalText } from './reports.ts';

const Loss = named('ConversationLoss', 'A conversation that cost the operator more than it earned.', {
  conversation_id: id('cnv', undefined, 'cnv_01m7znjn7hdb5pft3awkb6pgvy'),
  account_id: AccountIdText,
  opened_at: time(undefined, '2026-11-28T10:00:00+00:00'),
  opener: id('msg', 'The message that opened it.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
  messages: whole('Messages that the provider billed.', { minimum: 1, example: 24 }),
  credits: whole('What the account paid for it.', { minimum: 0, example: 1 }),
  currency: text(undefined, { example: 'USD' }),
  earned: text('`credits` by the value of a credit.', { example: '0.0025' }),
  cost: text('Of all its messages, by the price list.', { example: '0.0336' }),
  lost: text(undefined, { example: '0.0311' }),
});

export const conversationLosses = endpoint({
  id: 'conversationLosses',
  method: 'get',
  path: '/v2/admin/conversation-losses',
  tag: 'Operators',
  summary: 'Conversations that cost more than they earned',
  description:
    "Extension. The newest first. An account pays a conversation once, and the provider takes money for each of its messages. Counted with the hours, for accounts whose provider has a price list and whose credits have a value in its currency: of each hour the 200 conversations of an account with the most billed messages, 2,000 of all. Kept for 31 days. `messages_per_conversation` of an account's limits prevents them.",
  scopes: ['admin:read'],
  query: {
    account_id: optional(accountId('Only of this account.')),
    limit,
    cursor: cursorOf('conversation-losses', isConversationId),
  },
  answer: pageShape('ConversationLossPage', Loss),
  async handle({ db }, { query: { account_id: account, limit, cursor } }) {
    return pageOfFound('conversation-losses', await listLosses(db, account, cursor, limit + 1), limit, lossRecord);
  },
});

function lossRecord({
  _id,
  account,
  opener,
  messages,
  credits,
  currency,
  earned,
  cost,
}: LossDocument): Shown<typeof Loss> {
  return {
    ...{ conversation_id: _id, account_id: account, opened_at: isoTimestamp(idTime(_id)), opener },
    ...{ messages, credits, currency, earned: decimalText(earned), cost: decimalText(cost) },
    lost: decimalText(cost - earned),
  };
}
