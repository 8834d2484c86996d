import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

/** The countries of each calling code. Some codes are shared: +1 by 25 countries, +44 also by Guernsey. */
const COUNTRIES: ReadonlyMap<string, readonly CountryCode[]> = countriesByCode();

/**
 * The country (ISO 3166-1) of a number that begins with its country code. Undefined when libphonenumber knows no such country.
 */
export function countryOf(to: string): string | undefined {
  for (let length = 3; length > 0; length--) {
    const [first, ...others] = COUNTRIES.get(to.slice(0, length)) ?? [];
    if (first === undefined) continue;
    // Only if several countries share the code does the rest of the number matter. Parsing it takes 15 µs.
    return others.length === 0 ? first : parsePhoneNumberFromString(`+${to}`, { extract: false })?.country;
  }
  return undefined;
}

/** The number of digits of a country's calling code. */
export function codeLength(country: string): number {
  return getCountryCallingCode(country as CountryCode).length; // route-form.ts lets in no other
}

function countriesByCode(): Map<string, CountryCode[]> {
  const byCode = new Map<string, CountryCode[]>();
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country);
    byCode.set(code, [...(byCode.get(code) ?? []), country]);
  }
  return byCode;
}
