import { inCountry } from '../accounts/number-check.ts';

/** Values of type_of_number (SMPP 3.4 §5.2.5). */
const INTERNATIONAL = 1;
const NATIONAL = 2;

/** The digits of an address as the carrier wrote it: `+91 98…`, `0091 98…` and `9198…` are one number. Names are not changed. */
export function digitsOf(address: string): string {
  const plain = address.replaceAll(/[\s().-]/g, '');
  if (!/^\+?\d+$/.test(plain)) return address.trim();
  return plain.replace(/^(\+|00)0*/, '');
}

/**
 * A sender's digits with the country code. `country` is the country of the number that the message came to. A sender in national
 * notation (with a 0 in front, or by its type of number) is read as a number of that country. Short codes and names are not
 * changed.
 */
export function senderOf(address: string, ton: number, country: string | undefined): string {
  const digits = digitsOf(address);
  const isMarked = /^\s*(\+|00)/.test(address) || ton === INTERNATIONAL;
  if (isMarked || country === undefined || !/^\d+$/.test(digits)) return digits;
  if (!digits.startsWith('0') && ton !== NATIONAL) return digits;
  return inCountry(digits, country) ?? digits;
}
