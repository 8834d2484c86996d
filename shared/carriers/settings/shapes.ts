import type { Shape } from './setting.ts';

/** The ways in which values of settings are written. */

export function whole(value: string, min: number, max: number, zero?: string): Shape<number> {
  return {
    value,
    form: `${min}${zero === undefined ? '' : ` (${zero})`} to ${max}`,
    parse: (text) => {
      const number = Number(text);
      return /^-?\d+$/.test(text) && number >= min && number <= max ? number : undefined;
    },
    show: String,
  };
}

export function oneOf<const T extends string>(choices: readonly T[]): Shape<T> {
  return {
    value: choices.join('|'),
    form: `one of ${choices.join(', ')}`,
    parse: (text) => choices.find((one) => one === text),
    show: (value) => value,
  };
}

/** Written as yes or no, stored as true or false. */
export const yesNo: Shape<boolean> = {
  value: 'no|yes',
  form: 'no or yes',
  parse: (text) => (text === 'yes' ? true : text === 'no' ? false : undefined),
  show: (value) => (value ? 'yes' : 'no'),
};

/** ASCII of `min` to `max` characters, for a C-octet string of a PDU (SMPP 3.4 §3.1). */
export function ascii(value: string, min: number, max: number): Shape<string> {
  const pattern = new RegExp(`^[\\x20-\\x7e]{${min},${max}}$`);
  return {
    value,
    form: `${min === 0 ? 'at most' : `${min} to`} ${max} ASCII characters`,
    parse: (text) => (pattern.test(text) ? text : undefined),
    show: (text) => text,
  };
}

export function matching(value: string, form: string, pattern: RegExp): Shape<string> {
  return { value, form, parse: (text) => (pattern.test(text) ? text : undefined), show: (text) => text };
}

/** One or more of the choices, separated by commas, none twice. */
export function someOf<const T extends string>(value: string, choices: readonly T[]): Shape<readonly T[]> {
  return {
    value,
    form: `one or more of ${choices.join(', ')} (with commas)`,
    parse: (text) => {
      const words = text.split(',').map((word) => choices.find((one) => one === word.trim()));
      const known = words.filter((word) => word !== undefined);
      return known.length === words.length ? [...new Set(known)] : undefined;
    },
    show: (values) => values.join(','),
  };
}

/** Entries separated by commas. `none` stands for an empty list. */
export function listOf<T>(entry: Shape<T>, most: number): Shape<readonly T[]> {
  return {
    value: `${entry.value},…`,
    form: `none, or at most ${most} with commas, each ${entry.form}`,
    parse: (text) => {
      if (text === NONE) return [];
      const entries = text.split(',').flatMap((one) => entry.parse(one) ?? []);
      return entries.length === text.split(',').length && entries.length <= most ? entries : undefined;
    },
    show: (entries) => (entries.length === 0 ? NONE : entries.map((one) => entry.show(one)).join(',')),
  };
}

const NONE = 'none';
