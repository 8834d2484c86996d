import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { countryOf } from '../../../../shared/carriers/routing/country.ts';

describe('countryOf', () => {
  const CASES: readonly (readonly [to: string, country: string | undefined, why: string])[] = [
    ['919876543210', 'IN', 'a code of one country'],
    ['91123', 'IN', 'a code of one country, no valid number'],
    ['12025550100', 'US', 'a valid number of a shared code'],
    ['14165550100', 'CA', 'a valid number of a shared code'],
    ['14161234567', 'CA', 'no valid number, but an area code of Canada'],
    ['18761234567', 'JM', 'no valid number, but an area code of Jamaica'],
    ['12001234567', 'US', 'no area code: the main country'],
    ['1202', 'US', 'too short'],
    ['447700900123', 'GB', 'no valid number'],
    ['441111111111', 'GB', 'no valid number'],
    ['447797000000', 'JE', 'a valid number of Jersey'],
    ['70000000000', 'RU', 'no valid number'],
    ['77000000000', 'KZ', 'its first digits are those of Kazakhstan'],
    ['999123456789', undefined, 'no such code'],
  ];
  for (const [to, country, why] of CASES) {
    it(`${to}: ${country ?? 'none'} (${why})`, () => {
      expect(countryOf(to)).to.equal(country);
    });
  }

  it('knows a country for every number of every code', () => {
    const codes = new Set(getCountries().map((country) => getCountryCallingCode(country)));
    for (const code of codes) expect(countryOf(`${code}0`), code).to.be.a('string');
  });
});
