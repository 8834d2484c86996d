import { inCountry } from '../accounts/number-check.ts';

/** type_of_number of addresses (SMPP 3.4 §5.2.5). */
const INTERNATIONAL = 1;
const NATIONAL = 2;

/** An address as the carrier wrote it: `+91 98…`, `0091 98…` and `9198…` are one number. Names stay as they are. */
export function digitsOf(address: string): string {
  const plain = address.replaceAll(/[\s().-]/g, '');
  if (!/^\+?\d+$/.test(plain)) return address.trim();
  return plain.replace(/^(\+|00)0*/, '');
}

/**
 * A sender as digits with the country code. `country`: where the number is that the message came to; a national notation (a 0 in
 * front, or the type of number says so) is read as one of that country. Short codes and names stay as they are.
 */
export function senderOf(address: string, ton: number, country: string | undefined): string {
  const digits = digitsOf(address);
  const isMarked = /^\s*(\+|00)/.test(address) || ton === INTERNATIONAL;
  if (isMarked || country === undefined || !/^\d+$/.test(digits)) return digits;
  if (!digits.startsWith('0') && ton !== NATIONAL) return digits;
  return inCountry(digits, country) ?? digits;
}
