import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { isCustomerUserId } from '../../messages/document/recipient.ts';

/** By calling code. Some are shared: +1 by 25 countries, +44 also by Guernsey. */
const COUNTRIES: ReadonlyMap<string, readonly CountryCode[]> = countriesByCode();

/** The country that has most numbers of a shared code. */
const MAIN: Readonly<Record<string, CountryCode>> = {
  ...{ 1: 'US', 7: 'RU', 39: 'IT', 44: 'GB', 47: 'NO', 61: 'AU', 212: 'MA', 262: 'RE', 290: 'SH', 358: 'FI' },
  ...{ 590: 'GP', 599: 'CW' },
};
/** Here the three digits after the code decide the country. */
const NORTH_AMERICA = '1';
/** Digits that follow an area code in every country there. */
const ANY_SUBSCRIBER = '2345678';

/**
 * The country (ISO 3166-1) of a number that begins with its country code. Undefined for an unknown code. The library's
 * plans may be old, so a number of a shared code that they do not know gets the country of its area code in North
 * America, elsewhere the code's main country. So it still takes a country's route.
 */
export function countryOf(to: string): string | undefined {
  // A chat-app user id begins with its country.
  if (isCustomerUserId(to)) return to.slice(0, 2);
  for (let length = 3; length > 0; length--) {
    const code = to.slice(0, length);
    const [first, ...others] = COUNTRIES.get(code) ?? [];
    if (first === undefined) continue;
    // The rest of the number matters only if several countries share the code. Parsing it is slow.
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

export function codeLength(country: string): number {
  return getCountryCallingCode(country as CountryCode).length; // the endpoint of routes accepts only known countries
}

function countriesByCode(): Map<string, CountryCode[]> {
  const byCode = new Map<string, CountryCode[]>();
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country);
    byCode.set(code, [...(byCode.get(code) ?? []), country]);
  }
  return byCode;
}
