/** Numbers and states of India's goods and services tax. */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** State, PAN, which registration of it in that state, a letter (`Z` of ordinary taxpayers), check digit. */
const GSTIN = /^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z][A-Z][0-9A-Z]$/;

/** The GST identification number of a registered person: 15 characters, the last of which is a check digit (Luhn, modulo 36). */
export function isGstin(text: string): boolean {
  if (!GSTIN.test(text) || stateOf(text) === undefined) return false;
  const sum = [...text.slice(0, -1)].reduce((all, digit, at) => {
    const value = DIGITS.indexOf(digit) * (1 + (at % 2));
    return all + Math.floor(value / 36) + (value % 36);
  }, 0);
  return DIGITS[(36 - (sum % 36)) % 36] === text.at(-1);
}

/** A state or union territory, by the code that begins its GSTINs. */
export interface GstState {
  readonly code: string;
  readonly name: string;
}

/** The state in which a GSTIN is registered, or that has this code. */
export function stateOf(gstinOrCode: string): GstState | undefined {
  const code = gstinOrCode.slice(0, 2);
  const name = STATES.get(code);
  return name === undefined ? undefined : { code, name };
}

/** Union territories without a legislature levy UTGST in place of SGST (UTGST Act 2017, sections 1 and 2). */
export function localTaxOf({ code }: GstState): 'SGST' | 'UTGST' {
  return ['04', '26', '31', '35', '38', '97'].includes(code) ? 'UTGST' : 'SGST';
}

const STATES: ReadonlyMap<string, string> = new Map(
  `01 Jammu and Kashmir|02 Himachal Pradesh|03 Punjab|04 Chandigarh|05 Uttarakhand|06 Haryana|07 Delhi|08 Rajasthan
|09 Uttar Pradesh|10 Bihar|11 Sikkim|12 Arunachal Pradesh|13 Nagaland|14 Manipur|15 Mizoram|16 Tripura|17 Meghalaya|18 Assam
|19 West Bengal|20 Jharkhand|21 Odisha|22 Chhattisgarh|23 Madhya Pradesh|24 Gujarat
|26 Dadra and Nagar Haveli and Daman and Diu|27 Maharashtra|29 Karnataka|30 Goa|31 Lakshadweep|32 Kerala|33 Tamil Nadu
|34 Puducherry|35 Andaman and Nicobar Islands|36 Telangana|37 Andhra Pradesh|38 Ladakh|97 Other Territory`
    .split('|')
    .map((one) => [one.slice(0, 2), one.slice(3).trim()]),
);
