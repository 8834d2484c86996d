import type { Db } from 'mongodb';
import type { Local } from '../../gateway/local.ts';
import { isLine } from '../../shared/money/accounts/account.ts';
import type { AskedSecret } from '../../shared/platform/config/environment.ts';
import type { Config } from '../../shared/platform/config/settings.ts';
import { type Clock, parseOffsetTime } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, isAccountId } from '../../shared/platform/runtime/ids.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import { phoneDigits } from '../../shared/platform/sheets/cell.ts';

/**
 * A command of `npm run ops`, `<noun> <verb> <arguments> --options`, declared as data from which parser, help and
 * checks follow. One file per noun.
 */
export interface Command {
  readonly noun: string;
  readonly verb: string;
  /** What it does, one line. */
  readonly about: string;
  readonly args: Readonly<Record<string, Parameter<unknown>>>;
  readonly options: Readonly<Record<string, Parameter<unknown>>>;
  /** The endpoint writes the audit. */
  readonly isEndpoint?: true;
  /** Further paragraphs of the help. */
  readonly notes?: string;
  /** `values` are the parsed parameters. Create commands only by `defineCommand`. */
  run(values: Readonly<Record<string, unknown>>, context: Context): Promise<Answer | LongAnswer>;
}

/** What a command may use. Opened at first use and closed by main. */
export interface Context {
  readonly config: Config;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Prints at once on standard error, for commands whose answer may never come. */
  tell(text: string): void;
  /** Throws a `Failure` that says what to do if no store answers. */
  db(): Promise<Db>;
  /** Runs endpoints without a server. Throws as `db` does. */
  gateway(): Promise<Local>;
  /** Like `openSecretBox`; throws as `db` does. */
  box(): Promise<SecretBox>;
  /** A secret that must not appear in the process list: from the variable, from stdin, or asked for on the terminal. */
  secret(variable: AskedSecret, fromStdin: boolean): Promise<string>;
}

/** `text` for people, `json` for programs. `ok: false` makes the exit code 1. */
export interface Answer {
  readonly text: string;
  readonly json: unknown;
  readonly ok?: boolean;
}

/** Too long for memory: each line is printed once it is known. With `--json` each line is a document. */
export interface LongAnswer {
  lines(asJson: boolean): AsyncIterable<string>;
}

/** Wrong usage: exit code 2. One sentence that names the option and the right form. */
export class UsageError extends Error {}

/** The command could not be done: exit code 1. One sentence that also says what to do. */
export class Failure extends Error {}

type Values<P extends Readonly<Record<string, Parameter<unknown>>>> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

export function defineCommand<
  A extends Readonly<Record<string, Parameter<unknown>>>,
  O extends Readonly<Record<string, Parameter<unknown>>>,
>(
  command: Omit<Command, 'run' | 'args' | 'options'> & {
    readonly args: A;
    readonly options: O;
    run(values: Values<A> & Values<O>, context: Context): Promise<Answer | LongAnswer>;
  },
): Command {
  return {
    ...command,
    // The parser fills every parameter with the result of its `read`.
    run: (values, context) => command.run(values as Values<A> & Values<O>, context),
  };
}

/**
 * One argument or option, with its form for the help. `read` gets undefined if it was left out, and returns undefined
 * for an invalid value; the parser then names the right form.
 */
export interface Parameter<T> {
  /** `NAME` in `--name NAME`; empty for a switch. */
  readonly value: string;
  readonly about: string;
  /** The valid form, as an error says it after "must be". */
  readonly form: string;
  readonly required: boolean;
  /** The default in the help. */
  readonly standard?: string;
  read(text: string | undefined): { readonly value: T } | undefined;
}

interface Shape<T> {
  readonly value: string;
  readonly form: string;
  parse(text: string): T | undefined;
}

export function required<T>(shape: Shape<T>, about: string): Parameter<T> {
  return {
    ...shape,
    about,
    required: true,
    read: (text) => (text === undefined ? undefined : boxed(shape.parse(text))),
  };
}

export function optional<T>(shape: Shape<T>, about: string): Parameter<T | undefined> {
  return {
    ...shape,
    about,
    required: false,
    read: (text) => (text === undefined ? { value: undefined } : boxed(shape.parse(text))),
  };
}

/** The default `standard` must be valid itself. */
export function withDefault<T>(shape: Shape<T>, standard: string, about: string): Parameter<T> {
  return { ...shape, about, required: false, standard, read: (text) => boxed(shape.parse(text ?? standard)) };
}

/** A switch `--name`. */
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

/** One or more choices separated by commas; repeats count once. */
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

/** ISO 8601 with an offset. */
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

const BAR = 24;
/** The shortest time between two lines without a terminal. */
const LINE_EVERY_MS = 10_000;
const DRAW_EVERY_MS = 100;

export interface Canvas {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Progress of a long command: a bar on a terminal; otherwise a line now and then, and one at the end of each part. */
export class Progress {
  readonly #canvas: Canvas | undefined;
  readonly #clock: Clock;
  #what = '';
  #total = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(canvas: Canvas | undefined, clock: Clock) {
    this.#canvas = canvas;
    this.#clock = clock;
  }

  /** Begins a part, such as `copying messages`. */
  begin(what: string, total: number): void {
    this.#what = what;
    this.#total = total;
    this.#drawnMs = this.#canvas?.isTTY ? Number.NEGATIVE_INFINITY : this.#clock.monotonicMs();
  }

  at(done: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#drawnMs < (this.#canvas?.isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS)) return;
    this.#drawnMs = nowMs;
    this.#draw(done);
  }

  end(done: number): void {
    this.#draw(done);
    if (this.#canvas?.isTTY) this.#canvas?.write('\n');
  }

  #draw(done: number): void {
    const total = Math.max(this.#total, done);
    const fraction = total === 0 ? 1 : done / total;
    const counts = `${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
    if (!this.#canvas?.isTTY) {
      this.#canvas?.write(`${this.#what}: ${counts}\n`);
      return;
    }
    const full = Math.round(BAR * fraction);
    const bar = '#'.repeat(full) + '-'.repeat(BAR - full);
    this.#canvas?.write(
      `\r\x1b[K[${bar}] ${String(Math.floor(fraction * 100)).padStart(3)} %  ${this.#what}: ${counts}`,
    );
  }
}
