import {
  type CountryCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
  validatePhoneNumberLength,
} from 'libphonenumber-js/max';
import { type ChannelName, isCarried } from '../../messages/document/channel.ts';
import type { AccountDocument } from './account.ts';

/**
 * An optional check, beyond the form (recipient.ts): is it a valid number in its country's numbering plan? By Google's
 * libphonenumber. Off by default, because the library's plans are as old as this version (docs/decisions/0007).
 */
export type NumberRules = Pick<AccountDocument, 'numberCheck' | 'country' | 'dlt'>;

export interface NumberProblem {
  readonly code: 'country_code_missing' | 'unknown_number' | 'not_mobile';
  readonly detail: string;
}

/**
 * The problem with a well-formed recipient; undefined when there is none, or when the account has no check. On the
 * chat-app channel only country code and length, because WhatsApp ids do not always follow today's plans. About 10 µs.
 */
export function numberProblem(
  to: string,
  { numberCheck, ...rules }: NumberRules,
  channel: ChannelName = 'sms',
): NumberProblem | undefined {
  if (numberCheck === undefined) return undefined;
  // Until 2020 Mexican mobile numbers had a 1 after the country code. WhatsApp ids still have it.
  const number = parse(!isCarried(channel) ? to.replace(/^521(?=\d{10}$)/, '52') : to);
  const known = !isCarried(channel) ? number?.isPossible() : number?.isValid();
  if (number === undefined || known !== true) return homeProblem(to, homeOf(rules)) ?? unknownNumber(to, number);
  const international = number.number.slice(1);
  if (isCarried(channel) && international !== to) {
    // The library has removed the trunk prefix: the 0 (or 8, or 1) that is dialled before a number inside its country.
    return {
      code: 'unknown_number',
      detail: `Write ${international}, without the prefix for calls inside the country.`,
    };
  }
  if (isCarried(channel) && numberCheck === 'mobile' && !mayBeMobile(number)) {
    return { code: 'not_mobile', detail: 'It is not a mobile number, and the account sends to mobile numbers only.' };
  }
  return undefined;
}

/** The country of numbers without a country code: India for accounts with DLT. Undefined when none is set. */
export function homeOf({ country, dlt }: Pick<NumberRules, 'country' | 'dlt'>): string | undefined {
  return country ?? (dlt === 'on' ? 'IN' : undefined);
}

export function isCountry(code: string): boolean {
  return isSupportedCountry(code);
}

/** The country and national form of a long number. Empty for anything else, such as a short code. */
export function numberPlan(number: string): { readonly country?: string; readonly national?: string } {
  const parsed = parse(number);
  if (parsed?.isValid() !== true || parsed.country === undefined) return {};
  return { country: parsed.country, national: parsed.nationalNumber };
}

export function isInternational(digits: string): boolean {
  const parsed = parse(digits);
  return parsed?.isValid() === true && parsed.number === `+${digits}`;
}

/** Adds the country code to a number in national form. Undefined when it is no number of that country. */
export function inCountry(digits: string, country: string): string | undefined {
  if (!isSupportedCountry(country)) return undefined;
  const parsed = parse(digits, country);
  return parsed?.isValid() === true ? parsed.number.slice(1) : undefined;
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

/** In some countries (North America) a number does not show whether it is mobile. */
function mayBeMobile(number: PhoneNumber): boolean {
  const type = number.getType();
  return type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE';
}

/** An international number; with `home`, one in that country's national form. */
function parse(to: string, home?: CountryCode): PhoneNumber | undefined {
  return home === undefined
    ? parsePhoneNumberFromString(`+${to}`, { extract: false })
    : parsePhoneNumberFromString(to, { defaultCountry: home, extract: false });
}
