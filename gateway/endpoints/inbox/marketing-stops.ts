import { CUSTOMER_FORM } from '../../../shared/messages/document/recipient.ts';
import type { ConversationDocument } from '../../../shared/money/conversations/conversation.ts';
import { listMarketingStops } from '../../../shared/money/conversations/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, time } from '../../api/shapes.ts';
import { cursorOf, limit } from '../../http/fields/query.ts';
import { pageOfFound } from '../../http/page.ts';

const MarketingStop = named(
  'MarketingStop',
  'A customer who wants no marketing of the account on the chat-app channel.',
  {
    customer: text('A number, or the user id of one who shows none.', { example: '919876543210' }),
    since: time('When the customer said so to the provider.', '2026-11-28T10:00:00+00:00'),
  },
);

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 250;

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
  reads: ({ limit }) => Math.ceil(limit / ENTRIES_PER_REQUEST),
  answer: pageShape('MarketingStopPage', MarketingStop),
  async handle({ db }, { caller, query: { limit, cursor } }) {
    const found = await listMarketingStops(db, caller.account._id, cursor, limit + 1);
    return pageOfFound('marketing-stops', found, limit, stopRecord, ({ customer }) => customer);
  },
});

function stopRecord({ customer, marketing }: ConversationDocument): Shown<typeof MarketingStop> {
  return { customer, since: isoTimestamp(marketing?.at ?? new Date(0)) };
}
