import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { isCustomerUserId } from '../../messages/document/recipient.ts';

/** The countries of each calling code. Some codes are shared: +1 by 25 countries, +44 also by Guernsey. */
const COUNTRIES: ReadonlyMap<string, readonly CountryCode[]> = countriesByCode();

/** The country that has most of the numbers of a shared code. */
const MAIN: Readonly<Record<string, CountryCode>> = {
  ...{ 1: 'US', 7: 'RU', 39: 'IT', 44: 'GB', 47: 'NO', 61: 'AU', 212: 'MA', 262: 'RE', 290: 'SH', 358: 'FI' },
  ...{ 590: 'GP', 599: 'CW' },
};
/** North America: here the three digits after the code decide the country. */
const NORTH_AMERICA = '1';
/** Digits behind such an area code that every country there has. */
const ANY_SUBSCRIBER = '2345678';

/**
 * The country (ISO 3166-1) of a number that begins with its country code. Undefined when libphonenumber knows no such country.
 * Some numbers of a shared code are not valid by the library's plans, which may be old. In North America such a number is taken to
 * be of the country of its area code, elsewhere of the code's main country. So it still takes the route of a country.
 */
export function countryOf(to: string): string | undefined {
  // The user id of a chat-app customer begins with it.
  if (isCustomerUserId(to)) return to.slice(0, 2);
  for (let length = 3; length > 0; length--) {
    const code = to.slice(0, length);
    const [first, ...others] = COUNTRIES.get(code) ?? [];
    if (first === undefined) continue;
    // Only if several countries share the code does the rest of the number matter. Parsing it takes 15 µs.
    return others.length === 0 ? first : (parsedCountry(to) ?? areaCountry(code, to) ?? MAIN[code]);
  }
  return undefined;
}

function areaCountry(code: string, to: string): string | undefined {
  return code === NORTH_AMERICA ? parsedCountry(`${to.slice(0, 4)}${ANY_SUBSCRIBER}`) : undefined;
}

function parsedCountry(to: string): string | undefined {
  return parsePhoneNumberFromString(`+${to}`, { extract: false })?.country;
}

/** The number of digits of a country's calling code. */
export function codeLength(country: string): number {
  return getCountryCallingCode(country as CountryCode).length; // the endpoint of routes lets in no other
}

function countriesByCode(): Map<string, CountryCode[]> {
  const byCode = new Map<string, CountryCode[]>();
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country);
    byCode.set(code, [...(byCode.get(code) ?? []), country]);
  }
  return byCode;
}
