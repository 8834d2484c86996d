import { z } from 'zod';
import { CHANNEL_NAMES } from '../../../shared/messages/document/channel.ts';
import { daysOf } from '../../../shared/messages/report.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { CREDITS_SHOWN, readStatement } from '../../../shared/money/statements/statement.ts';
import { isDay } from '../../../shared/platform/runtime/clock.ts';
import { endpoint, type Gateway, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, text, time, whole } from '../../api/shapes.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { optional } from '../../http/fields/field.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { accountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH } from '../operators/fields.ts';
import { zone } from '../reports/reports.ts';

/** A month's statement, for the customer's books. */

/** A binary search per day, and the refunds: 1 s of a busy embedded store for 150,000 entries with 30,000 refunds. */
const COST = 50;
/** Harkara is younger than older months. */
const FIRST_MONTH = '2020-01';

const credits = (description: string, example: number) => whole(description, { example });
const MOVEMENTS = {
  top_ups: credits('Credits that were added.', 1000),
  corrections: credits('What operators corrected; it may be negative.', 0),
  usage: credits('What messages and conversations took: negative, or 0.', -121),
  refunds: whole(
    'What came back for messages that never left. Null: there are more than 50,000, and `usage` is what was used without them.',
    { example: 1 },
  ).nullable(),
};

const GstStateShape = z.strictObject({
  code: text(undefined, { example: '29' }),
  name: text(undefined, { example: 'Karnataka' }),
});

const Amounts = z.strictObject({
  net: text(undefined, { example: '200.00' }),
  taxes: z
    .array(
      z.strictObject({
        name: text(undefined, { example: 'IGST' }),
        percent: text(undefined, { example: '18' }),
        amount: text(undefined, { example: '36.00' }),
      }),
    )
    .meta({ description: 'CGST and SGST (or UTGST) within a state, else IGST; another tax as it is called.' }),
  tax: text('All of them.', { example: '36.00' }),
  total: text(undefined, { example: '236.00' }),
});

const StatementShape = named('Statement', {
  number: text(
    'Of the financial year (April to March) of its issue, without gaps. Null: the month is not over, nothing moved in it, or another time zone was asked for.',
    { example: '26-27/12' },
  ).nullable(),
  issued_on: text('Since then nothing of it changes: figures, prices, tax, both parties.', {
    format: 'date',
    example: '2026-12-01',
  }).nullable(),
  account_id: text(undefined, { example: 'acc_01m7znjn7hdb5pft3awkb6pgvz' }),
  account_name: text(undefined, { example: 'Asha Stores' }),
  seller: z.array(text()).meta({ description: 'Who sells, line by line.', example: ['Example Messaging Pvt Ltd'] }),
  buyer: z.strictObject({
    name: text(undefined, { example: 'Asha Stores Pvt Ltd' }),
    address: z.array(text()).meta({ description: 'Line by line.', example: ['12 MG Road', 'Bengaluru 560001'] }),
    gstin: text(undefined, { example: '29AABCT1332L1ZA' }).nullable(),
    state: GstStateShape.nullable(),
  }),
  month: text(undefined, { example: '2026-11' }),
  zone: text('The month is of this time zone.', { example: 'Asia/Kolkata' }),
  from: text('The first day.', { format: 'date', example: '2026-11-01' }),
  to: text('The last day.', { format: 'date', example: '2026-11-30' }),
  complete: flag('The month is over.'),
  opening_balance: whole('Credits before the first entry of the month.', { minimum: 0, example: 0 }),
  ...MOVEMENTS,
  closing_balance: whole('`opening_balance` and all movements.', { minimum: 0, example: 880 }),
  days: z
    .array(
      z.strictObject({
        day: text(undefined, { format: 'date', example: '2026-11-21' }),
        ...MOVEMENTS,
        balance: whole('At the end of the day.', { minimum: 0, example: 880 }),
      }),
    )
    .meta({ description: 'Days with movements.' }),
  credits: z
    .array(
      z.strictObject({
        at: time(undefined, '2026-11-21T10:05:00+00:00'),
        reason: z.enum(['top_up', 'correction']),
        amount: credits('Credits.', 1000),
        reference: text(undefined, { example: 'invoice-1' }).nullable(),
        note: text('What the operator said.').nullable(),
      }),
    )
    .meta({ description: `Top-ups and corrections, oldest first, ${CREDITS_SHOWN} at most.` }),
  credits_more: flag('There are more: `GET /v2/ledger` has them.'),
  traffic: z
    .array(
      z.strictObject({
        channel: z.enum(CHANNEL_NAMES),
        route: text(undefined, { example: 'transactional' }).nullable(),
        country: text('ISO 3166-1.', { example: 'IN' }).nullable(),
        messages: whole(undefined, { minimum: 0, example: 121 }),
        segments: whole(undefined, { minimum: 0, example: 140 }),
        credits: credits('What they cost, without what came back.', 120),
      }),
    )
    .meta({
      description:
        'The messages that were made in the month, as in reports. A debit and its message can lie in different months, so the sum can differ from `usage`.',
    }),
  money: z
    .strictObject({
      currency: text('ISO 4217.', { example: 'INR' }),
      credit_price: text(undefined, { example: '0.20' }),
      tax_name: text(undefined, { example: 'GST' }).nullable(),
      tax_percent: text(undefined, { example: '18' }).nullable(),
      tax_number: text("The seller's number for the tax.", { example: '27AAPFU0939F1ZV' }).nullable(),
      service_code: text('Of the service: the SAC.', { example: '998413' }).nullable(),
      place_of_supply: GstStateShape.meta({ description: "With a seller's GSTIN." }).nullable(),
      top_ups: Amounts.meta({ description: 'What was bought: top-ups and corrections.' }),
      usage: Amounts.meta({ description: 'What was used, without what came back.' }),
    })
    .meta({ description: 'Null where the account has no price of a credit.' })
    .nullable(),
});

const DESCRIPTION =
  'Extension. Opening balance, movements and closing balance of a month, from the ledger; with amounts and tax where the account has a price per credit. Top-ups, corrections and refunds are counted one by one, usage is what is left between two balances. Once the month is over it is issued, with a number, when somebody first asks for it or in the night, and stays as it is then. Counts as 50 requests.';
const MONTH = text('Like `2026-11`.', { example: '2026-11' });
const QUERY = { zone: optional(zone) };

export const accountStatement = endpoint({
  id: 'accountStatement',
  call: 'account.statement',
  method: 'get',
  path: '/v2/account/statements/{month}',
  tag: 'Account',
  summary: 'Statement of a month',
  description: DESCRIPTION,
  scopes: ['read'],
  reads: COST,
  params: { month: MONTH },
  query: QUERY,
  answer: StatementShape,
  async handle(gateway, { caller, params, query }) {
    const account = await findAccount(gateway.db, caller.account._id);
    return account === undefined
      ? refused('account_not_found')
      : statementOf(gateway, account, params.month, query.zone);
  },
});

export const adminStatement = endpoint({
  id: 'operatorStatement',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}/statements/{month}',
  tag: 'Operators',
  summary: "An account's statement of a month",
  description: DESCRIPTION,
  scopes: ['admin:read'],
  reads: COST,
  params: { ...ACCOUNT_IN_PATH, month: MONTH },
  query: QUERY,
  answer: StatementShape,
  problems: ['account_not_found'],
  async handle(gateway, { params, query }) {
    const account = await accountOf(gateway.db, params.account_id);
    return account === undefined
      ? refused('account_not_found')
      : statementOf(gateway, account, params.month, query.zone);
  },
});

async function statementOf(
  { db, clock, config }: Gateway,
  account: AccountDocument,
  month: string,
  zone = config.statementZone,
): Promise<Shown<typeof StatementShape> | Refused> {
  const now = clock.now();
  if (
    !/^\d{4}-\d\d$/.test(month) ||
    !isDay(`${month}-01`) ||
    month < FIRST_MONTH ||
    `${month}-01` > daysOf(zone)(now.getTime())
  ) {
    const problems = new FieldProblems();
    problems.add('month', 'invalid_value', 'It must be a month that has begun, like 2026-11.');
    return invalid(problems);
  }
  return readStatement(db, config, account, { month, zone, now });
}
