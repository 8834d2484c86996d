import { isLine } from '../../shared/money/accounts/account.ts';
import { parseOffsetTime } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, isAccountId } from '../../shared/platform/runtime/ids.ts';
import { phoneDigits } from '../../shared/platform/sheets/cell.ts';

/**
 * One argument or option: its form for the help, and the reader of its text. `read` gets undefined when the word was left out. It
 * returns undefined for an invalid value; the parser then tells the right form.
 */
export interface Parameter<T> {
  /** `NAME` in `--name NAME`; empty for a switch. */
  readonly value: string;
  readonly about: string;
  /** The form of a valid value, as an error says it after "must be". */
  readonly form: string;
  /** Must be given; there is no default. */
  readonly required: boolean;
  /** Shown in the help. */
  readonly standard?: string;
  read(text: string | undefined): { readonly value: T } | undefined;
}

export interface Shape<T> {
  readonly value: string;
  readonly form: string;
  parse(text: string): T | undefined;
}

/** Must be given. */
export function required<T>(shape: Shape<T>, about: string): Parameter<T> {
  return {
    ...shape,
    about,
    required: true,
    read: (text) => (text === undefined ? undefined : boxed(shape.parse(text))),
  };
}

/** May be left out: then it is undefined. */
export function optional<T>(shape: Shape<T>, about: string): Parameter<T | undefined> {
  return {
    ...shape,
    about,
    required: false,
    read: (text) => (text === undefined ? { value: undefined } : boxed(shape.parse(text))),
  };
}

/** May be left out: then it is `standard`, which must be valid itself. */
export function withDefault<T>(shape: Shape<T>, standard: string, about: string): Parameter<T> {
  return { ...shape, about, required: false, standard, read: (text) => boxed(shape.parse(text ?? standard)) };
}

/** `--name`, without a value. */
export function flag(about: string): Parameter<boolean> {
  return { value: '', form: 'alone', about, required: false, read: (text) => ({ value: text !== undefined }) };
}

export const name: Shape<string> = {
  value: 'NAME',
  form: 'text of 1 to 100 characters, without control characters',
  parse: (text) => (isLine(text, 100) ? text.trim() : undefined),
};

export function words(value: string, form: string, pattern: RegExp): Shape<string> {
  return { value, form, parse: (text) => (pattern.test(text) ? text : undefined) };
}

export function integer(value: string, min: number, max: number): Shape<number> {
  return {
    value,
    form: `a whole number from ${min} to ${max}`,
    parse: (text) => {
      const number = Number(text);
      return /^-?\d+$/.test(text) && number >= min && number <= max ? number : undefined;
    },
  };
}

export function choice<const T extends string>(choices: readonly T[]): Shape<T> {
  return {
    value: choices.join('|'),
    form: choices.join(' or '),
    parse: (text) => choices.find((one) => one === text),
  };
}

/** One or more of the choices, separated by commas. A repeated one counts once. */
export function list<const T extends string>(value: string, choices: readonly T[]): Shape<readonly T[]> {
  return {
    value,
    form: `one or more of ${choices.join(', ')} (with commas)`,
    parse: (text) => {
      const found = new Set<T>();
      for (const word of text.split(',')) {
        const known = choices.find((one) => one === word.trim());
        if (known === undefined) return undefined;
        found.add(known);
      }
      return [...found];
    },
  };
}

/** `09:00-21:00`, or `09:00-21:00 IN,AE`. */
export const daytime: Shape<object> = {
  value: 'HOURS',
  form: 'hours like 09:00-21:00, with countries behind a space (09:00-21:00 IN,AE), or none',
  parse(text) {
    if (text === 'none') return {};
    const [, from, to, some] = /^(\d\d:\d\d)-(\d\d:\d\d)(?: +([A-Z]{2}(?:,[A-Z]{2})*))?$/.exec(text) ?? [];
    if (from === undefined || to === undefined) return undefined;
    return { from, to, ...(some !== undefined && { countries: some.split(',') }) };
  },
};

/** An instant, ISO 8601 with an offset. */
export const instant: Shape<Date> = {
  value: 'TIME',
  form: 'a time like 2027-01-31T12:00:00Z',
  parse: (text) => parseOffsetTime(text)?.at,
};

export const accountId: Shape<AccountId> = {
  value: 'ACCOUNT',
  form: 'an account id like acc_01kam…, as `account list` shows it',
  parse: (text) => (isAccountId(text) ? text : undefined),
};

function boxed<T>(value: T | undefined): { readonly value: T } | undefined {
  return value === undefined ? undefined : { value };
}

/** A long number or short code of an account, which customers write to. */
export const ownNumber: Shape<string> = {
  value: 'NUMBER',
  form: '3 to 15 digits',
  parse: (text) => (/^\d{3,15}$/.test(phoneDigits(text)) ? phoneDigits(text) : undefined),
};
