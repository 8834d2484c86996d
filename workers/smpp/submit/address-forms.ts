import type { AddressForm, AddressSettings, RewriteRule } from '../../../shared/carriers/settings/addresses.ts';

/** Rewrites sender and recipient, chooses their type, and writes them in the form of the type. */

export interface Address {
  readonly ton: number;
  readonly npi: number;
  readonly digits: string;
}

/** 3GPP TS 23.040 §9.1.2.5. Other senders have at most 20 characters, the length of the field (SMPP 3.4 §5.2.8). */
const ALPHANUMERIC = /^[\x20-\x7e]{1,11}$/;
const NUMBER = /^\d{1,20}$/;
const MAX_OCTETS = 20;

export function sourceAddress(sender: string, settings: AddressSettings): Address | undefined {
  const rewritten = rewrite(sender, settings.rewriteSender);
  if (NUMBER.test(rewritten)) return address(rewritten, sourceForm(rewritten, settings), settings);
  return ALPHANUMERIC.test(rewritten)
    ? { ton: settings.sourceName.ton, npi: settings.sourceName.npi, digits: rewritten }
    : undefined;
}

export function destinationAddress(to: string, settings: AddressSettings): Address | undefined {
  if (!NUMBER.test(to)) return undefined;
  const digits = rewrite(to, settings.rewriteRecipient);
  const form = isNational(digits, settings) ? settings.destinationNational : settings.destination;
  return NUMBER.test(digits) ? address(digits, form, settings) : undefined;
}

/** Applies the rule with the longest matching prefix, once. */
function rewrite(text: string, rules: readonly RewriteRule[]): string {
  let longest: RewriteRule | undefined;
  for (const rule of rules) {
    if (text.startsWith(rule.prefix) && rule.prefix.length > (longest?.prefix.length ?? 0)) longest = rule;
  }
  return longest === undefined ? text : longest.replacement + text.slice(longest.prefix.length);
}

const SHORT_CODE_DIGITS = 8;

function sourceForm(digits: string, settings: AddressSettings): AddressForm {
  if (digits.length <= SHORT_CODE_DIGITS) return settings.sourceShort;
  return isNational(digits, settings) ? settings.sourceNational : settings.sourceInternational;
}

/** The prefix of calls to other countries (ITU-T E.123), as rewrite rules may put it before a number. */
const ABROAD = '00';

/** Calling codes never begin with 0 (ITU-T E.164 §6), so a number with a single leading 0 has a trunk prefix. */
function isNational(digits: string, { country }: AddressSettings): boolean {
  if (digits.startsWith(ABROAD)) return false;
  return digits.startsWith('0') || (country !== '' && digits.startsWith(country));
}

function address(
  number: string,
  { ton, npi, digits: form }: AddressForm,
  { country }: AddressSettings,
): Address | undefined {
  const digits =
    form === 'plus' ? `+${withoutAbroad(number)}` : form === 'national' ? withoutCountry(number, country) : number;
  return digits !== '' && digits.length <= MAX_OCTETS ? { ton, npi, digits } : undefined;
}

function withoutAbroad(number: string): string {
  return number.startsWith(ABROAD) ? number.slice(ABROAD.length) : number;
}

function withoutCountry(number: string, country: string): string {
  return country !== '' && number.startsWith(country) ? number.slice(country.length) : number;
}
