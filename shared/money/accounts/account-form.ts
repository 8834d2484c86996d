/** What settings of an account may be. */

/** All currency codes that this Node knows. A typo here would be shown to customers. */
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** An ISO 4217 code. */
export function isCurrency(text: string): boolean {
  return CURRENCIES.has(text);
}

/** The PE id of a business on the operators' DLT platform. */
export const ENTITY_ID = /^[0-9]{10,20}$/;

/** Ids of the DLT platform have 19 digits today; operators gave 12 and 16 to a few. Undefined: nothing is odd about it. */
export function dltIdDoubt(what: string, id: string | undefined): string | undefined {
  if (id === undefined || id.length === 19) return undefined;
  return `${what} ${id} has ${id.length} digits; those of the DLT platform have 19. Compare it with the platform.`;
}

/** One line of text without control characters, which could control the terminal that shows it. */
export function isLine(text: string, most: number): boolean {
  return text.trim().length > 0 && text.length <= most && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** The last day on which a new account's credits may be spent, unless one is given: a year from now. */
export function defaultExpiry(now: Date): string {
  return new Date(now.getTime() + YEAR_MS).toISOString().slice(0, 10);
}
