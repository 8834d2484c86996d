/**
 * One setting of a carrier, declared once: what the checks demand, what `ops carrier` reads and shows, and what docs/carriers.md
 * lists follow from this entry. A value has one text, which an option takes and `carrier show` prints.
 */
export interface Setting<Value> extends Shape<Value> {
  readonly about: string;
  readonly standard: Value;
  /** What Kannel and Jasmin call it, for those who bring a configuration along. */
  readonly kannel?: string;
  readonly jasmin?: string;
}

/** How a value is written, and its limits: `parse` refuses what is beyond them. */
export interface Shape<Value> {
  /** What stands behind the option in the help: `N`, `gsm|latin1`. */
  readonly value: string;
  /** The form of a valid value, after "must be". */
  readonly form: string;
  /** The text is the name of a file that has the value. */
  readonly file?: true;
  parse(text: string): Value | undefined;
  show(value: Value): string;
  /** Absent: a value is valid when its own text can be read back. */
  valid?(value: Value): boolean;
}

/** Settings that are kept together, by the name of their field. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

type ValueOf<S> = S extends Setting<infer Value> ? Value : never;

/** The values of a group of settings, all of them there. */
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

/** The defaults of a group, with what is stored of it. */
export function withDefaults<T>(group: T, stored: Partial<Values<T>> = {}): Values<T> {
  const entries = Object.entries(group as Settings).map(([name, { standard }]) => [name, standard]);
  return { ...Object.fromEntries(entries), ...stored }; // every name of the group has its default
}

/** What is wrong with stored or given values, one sentence for each, behind the name of its field. */
export function faultsOf(group: object, values: Readonly<Record<string, unknown>>, prefix = ''): string[] {
  return Object.entries(group as Settings).flatMap(([name, shape]) => {
    const value = values[name];
    return value === undefined || isValid(shape, value) ? [] : [`${prefix}${name}: ${shape.form}.`];
  });
}

function isValid<Value>({ parse, show, valid }: Shape<Value>, value: Value): boolean {
  return valid === undefined ? parse(show(value)) !== undefined : valid(value);
}
