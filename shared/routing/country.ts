import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

/** Countries by calling code. Some share one: +1 has 25, +44 has Guernsey. */
const COUNTRIES: ReadonlyMap<string, readonly CountryCode[]> = countriesByCode();

/** The country of a number, country code first (ISO 3166-1). Undefined: of none that libphonenumber knows. */
export function countryOf(to: string): string | undefined {
  for (let length = 3; length > 0; length--) {
    const [first, ...others] = COUNTRIES.get(to.slice(0, length)) ?? [];
    if (first === undefined) continue;
    // Only for shared codes does the rest of the number matter; it costs 15 µs.
    return others.length === 0 ? first : parsePhoneNumberFromString(`+${to}`, { extract: false })?.country;
  }
  return undefined;
}

/** How many digits of a number its country's code is. */
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
