import { z } from 'zod';
import {
  findPriceList,
  PROVIDER_PRICES_MAX,
  type PriceListDocument,
  setPriceList,
} from '../../../shared/carriers/providers/price-list.ts';
import { CREDIT_PRICE } from '../../../shared/money/statements/credit-price.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { named, success, text, time } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { optional, required, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { ACCOUNT_REFUSALS, accountOf, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH, currency, matching } from '../operators/fields.ts';
import { readPriceCsv } from './price-csv.ts';

/** What the provider of an account's chat-app number takes from the operator. */

const ProviderPrices = named('ProviderPrices', {
  currency: text('ISO 4217: what the provider bills in. Null: there is no list.', { example: 'USD' }).nullable(),
  credit_value: text('What the operator earns with one credit, in the same currency. Null: not set.', {
    example: '0.0025',
  }).nullable(),
  prices: z.array(
    z.strictObject({
      market: text('A country (ISO 3166-1) or the digits that numbers begin with. Null: all other markets.', {
        example: 'IN',
      }).nullable(),
      category: text("The provider's word.", { example: 'utility' }),
      price: text('Of one delivered message.', { example: '0.0014' }),
    }),
  ),
  changed_at: time(undefined, '2026-11-28T10:00:00+00:00').nullable(),
});

export const providerPrices = endpoint({
  id: 'providerPrices',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}/provider-prices',
  tag: 'Operators',
  summary: "The provider's price list",
  description:
    'Extension. What the provider takes for a delivered message, by market and category. One list for all numbers of the account: rate cards differ by market and currency, not by number. The longest prefix decides, else the country, else all other markets.',
  scopes: ['admin:read'],
  params: ACCOUNT_IN_PATH,
  answer: ProviderPrices,
  problems: ['account_not_found'],
  async handle({ db }, { params }) {
    const account = await accountOf(db, params.account_id);
    return account === undefined ? refused('account_not_found') : pricesRecord(await findPriceList(db, account._id));
  },
});

export const setProviderPrices = endpoint({
  id: 'setProviderPrices',
  method: 'put',
  path: '/v2/admin/accounts/{account_id}/provider-prices',
  tag: 'Operators',
  summary: "Set the provider's price list",
  description: `Extension. The whole list, as a rate card. What is delivered from then on has its cost, in reports and with the message; what was delivered before stays as it was. Categories are the provider's words, as statuses name them; a message whose category the list does not have counts as \`unpriced\` in reports. A card without a price removes the list. ${PROVIDER_PRICES_MAX} prices at most.`,
  scopes: ['admin:routing'],
  params: ACCOUNT_IN_PATH,
  body: request({
    currency: required(currency.describe('ISO 4217: what the provider bills in.')),
    csv: required(
      string(
        {
          description:
            'The rate card. The first column is `market`: a country (two letters, or its English name), the digits that numbers begin with, or `other`. Then a column for each category; or the columns `category` and `price`.',
        },
        (card) => card,
      ),
    ),
    credit_value: optional(
      matching(
        'What the operator earns with one credit, in the same currency: sales of conversations in reports, and which conversations cost more than they earned. Left out: the price per credit of the account, if that is in this currency.',
        CREDIT_PRICE,
        'a decimal like 0.0025',
      ),
    ),
  }),
  answer: success('SetProviderPricesResult', ProviderPrices.shape),
  problems: ACCOUNT_REFUSALS,
  examples: {
    body: {
      'rate card': {
        currency: 'USD',
        csv: 'market,marketing,utility,authentication,service\nIN,0.0118,0.0014,0.0014,0.0014\nother,0.0604,0.0077,0.0077,0.0077\n',
        credit_value: '0.0025',
      },
    },
  },
  async handle(deps, { requester, params, body, read: { problems } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const card = readPriceCsv(body.csv);
    if (card.kind === 'faults') {
      for (const fault of card.faults) problems.add('csv', 'invalid_value', fault);
      return invalid(problems);
    }
    const { _id } = account;
    const list: PriceListDocument = {
      ...{ _id, currency: body.currency, prices: card.prices, changedAt: clock.now() },
      ...defined({ creditValue: body.credit_value }),
    };
    const shown = (one: PriceListDocument | undefined) =>
      one && { currency: one.currency, credit_value: one.creditValue ?? null, prices: one.prices.length };
    await changeAudited(deps, requester, {
      ...{ action: 'provider.prices', subject: { kind: 'provider', id: _id }, account: _id },
      read: async () => shown(await findPriceList(db, _id)),
      make: () => setPriceList(db, list),
      madeOf: () => shown(list),
      isRefusal: () => false,
    });
    return done(pricesRecord(await findPriceList(db, _id)));
  },
});

function pricesRecord(list: PriceListDocument | undefined): Shown<typeof ProviderPrices> {
  return {
    currency: list?.currency ?? null,
    credit_value: list?.creditValue ?? null,
    prices: (list?.prices ?? []).map(({ market = null, category, price }) => ({ market, category, price })),
    changed_at: list === undefined ? null : isoTimestamp(list.changedAt),
  };
}
