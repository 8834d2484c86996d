import type { Collection, Db } from 'mongodb';
import { isBilled, type Pricing } from '../../messages/document/chat-message.ts';
import { isCustomerUserId } from '../../messages/document/recipient.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { countryOf } from '../routing/country.ts';

/** The provider's prices. Apart from the provider's document, which workers read every two seconds. */
export interface PriceListDocument {
  readonly _id: AccountId;
  /** ISO 4217: what the provider bills in. */
  readonly currency: string;
  /** What the operator earns with one credit, in the same currency: `0.0025`. Absent: margins have costs alone. */
  readonly creditValue?: string;
  readonly prices: readonly ProviderPrice[];
  readonly changedAt: Date;
}

export interface ProviderPrice {
  /** A country (ISO 3166-1, two letters), or the digits that numbers begin with. Absent: all other markets. */
  readonly market?: string;
  /** The provider's word: `marketing`, `utility`, `authentication`, `service`. */
  readonly category: string;
  /** The price of one message: a decimal, like `0.0068`. */
  readonly price: string;
}

/** Some 240 markets with five categories, and prefixes. */
export const PROVIDER_PRICES_MAX = 2_000;
const PREFIX_MAX = 7;

export class PriceList {
  readonly currency: string;
  readonly #prices: ReadonlyMap<string, string>;

  constructor({ currency, prices }: Pick<PriceListDocument, 'currency' | 'prices'>) {
    this.currency = currency;
    this.#prices = new Map(prices.map(({ market = '', category, price }) => [`${category} ${market}`, price]));
  }

  /**
   * What the provider takes for a delivered message, like `0.0068 USD`: by the longest prefix, else the country, else
   * all other markets. Undefined when the provider calls it free, or the list has no price.
   */
  costOf(pricing: Pricing, to: string): string | undefined {
    const { category } = pricing;
    if (category === undefined || !isBilled(pricing)) return undefined;
    const markets = isCustomerUserId(to) ? [to.slice(0, 2)] : [...prefixesOf(to), countryOf(to) ?? ''];
    for (const market of [...markets, '']) {
      const price = this.#prices.get(`${category} ${market}`);
      if (price !== undefined) return `${price} ${this.currency}`;
    }
    return undefined;
  }
}

function prefixesOf(to: string): readonly string[] {
  return Array.from({ length: PREFIX_MAX }, (_, i) => to.slice(0, PREFIX_MAX - i));
}

export function priceListCollection(db: Db): Collection<PriceListDocument> {
  return db.collection('provider_prices');
}

/** Sets the whole list; an empty one is none. Idempotent. */
export async function setPriceList(db: Db, list: PriceListDocument): Promise<void> {
  if (list.prices.length === 0) await priceListCollection(db).deleteOne({ _id: list._id });
  else await priceListCollection(db).replaceOne({ _id: list._id }, list, { upsert: true });
}

export async function findPriceList(db: Db, account: AccountId): Promise<PriceListDocument | undefined> {
  return (await priceListCollection(db).findOne({ _id: account })) ?? undefined;
}

export async function readPriceLists(
  db: Db,
  accounts: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, PriceList>> {
  const found = await priceListCollection(db)
    .find({ _id: { $in: accounts } })
    .toArray();
  return new Map(found.map((list) => [list._id, new PriceList(list)]));
}
