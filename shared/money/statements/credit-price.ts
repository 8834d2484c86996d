import { type GstState, isGstin, localTaxOf, stateOf } from '../accounts/gst.ts';

/** What credits cost in money, with its tax: for statements alone. Sending knows nothing of it. */

/** A decimal like `0.20`, in the account's currency. */
export const CREDIT_PRICE = /^(0|[1-9]\d{0,5})(\.\d{1,6})?$/;

/** Part of the tax that is levied by itself: `CGST` of 9 %. `percent` is a decimal. */
export interface Levy {
  readonly name: string;
  readonly percent: string;
}

export interface Sum {
  readonly net: string;
  readonly taxes: readonly (Levy & { readonly amount: string })[];
  /** All taxes together. */
  readonly tax: string;
  readonly total: string;
}

/**
 * What `credits` cost, and the taxes on it. The price is rounded to the places of the currency, and each tax of it, halves away from zero;
 * exact otherwise, so that what is shown adds up.
 */
export function sumOf(credits: number, price: string, levies: readonly Levy[], currency: string): Sum {
  const { maximumFractionDigits: places = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  const unit = 10n ** BigInt(places);
  const shown = (minor: bigint): string => decimal(minor, places);
  const net = rounded(BigInt(credits) * scaled(price, 6) * unit, 10n ** 6n);
  const taxes = levies.map((levy) => ({ ...levy, minor: rounded(net * scaled(levy.percent, 4), 100n * 10n ** 4n) }));
  const tax = taxes.reduce((all, { minor }) => all + minor, 0n);
  return {
    net: shown(net),
    taxes: taxes.map(({ minor, ...levy }) => ({ ...levy, amount: shown(minor) })),
    tax: shown(tax),
    total: shown(net + tax),
  };
}

/** Who sells, and the tax on it, as settings of the installation have it. */
export interface TaxRule {
  /** `GST`. Empty: no tax. */
  readonly name: string;
  readonly percent: string;
  /** The seller's number for it. */
  readonly number: string;
}

/**
 * What is levied: CGST and the state's part, a half each, where seller and place of supply are in one state, else IGST (IGST Act 2017,
 * sections 7 and 8). Of a tax that is not India's GST, or of a seller without a GSTIN, the tax as it is.
 */
export function leviesOf({ name, percent, number }: TaxRule, place: GstState | undefined): readonly Levy[] {
  if (name === '') return [];
  const seller = sellerState({ name, number });
  if (seller === undefined) return [{ name, percent }];
  if (place !== undefined && place.code !== seller.code) return [{ name: 'IGST', percent }];
  const half = decimal(scaled(percent, 3) * 5n, 4).replace(/\.?0+$/, '');
  return [
    { name: 'CGST', percent: half },
    { name: localTaxOf(seller), percent: half },
  ];
}

/** The seller's state, of one who is registered for India's GST. */
export function sellerState({ name, number }: Pick<TaxRule, 'name' | 'number'>): GstState | undefined {
  return name === 'GST' && isGstin(number) ? stateOf(number) : undefined;
}

/** A decimal as a whole number of its last place. */
function scaled(text: string, places: number): bigint {
  const [whole = '', part = ''] = text.split('.');
  return BigInt(whole + part.padEnd(places, '0'));
}

function rounded(value: bigint, by: bigint): bigint {
  const half = value < 0n ? -by / 2n : by / 2n;
  return (value + half) / by;
}

function decimal(minor: bigint, places: number): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(places + 1, '0');
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return minor < 0n ? `-${text}` : text;
}
