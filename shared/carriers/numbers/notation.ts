import { inCountry, isInternational } from '../../money/accounts/number-check.ts';

/** A value of type_of_number (SMPP 3.4 §5.2.5). */
const NATIONAL = 2;
/** Fewer digits are a short code, unless a 0 in front or the type of number says otherwise. */
const MIN_NATIONAL = 7;

/** The digits of an address as the carrier wrote it: `+91 98…`, `0091 98…` and `9198…` are one number. Names are not changed. */
export function digitsOf(address: string): string {
  const plain = address.replaceAll(/[\s().-]/g, '');
  if (!/^\+?\d+$/.test(plain)) return address.trim();
  return plain.replace(/^(\+|00)0*/, '');
}

/**
 * The digits with the country code of a number that is written as inside `country`: when it has a 0 in front, or when it is valid
 * there and not with a country code of its own. If it is valid both ways, it counts as written with its country code. Short codes,
 * names and numbers of nowhere are not changed.
 */
export function completedNumber(written: string, country: string | undefined): string {
  return completed(written, country, false);
}

/**
 * A sender's digits with the country code. `country` is the country of the number that the message came to. Carriers write senders in
 * national form whatever type of number they say; only NATIONAL is believed, and decides where both readings are valid.
 */
export function senderOf(address: string, ton: number, country: string | undefined): string {
  return completed(address, country, ton === NATIONAL);
}

function completed(written: string, country: string | undefined, isNational: boolean): string {
  const digits = digitsOf(written);
  if (country === undefined || !/^\d+$/.test(digits)) return digits;
  // Some carriers put a + or 00 before a number in national form, too.
  const isSure = !/^\s*(\+|00)/.test(written) && (isNational || digits.startsWith('0'));
  if (!isSure && (digits.length < MIN_NATIONAL || isInternational(digits))) return digits;
  const whole = inCountry(digits, country);
  if (whole !== undefined) return whole;
  // The 0 of a call inside the country, before a number that has its country code.
  const behindZero = digits.replace(/^0+/, '');
  return isInternational(behindZero) ? behindZero : digits;
}
