/** Country codes of one and of two digits (ITU-T E.164). All others have three. */
const ONE_DIGIT = /^[17]/;
const TWO_DIGITS = /^(?:2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;
/** Digits behind the country code: a block of an operator has some of them in common. */
const NATIONAL_DIGITS = 3;

/** The beginning of a number by which traffic is watched: its country code and three digits, `91987` or `99477 1`. */
export function prefixOf(number: string): string {
  const country = ONE_DIGIT.test(number) ? 1 : TWO_DIGITS.test(number) ? 2 : 3;
  return number.slice(0, country + NATIONAL_DIGITS);
}
