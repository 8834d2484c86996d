import { z } from 'zod';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { isCountry } from '../../../shared/money/accounts/number-check.ts';
import { CREDITS_MAX, PRICES_MAX, type Price } from '../../../shared/money/accounts/prices.ts';
import { findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { CREDIT_PRICE } from '../../../shared/money/statements/credit-price.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { named, success, text, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, Fault, list, matching, number, object, optional, required, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { ACCOUNT_REFUSALS, accountOf, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH } from '../operators/fields.ts';

const PriceShape = named('Price', 'A line of a price list.', {
  channel: z.enum(['sms', 'chatapp']),
  route: z.enum(ROUTES).meta({ description: 'SMS: only on this route.' }).optional(),
  country: text('Only to this country (ISO 3166-1).', { example: 'IN' }).optional(),
  started_by: z.enum(['user', 'business']).meta({ description: 'Chat-app: who started the conversation.' }).optional(),
  credits: whole('For each message, segment or conversation.', { minimum: 1, example: 2 }),
  per: z
    .enum(['message', 'segment', 'conversation'])
    .meta({ description: 'What `credits` are for.', example: 'segment' }),
});

const Prices = named('Prices', {
  prices: z.array(PriceShape).meta({
    description: `The first one that fits decides; where none fits: 1 credit for an SMS, and for conversations what the installation has set. ${PRICES_MAX} at most.`,
  }),
  credit_price: text("What one credit costs, in the account's currency: for its statements. Null: not set.", {
    example: '0.20',
  }).nullable(),
});

export const accountPrices = endpoint({
  id: 'accountPrices',
  call: 'account.prices',
  method: 'get',
  path: '/v2/account/prices',
  tag: 'Account',
  summary: 'What the account pays',
  description:
    'Extension. The price list in credits; empty: 1 credit for each SMS recipient, whatever the number of segments.',
  scopes: ['read'],
  answer: Prices,
  async handle({ db }, { caller }) {
    return pricesRecord((await findAccount(db, caller.account._id)) ?? {});
  },
});

export const operatorPrices = endpoint({
  id: 'operatorPrices',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}/prices',
  tag: 'Operators',
  summary: 'What an account pays',
  description: 'Extension. As the account sees it.',
  scopes: ['admin:read'],
  params: ACCOUNT_IN_PATH,
  answer: Prices,
  problems: ['account_not_found'],
  async handle({ db }, { params }) {
    const account = await accountOf(db, params.account_id);
    return account === undefined ? refused('account_not_found') : pricesRecord(account);
  },
});

const price = object({
  channel: required(choice(['sms', 'chatapp'])),
  route: optional(choice(ROUTES, 'SMS: only on this route.')),
  country: optional(
    string({ description: 'Only to this country (ISO 3166-1).', pattern: '^[A-Z]{2}$' }, (text) =>
      isCountry(text) ? text : new Fault('invalid_value', 'It must be a country in two letters, like IN.'),
    ),
  ),
  started_by: optional(choice(['user', 'business'], 'Chat-app: who started the conversation.')),
  credits: required(
    number({
      description: 'For each message, segment or conversation.',
      minimum: 1,
      maximum: CREDITS_MAX,
      type: 'integer',
    }),
  ),
  per: optional(
    choice(['message', 'segment', 'conversation'], 'What `credits` are for. Left out: a message or a conversation.'),
  ),
});

export const changePrices = endpoint({
  id: 'setPrices',
  method: 'put',
  path: '/v2/admin/accounts/{account_id}/prices',
  tag: 'Operators',
  summary: 'Set what an account pays',
  description:
    'Extension. The whole list; an empty one brings back 1 credit for each SMS recipient. Gateways see it within seconds. What was paid stays as it was: refunds give that back.',
  scopes: ['admin:money'],
  confirmed: true,
  params: ACCOUNT_IN_PATH,
  body: request({
    prices: required(
      list(
        price,
        { description: 'In their order: the first one that fits decides.', maxItems: PRICES_MAX },
        (entries, add) => {
          for (const [index, entry] of entries.entries()) {
            if (entry === undefined) continue;
            const { channel, route, per, started_by: by } = entry;
            const only = (name: string, of: string) => add(index, name, new Fault('conflict', `It is for ${of} only.`));
            if (channel === 'chatapp' && route !== undefined) only('route', 'SMS');
            if (channel === 'sms' && by !== undefined) only('started_by', 'the chat-app channel');
            if (per === 'conversation' && channel === 'sms') only('per', 'the chat-app channel');
            if (per !== undefined && per !== 'conversation' && channel === 'chatapp') only('per', 'SMS');
          }
        },
      ),
    ),
    credit_price: optional(
      matching(
        "What one credit costs, in the account's currency. Its statements then have amounts of money; sending is as before. `0`: nothing is said. Left out: as it was.",
        CREDIT_PRICE,
        'a decimal like 0.20',
      ),
    ),
  }),
  answer: success('SetPricesResult', Prices.shape),
  problems: ACCOUNT_REFUSALS,
  examples: {
    body: {
      reseller: {
        prices: [
          { channel: 'sms', country: 'IN', credits: 1, per: 'segment' },
          { channel: 'sms', credits: 6 },
        ],
        credit_price: '0.20',
      },
    },
  },
  async handle(deps, { requester, params, body }) {
    const { db } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const prices = body.prices.map(
      ({ channel, route, country, started_by: startedBy, credits, per }): Price => ({
        ...{ channel, credits },
        ...defined({ route, country, startedBy }),
        ...(per === 'segment' ? { per } : {}),
      }),
    );
    const given = body.credit_price ?? account.creditPrice;
    const creditPrice = Number(given ?? 0) === 0 ? undefined : given;
    const set = defined({ prices, creditPrice });
    await changeAudited(deps, requester, {
      ...{ action: 'account.prices', subject: { kind: 'account', id: account._id }, account: account._id },
      read: async () => shownIn(await findAccount(db, account._id)),
      make: () => updateAccount(db, account._id, { prices: prices.length === 0 ? undefined : prices, creditPrice }),
      madeOf: () => shownIn(set),
    });
    return done(pricesRecord(set));
  },
});

type Priced = Pick<AccountDocument, 'prices' | 'creditPrice'>;

function shownIn({ prices = [], creditPrice }: Priced = {}): object {
  return { prices, ...defined({ creditPrice }) };
}

function pricesRecord({ prices = [], creditPrice }: Priced): Shown<typeof Prices> {
  return {
    prices: prices.map(({ channel, route, country, startedBy, credits, per }) => ({
      channel,
      ...defined({ route, country, started_by: startedBy }),
      credits,
      per: per ?? (channel === 'sms' ? 'message' : 'conversation'),
    })),
    credit_price: creditPrice ?? null,
  };
}
