/** What one credit costs in money: for statements alone. Sending knows nothing of it. */

/** A decimal like `0.20`, in the account's currency. */
export const CREDIT_PRICE = /^(0|[1-9]\d{0,5})(\.\d{1,6})?$/;

export interface Sum {
  readonly net: string;
  readonly tax: string;
  readonly total: string;
}

/** What `credits` cost, and the tax on it. Each is rounded to the places of the currency, halves away from zero; exact otherwise. */
export function sumOf(credits: number, price: string, percent: string, currency: string): Sum {
  const { maximumFractionDigits: places = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  const unit = 10n ** BigInt(places);
  const net = rounded(BigInt(credits) * scaled(price, 6) * unit, 10n ** 6n);
  const tax = rounded(net * scaled(percent, 3), 100n * 10n ** 3n);
  const [shownNet, shownTax, total] = [net, tax, net + tax].map((minor) => decimal(minor, places));
  return { net: shownNet ?? '', tax: shownTax ?? '', total: total ?? '' };
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
