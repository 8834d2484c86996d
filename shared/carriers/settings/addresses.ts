import { ascii, listOf, matching, type Shape, setting, type Values } from './setting.ts';

/** How an address is written: type of number, numbering plan (SMPP 3.4 §5.2.5, §5.2.6), and digits. */
export interface AddressForm {
  readonly ton: number;
  readonly npi: number;
  /** `plus`: with a + in front. `national`: without the calling code of `country`. */
  readonly digits: 'plain' | 'plus' | 'national';
}

export interface RewriteRule {
  readonly prefix: string;
  readonly replacement: string;
}

const DIGITS = ['plain', 'plus', 'national'] as const satisfies readonly AddressForm['digits'][];

const addressForm: Shape<AddressForm> = {
  value: 'TON/NPI[/DIGITS]',
  form: 'like 1/1, 1/1/plus or 2/1/national, numbers from 0 to 255',
  parse: (text) => {
    const [, ton, npi, form = 'plain'] = /^(\d{1,3})\/(\d{1,3})(?:\/([a-z]+))?$/.exec(text) ?? [];
    const digits = DIGITS.find((one) => one === form);
    if (ton === undefined || npi === undefined || digits === undefined) return undefined;
    return Math.max(Number(ton), Number(npi)) <= 255 ? { ton: Number(ton), npi: Number(npi), digits } : undefined;
  },
  show: ({ ton, npi, digits }) => `${ton}/${npi}${digits === 'plain' ? '' : `/${digits}`}`,
};

function rewriteRule(form: string, pattern: RegExp): Shape<RewriteRule> {
  return {
    value: 'FROM=TO',
    form,
    parse: (text) => {
      const [, prefix, replacement] = pattern.exec(text) ?? [];
      return prefix === undefined || replacement === undefined ? undefined : { prefix, replacement };
    },
    show: ({ prefix, replacement }) => `${prefix}=${replacement}`,
  };
}

const MAX_RULES = 100;
const numberRules = listOf(rewriteRule('digits=digits, like 910=91', /^(\d{1,20})=(\d{0,20})$/), MAX_RULES);
const senderRules = listOf(
  rewriteRule('like OLDNAME=NEWNAME', /^([A-Za-z0-9 .&_-]{1,20})=([A-Za-z0-9 .&_-]{0,20})$/),
  MAX_RULES,
);

const form = (ton: number, npi: number): AddressForm => ({ ton, npi, digits: 'plain' });

/** docs/carriers.md explains which TON and NPI carriers want, and why. */
export const ADDRESSES = {
  sourceName: setting(addressForm, form(5, 0), 'a sender that is a name'),
  sourceShort: setting(addressForm, form(3, 0), 'a sender that is a short code'),
  sourceNational: setting(
    addressForm,
    form(1, 1),
    'a sender that is a number of the carrier’s country, or begins with 0 but not with 00',
  ),
  sourceInternational: setting(addressForm, form(1, 1), 'a sender that is any other number'),
  destinationNational: setting(
    addressForm,
    form(1, 1),
    'a recipient with a number of the carrier’s country, or one from 0 but not from 00',
  ),
  destination: setting(addressForm, form(1, 1), 'any other recipient'),
  country: setting(
    matching('DIGITS', 'a calling code like 91, or empty', /^([1-9]\d{0,3})?$/),
    '',
    'calling code of the carrier’s country: its numbers are national ones',
  ),
  rewriteSender: setting(senderRules, [], 'what the beginning of a sender becomes; the longest that fits counts'),
  rewriteRecipient: setting(numberRules, [], 'the same for the recipient’s digits'),
  bindAddress: setting(
    matching('TON/NPI', 'like 1/1, numbers from 0 to 255', /^(1?\d?\d|2[0-4]\d|25[0-5])\/(1?\d?\d|2[0-4]\d|25[0-5])$/),
    '0/0',
    'addr_ton and addr_npi of the bind',
  ),
  addressRange: setting(ascii('RANGE', 0, 40), '', 'address_range of the bind'),
};

export type AddressSettings = Values<typeof ADDRESSES>;
