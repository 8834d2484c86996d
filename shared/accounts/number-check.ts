import {
  type CountryCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
  validatePhoneNumberLength,
} from 'libphonenumber-js/max';
import type { AccountDocument } from './account.ts';

/**
 * The check of an account that wants more of a recipient than its form (recipient.ts): whether it is a number of its country's
 * numbering plan, by Google's libphonenumber. Off by default: plans change, and the library's copy of them is as old as this
 * version of the product (docs/decisions/0027).
 */
export type NumberRules = Pick<AccountDocument, 'numberCheck' | 'country' | 'dlt'>;

export interface NumberProblem {
  readonly code: 'country_code_missing' | 'unknown_number' | 'not_mobile';
  readonly detail: string;
}

/**
 * What is wrong with a recipient of good form, or undefined when nothing is or nobody asked. On the chat-app channel only its
 * country code and length are checked: the ids of WhatsApp's users are not always the numbers of today's plans. Pure; some 10 µs.
 */
export function numberProblem(
  to: string,
  { numberCheck, ...rules }: NumberRules,
  channel: 'sms' | 'chatapp' = 'sms',
): NumberProblem | undefined {
  if (numberCheck === undefined) return undefined;
  // Mexico's mobile numbers had a 1 behind the country code until 2020; WhatsApp's ids of them still have.
  const number = parse(channel === 'chatapp' ? to.replace(/^521(?=\d{10}$)/, '52') : to);
  const known = channel === 'chatapp' ? number?.isPossible() : number?.isValid();
  if (number === undefined || known !== true) return homeProblem(to, homeOf(rules)) ?? unknownNumber(to, number);
  const international = number.number.slice(1);
  if (channel === 'sms' && international !== to) {
    // The library took away the 0 (or 8, or 1) that is dialled before a number inside its country.
    return {
      code: 'unknown_number',
      detail: `Write ${international}, without the prefix for calls inside the country.`,
    };
  }
  if (channel === 'sms' && numberCheck === 'mobile' && !mayBeMobile(number)) {
    return { code: 'not_mobile', detail: 'It is not a mobile number, and the account sends to mobile numbers only.' };
  }
  return undefined;
}

/** Where numbers without a country code are from. India's DLT is India's. Undefined when the account does not say. */
export function homeOf({ country, dlt }: Pick<NumberRules, 'country' | 'dlt'>): string | undefined {
  return country ?? (dlt === 'on' ? 'IN' : undefined);
}

/** Whether the library knows it; two letters, ISO 3166-1. */
export function isCountry(code: string): boolean {
  return isSupportedCountry(code);
}

function homeProblem(to: string, home: string | undefined): NumberProblem | undefined {
  if (home === undefined || !isSupportedCountry(home)) return undefined;
  const number = parse(to, home);
  if (number?.isValid() !== true) return undefined;
  const detail = `The country code is missing: write ${number.number.slice(1)}.`;
  return { code: 'country_code_missing', detail };
}

function unknownNumber(to: string, number: PhoneNumber | undefined): NumberProblem {
  const code = 'unknown_number';
  if (number === undefined) return { code, detail: 'It begins with no known country code.' };
  const country = `numbers with the country code ${number.countryCallingCode}`;
  const length = validatePhoneNumberLength(`+${to}`);
  if (length === 'TOO_SHORT') return { code, detail: `It has too few digits for ${country}.` };
  if (length === 'TOO_LONG') return { code, detail: `It has too many digits for ${country}.` };
  return { code, detail: `It is not one of the ${country}. Check its length and its first digits.` };
}

/** In North America, for one, a number does not tell. */
function mayBeMobile(number: PhoneNumber): boolean {
  const type = number.getType();
  return type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE';
}

/** International, unless it is read as one of `home` is written there. */
function parse(to: string, home?: CountryCode): PhoneNumber | undefined {
  return home === undefined
    ? parsePhoneNumberFromString(`+${to}`, { extract: false })
    : parsePhoneNumberFromString(to, { defaultCountry: home, extract: false });
}
