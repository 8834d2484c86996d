/**
 * One setting of a carrier. The checks, the options and output of `ops carrier`, and the list in docs/carriers.md
 * follow from this entry. Every value can be written as one text, which an option takes and `carrier show` prints.
 */
export interface Setting<Value> extends Shape<Value> {
  readonly about: string;
  readonly standard: Value;
}

/** How a value is written, and its limits; `parse` refuses values beyond them. */
export interface Shape<Value> {
  /** The placeholder in the help: `N`, `gsm|latin1`. */
  readonly value: string;
  /** Describes a valid value, in words that follow "must be". */
  readonly form: string;
  /** The option's text names a file that contains the value. */
  readonly file?: true;
  parse(text: string): Value | undefined;
  show(value: Value): string;
  /** Absent: a value is valid if its own text can be parsed again. */
  valid?(value: Value): boolean;
}

/** By field name. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

type ValueOf<S> = S extends Setting<infer Value> ? Value : never;

export type Values<T> = { readonly [Name in keyof T]: ValueOf<T[Name]> };

export function setting<Value>(shape: Shape<Value>, standard: NoInfer<Value>, about: string): Setting<Value> {
  return { ...shape, standard, about };
}

export function withDefaults<T>(group: T, stored: Partial<Values<T>> = {}): Values<T> {
  const entries = Object.entries(group as Settings).map(([name, { standard }]) => [name, standard]);
  return { ...Object.fromEntries(entries), ...stored }; // every name of the group has its default
}

/** One sentence per wrong value, after the name of its field. */
export function faultsOf(group: object, values: Readonly<Record<string, unknown>>, prefix = ''): string[] {
  return Object.entries(group as Settings).flatMap(([name, shape]) => {
    const value = values[name];
    return value === undefined || isValid(shape, value) ? [] : [`${prefix}${name}: ${shape.form}.`];
  });
}

function isValid<Value>({ parse, show, valid }: Shape<Value>, value: Value): boolean {
  return valid === undefined ? parse(show(value)) !== undefined : valid(value);
}

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

export const yesNo: Shape<boolean> = {
  value: 'no|yes',
  form: 'no or yes',
  parse: (text) => (text === 'yes' ? true : text === 'no' ? false : undefined),
  show: (value) => (value ? 'yes' : 'no'),
};

/** For a C-octet string of a PDU (SMPP 3.4 §3.1). */
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

/** Separated by commas, none twice. */
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

/** Separated by commas. `none` stands for an empty list. */
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
