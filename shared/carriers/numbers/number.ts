import { inCountry, isInternational } from '../../money/accounts/number-check.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * A long number or short code that handsets write to, and the account that gets the messages. An entry gets the
 * messages that begin with its `keyword`; an entry with an empty keyword gets those that fit no other entry of the
 * number.
 */
export interface NumberDocument {
  /** `<number>:<keyword>`; unique. */
  readonly _id: NumberKey;
  /** Digits only: a long number with its country code, or a short code. */
  readonly number: string;
  /** In the form of `keywordOf`. */
  readonly keyword: string;
  readonly account: AccountId;
  /** The country of senders in national notation (ISO 3166-1, two letters). */
  readonly country?: string;
  /** A long number without its country code, because some carriers write it so. */
  readonly national?: string;
  readonly createdAt: Date;
}

export type NumberKey = `${string}:${string}`;

export function numberKey(number: string, keyword: string): NumberKey {
  return `${number}:${keyword}`;
}

export function isNumberKey(text: string): text is NumberKey {
  return /^\d{3,15}:\S{0,60}$/u.test(text);
}

/** A text whose first word is longer has no keyword. */
export const KEYWORD_MAX = 30;

/**
 * The first word of a text, in the form in which keywords are compared: letters folded (`ＪＯＩＮ`, `Join` and `join`;
 * `BİLGİ`, `bilgi` and `BILGI`), without punctuation, symbols and invisible characters. Empty when nothing is left.
 */
export function keywordOf(text: string): string {
  // Only the beginning is searched, because a text may have 64 KiB.
  for (const word of text.slice(0, 500).normalize('NFKC').toLowerCase().split(/\s+/u)) {
    const letters = word.replaceAll(/[\p{P}\p{S}\p{C}\p{DI}]/gu, '').replaceAll(/i\u0307|ı/gu, 'i');
    if (letters !== '') return letters.length > KEYWORD_MAX ? '' : letters;
  }
  return '';
}

export function entryFor(entries: readonly NumberDocument[], text: string): NumberDocument | undefined {
  const keyword = keywordOf(text);
  const exact = keyword === '' ? undefined : entries.find((entry) => entry.keyword === keyword);
  return exact ?? entries.find((entry) => entry.keyword === '');
}

/** SMPP 3.4 §5.2.5. */
const NATIONAL = 2;
/** Fewer digits are a short code, unless a leading 0 or the type of number says otherwise. */
const MIN_NATIONAL = 7;

/** `+91 98…`, `0091 98…` and `9198…` are one number. Names stay as they are. */
export function digitsOf(address: string): string {
  const plain = address.replaceAll(/[\s().-]/g, '');
  if (!/^\+?\d+$/.test(plain)) return address.trim();
  return plain.replace(/^(\+|00)0*/, '');
}

/**
 * Adds the country code of `country` to a number in national form: one with a leading 0, or one valid in `country` and
 * not valid with a country code of its own. Short codes, names and invalid numbers stay as they are.
 */
export function completedNumber(written: string, country: string | undefined): string {
  return completed(written, country, false);
}

/**
 * A sender's digits with the country code. `country`: that of the number that the message came to. Carriers write
 * national numbers with any type of number; only NATIONAL is believed, where both readings are valid.
 */
export function senderOf(address: string, ton: number, country: string | undefined): string {
  return completed(address, country, ton === NATIONAL);
}

function completed(written: string, country: string | undefined, isNational: boolean): string {
  const digits = digitsOf(written);
  if (country === undefined || !/^\d+$/.test(digits)) return digits;
  // Some carriers put + or 00 before a national number, too.
  const isSure = !/^\s*(\+|00)/.test(written) && (isNational || digits.startsWith('0'));
  if (!isSure && (digits.length < MIN_NATIONAL || isInternational(digits))) return digits;
  const whole = inCountry(digits, country);
  if (whole !== undefined) return whole;
  // A leading 0, as for a call inside the country, before a number that has its country code.
  const behindZero = digits.replace(/^0+/, '');
  return isInternational(behindZero) ? behindZero : digits;
}
