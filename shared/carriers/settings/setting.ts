/**
 * One setting of a carrier. It is declared once; the checks, the options and output of `ops carrier`, and the list in
 * docs/carriers.md follow from this entry. Every value can be written as one text. An option takes that text, and `carrier show`
 * prints it.
 */
export interface Setting<Value> extends Shape<Value> {
  readonly about: string;
  readonly standard: Value;
  /** The name of the setting in Kannel and in Jasmin, for people who bring such a configuration along. */
  readonly kannel?: string;
  readonly jasmin?: string;
}

/** How a value is written, and its limits. `parse` refuses values beyond them. */
export interface Shape<Value> {
  /** The placeholder for the value in the help: `N`, `gsm|latin1`. */
  readonly value: string;
  /** Describes a valid value, in words that follow "must be". */
  readonly form: string;
  /** True: the option's text is the name of a file that contains the value. */
  readonly file?: true;
  parse(text: string): Value | undefined;
  show(value: Value): string;
  /** Whether a value is valid. Absent: it is valid if its own text can be parsed again. */
  valid?(value: Value): boolean;
}

/** Settings by the names of their fields. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

type ValueOf<S> = S extends Setting<infer Value> ? Value : never;

/** The values of a group of settings, without gaps. */
export type Values<T> = { readonly [Name in keyof T]: ValueOf<T[Name]> };

type Names = Pick<Setting<unknown>, 'kannel' | 'jasmin'>;

export function setting<Value>(
  shape: Shape<Value>,
  standard: NoInfer<Value>,
  about: string,
  elsewhere: Names = {},
): Setting<Value> {
  return { ...shape, standard, about, ...elsewhere };
}

/** The values of a group: the stored ones, and the defaults of the others. */
export function withDefaults<T>(group: T, stored: Partial<Values<T>> = {}): Values<T> {
  const entries = Object.entries(group as Settings).map(([name, { standard }]) => [name, standard]);
  return { ...Object.fromEntries(entries), ...stored }; // every name of the group has its default
}

/** Describes each wrong value by one sentence, after the name of its field. */
export function faultsOf(group: object, values: Readonly<Record<string, unknown>>, prefix = ''): string[] {
  return Object.entries(group as Settings).flatMap(([name, shape]) => {
    const value = values[name];
    return value === undefined || isValid(shape, value) ? [] : [`${prefix}${name}: ${shape.form}.`];
  });
}

function isValid<Value>({ parse, show, valid }: Shape<Value>, value: Value): boolean {
  return valid === undefined ? parse(show(value)) !== undefined : valid(value);
}
