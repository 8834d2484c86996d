/** Like `0.20`, in the account's currency. */
export const CREDIT_PRICE = /^(0|[1-9]\d{0,5})(\.\d{1,6})?$/;

/** A tax that is levied by itself: `CGST` of 9 %. `percent` is a decimal. */
export interface Levy {
  readonly name: string;
  readonly percent: string;
}

export interface Sum {
  readonly net: string;
  readonly taxes: readonly (Levy & { readonly amount: string })[];
  readonly tax: string;
  readonly total: string;
}

/** Price and taxes are rounded to the currency's places, halves away from zero; exact otherwise. */
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

export interface TaxRule {
  /** `GST`. Empty: no tax. */
  readonly name: string;
  readonly percent: string;
  /** The seller's registration for the tax. */
  readonly number: string;
}

/**
 * CGST and the state's part, a half each, where seller and place of supply are in one state, else IGST (IGST Act 2017,
 * sections 7 and 8). For another tax than India's GST, or a seller without GSTIN: the tax as it is.
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

/** Undefined unless registered for India's GST. */
export function sellerState({ name, number }: Pick<TaxRule, 'name' | 'number'>): GstState | undefined {
  return name === 'GST' && isGstin(number) ? stateOf(number) : undefined;
}

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

/** Numbers and states of India's goods and services tax. */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** State, PAN, number of the registration in that state, a letter (`Z` for ordinary taxpayers), check digit. */
const GSTIN = /^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z][A-Z][0-9A-Z]$/;

/** 15 characters, the last of which is a check digit (Luhn, modulo 36). */
export function isGstin(text: string): boolean {
  if (!GSTIN.test(text) || stateOf(text) === undefined) return false;
  const sum = [...text.slice(0, -1)].reduce((all, digit, at) => {
    const value = DIGITS.indexOf(digit) * (1 + (at % 2));
    return all + Math.floor(value / 36) + (value % 36);
  }, 0);
  return DIGITS[(36 - (sum % 36)) % 36] === text.at(-1);
}

/** A state or union territory, by the code that begins its GSTINs. */
export interface GstState {
  readonly code: string;
  readonly name: string;
}

export function stateOf(gstinOrCode: string): GstState | undefined {
  const code = gstinOrCode.slice(0, 2);
  const name = STATES.get(code);
  return name === undefined ? undefined : { code, name };
}

/** Union territories without a legislature levy UTGST in place of SGST (UTGST Act 2017, sections 1 and 2). */
function localTaxOf({ code }: GstState): 'SGST' | 'UTGST' {
  return ['04', '26', '31', '35', '38', '97'].includes(code) ? 'UTGST' : 'SGST';
}

const STATES: ReadonlyMap<string, string> = new Map(
  `01 Jammu and Kashmir|02 Himachal Pradesh|03 Punjab|04 Chandigarh|05 Uttarakhand|06 Haryana|07 Delhi|08 Rajasthan
|09 Uttar Pradesh|10 Bihar|11 Sikkim|12 Arunachal Pradesh|13 Nagaland|14 Manipur|15 Mizoram|16 Tripura|17 Meghalaya|18 Assam
|19 West Bengal|20 Jharkhand|21 Odisha|22 Chhattisgarh|23 Madhya Pradesh|24 Gujarat
|26 Dadra and Nagar Haveli and Daman and Diu|27 Maharashtra|29 Karnataka|30 Goa|31 Lakshadweep|32 Kerala|33 Tamil Nadu
|34 Puducherry|35 Andaman and Nicobar Islands|36 Telangana|37 Andhra Pradesh|38 Ladakh|97 Other Territory`
    .split('|')
    .map((one) => [one.slice(0, 2), one.slice(3).trim()]),
);
