/** What settings of an account may be. */

/** All currency codes that this Node knows. A typo here would be shown to customers. */
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** An ISO 4217 code. */
export function isCurrency(text: string): boolean {
  return CURRENCIES.has(text);
}

/** The PE id of a business on the operators' DLT platform. */
export const ENTITY_ID = /^[0-9]{10,20}$/;

/** One line of text without control characters, which could control the terminal that shows it. */
export function isLine(text: string, most: number): boolean {
  return text.trim().length > 0 && text.length <= most && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** The last day on which a new account's credits may be spent, unless one is given: a year from now. */
export function defaultExpiry(now: Date): string {
  return new Date(now.getTime() + YEAR_MS).toISOString().slice(0, 10);
}
