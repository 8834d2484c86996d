import assert from 'node:assert/strict';
import { z } from 'zod';
import { readBalance, type Balance as StoredBalance } from '../../../shared/money/accounts/store.ts';
import { countApproved, readApprovedTexts } from '../../../shared/templates/sms/store.ts';
import { isDltId } from '../../../shared/templates/sms/template.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { flag, named, text, whole } from '../../api/shapes.ts';
import { pageOfWhole, readWhole } from '../../api/whole-list.ts';

/** What an account can send with: its credits and approved templates. */

const Balance = named('Balance', {
  balance: whole('Credits.', { minimum: 0, example: 4200 }),
  currency: text('ISO 4217.', { pattern: '^[A-Z]{3}$', example: 'INR' }),
  expiry_date: text('Last day on which the credits may be spent.', {
    pattern: '^\\d{4}-\\d\\d-\\d\\d$',
    format: 'date',
    example: '2027-06-30',
  }),
});

export const balance = endpoint({
  id: 'balance',
  call: 'account.balance',
  method: 'get',
  path: '/v2/balance',
  tag: 'SMS',
  summary: 'Credits of the account',
  scopes: ['read'],
  test: 'apart',
  answer: Balance,
  handle: async ({ db }, { caller }) => balanceRecord(await readBalance(db, caller.account._id)),
});

export function balanceRecord(account: StoredBalance | undefined): Shown<typeof Balance> {
  assert(account !== undefined, 'accounts are never removed');
  const { balance, currency, expiryDate } = account;
  return { balance, currency, expiry_date: expiryDate };
}

const Template = named('Template', 'A DLT template that the account may send.', {
  id: text('DLT template id.', { example: '1107160000000000001' }),
  name: text(undefined, { example: 'Login code' }),
  content: text('Its slots are written as `{#var#}`, or typed, as `{#numeric#}`.', { example: 'Your code is {#var#}' }),
});

const Templates = named('Templates', {
  templates: z.array(Template).meta({ description: 'The approved ones.' }),
  next_cursor: text('Extension. Only of a page: pass it as `cursor` for the next one. Null on the last one.')
    .nullable()
    .optional(),
  has_more: flag('Extension. Only of a page.').optional(),
});

/** "DLT template". Always read from the store, so that a new approval shows at once. */
export const templates = endpoint({
  id: 'templates',
  call: 'sms.templates',
  method: 'get',
  path: '/v2/templates',
  tag: 'SMS',
  summary: 'Approved DLT templates',
  description:
    'All of them. Counts as one request for each 500 templates. Extension: with `limit` or `cursor` it answers a page, which has `next_cursor` and `has_more` too.',
  scopes: ['read'],
  test: 'same',
  query: pageOfWhole('templates', (text): text is string => isDltId(text)),
  answer: Templates,
  handle: ({ db }, { caller, query }) =>
    readWhole<z.infer<typeof Template>>(caller.account._id, query, {
      list: 'templates',
      placeOf: ({ id }) => id,
      count: (account) => countApproved(db, account),
      read: (account, after, limit) => readApprovedTexts(db, account, after, limit),
    }),
});
