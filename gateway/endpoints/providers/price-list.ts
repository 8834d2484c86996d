import { z } from 'zod';
import {
  findPriceList,
  PROVIDER_PRICES_MAX,
  type PriceListDocument,
  type ProviderPrice,
  setPriceList,
} from '../../../shared/carriers/providers/price-list.ts';
import { isCountry } from '../../../shared/money/accounts/number-check.ts';
import { CREDIT_PRICE } from '../../../shared/money/statements/credit-price.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isBlank, wordOf } from '../../../shared/platform/sheets/cell.ts';
import { parseSheet, type Row, TITLE_ROWS_MAX } from '../../../shared/platform/sheets/parse.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { named, success, text, time } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { matching, optional, required, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { ACCOUNT_REFUSALS, accountOf, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH, currency } from '../operators/fields.ts';

/** What the provider of an account's chat-app number charges the operator. */

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

type ReadPrices =
  | { readonly kind: 'read'; readonly prices: readonly ProviderPrice[] }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** Wide: a line per market, a column per category. Long: a line per price. */
const LIMITS = { rows: PROVIDER_PRICES_MAX + TITLE_ROWS_MAX, columns: 50, cell: 200 } as const;
const FAULTS_MAX = 10;
const CATEGORY = /^[a-z][a-z_]{0,63}$/;
const PREFIX = /^[1-9]\d{0,6}$/;
const PRICE = /^(0|[1-9]\d{0,5})([.,]\d{1,6})?$/;
/** The comma may be that of thousands, while that of `0,015` is a decimal one. */
const THOUSANDS = /^[1-9]\d*,\d{3}$/;
/** Cells of rate cards without a price. */
const NO_PRICE = /^(|-|–|n\/a|none)$/i;
/** Columns of rate cards that are neither markets nor prices. */
const LEFT_OUT: readonly string[] = ['currency'];
const OTHERS: readonly string[] = ['', '*', 'other', 'others'];

/**
 * The first column is `market`: a country (two letters, or its English name), leading digits, or `other`. Then a column
 * per category, as in Meta's rate cards, or `category` and `price`.
 */
function readPriceCsv(text: string): ReadPrices {
  const { rows, fault } = parseSheet(text, LIMITS, (cells) => (isHead(cells) ? 1 : 0));
  if (fault !== undefined) return { kind: 'faults', faults: [fault] };
  const at = rows.slice(0, TITLE_ROWS_MAX + 1).findIndex(({ cells }) => isHead(cells));
  const head = rows[at]?.cells.map(categoryOf);
  if (head === undefined) {
    return { kind: 'faults', faults: ['No line begins with the column "market".'] };
  }
  const isLong = head[1] === 'category' && head[2] === 'price';
  const read = new Prices();
  for (const row of rows.slice(at + 1)) {
    const market = read.market(row);
    if (market === undefined) continue;
    if (isLong) read.add(row, market, categoryOf(row.cells[1] ?? ''), row.cells[2] ?? '');
    else for (const [i, category] of head.entries()) if (i > 0) read.add(row, market, category, row.cells[i] ?? '');
  }
  return read.answer();
}

function isHead([first = '', second = '']: readonly string[]): boolean {
  return ['market', 'country'].includes(wordOf(first).text.toLowerCase()) && !isBlank(second);
}

/** `Authentication-International` becomes `authentication_international`. */
function categoryOf(cell: string): string {
  return wordOf(cell)
    .text.toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

class Prices {
  readonly #prices = new Map<string, ProviderPrice>();
  readonly #faults: string[] = [];

  /** Empty for all other markets. */
  market({ line, cells: [cell = ''] }: Row): string | undefined {
    const { text } = wordOf(cell);
    if (OTHERS.includes(text.toLowerCase())) return '';
    const market = countries().get(text.toLowerCase()) ?? text.replace(/^\+/, '');
    const isKnown = PREFIX.test(market) || countries().has(market.toLowerCase());
    if (isKnown) return market;
    this.#fault(
      line,
      `"${text}" is no country, and not 1 to 7 digits that numbers begin with. Name each country of a region, or \`other\`.`,
    );
    return undefined;
  }

  add({ line }: Row, market: string, category: string, cell: string): void {
    const price = wordOf(cell).text.replace(/^\p{Sc}/u, '');
    if (LEFT_OUT.includes(category) || NO_PRICE.test(price)) return;
    const key = `${category} ${market}`;
    if (!CATEGORY.test(category)) this.#fault(line, `"${category}" is no category.`);
    else if (!PRICE.test(price)) this.#fault(line, `"${price}" is no price like 0.0068.`);
    else if (THOUSANDS.test(price)) this.#fault(line, `"${price}" may be two prices: write it with a point.`);
    else if (this.#prices.has(key)) this.#fault(line, `The price of ${category} is there twice for this market.`);
    else this.#prices.set(key, { ...(market !== '' && { market }), category, price: price.replace(',', '.') });
  }

  answer(): ReadPrices {
    if (this.#prices.size > PROVIDER_PRICES_MAX)
      this.#fault(1, `There are ${this.#prices.size} prices, and ${PROVIDER_PRICES_MAX} at most may be.`);
    if (this.#faults.length > 0) return { kind: 'faults', faults: this.#faults };
    return { kind: 'read', prices: [...this.#prices.values()] };
  }

  #fault(line: number, words: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(`Line ${line}: ${words}`);
  }
}

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
let known: ReadonlyMap<string, string> | undefined;

function countries(): ReadonlyMap<string, string> {
  if (known !== undefined) return known;
  const names = new Intl.DisplayNames('en', { type: 'region' });
  const codes = LETTERS.flatMap((one) => LETTERS.map((other) => one + other)).filter(isCountry);
  known = new Map(codes.flatMap((code) => [code, names.of(code) ?? code].map((name) => [name.toLowerCase(), code])));
  return known;
}
