import type { Db } from 'mongodb';
import type { Local } from '../../gateway/local.ts';
import type { AskedSecret } from '../../shared/platform/config/secrets.ts';
import type { Config } from '../../shared/platform/config/settings.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { Parameter } from './parameters.ts';
import type { Progress } from './store/progress.ts';

/**
 * A command of `npm run ops`, `<noun> <verb> <arguments> --options`. It is declared as data; parser, help and checks follow from
 * it. One file per noun.
 */
export interface Command {
  readonly noun: string;
  readonly verb: string;
  /** What it does, one line. */
  readonly about: string;
  readonly args: Readonly<Record<string, Parameter<unknown>>>;
  readonly options: Readonly<Record<string, Parameter<unknown>>>;
  /** Its endpoint writes the audit. */
  readonly isEndpoint?: true;
  /** Further paragraphs of its help. */
  readonly notes?: string;
  /** `values` are the parsed parameters. Only `defineCommand` may create them. */
  run(values: Readonly<Record<string, unknown>>, context: Context): Promise<Answer | LongAnswer>;
}

/** What a command may use. It is opened at first use and closed by main. */
export interface Context {
  readonly config: Config;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Says something at once, on standard error: the answer may never come. */
  tell(text: string): void;
  /** When no store answers, throws a `Failure` that says what to do. */
  db(): Promise<Db>;
  /** The endpoints' gateway, without a server. Throws as `db` does. */
  gateway(): Promise<Local>;
  /** Like `openSecretBox`, and throws as `db` does. */
  box(): Promise<SecretBox>;
  /** A secret that must not appear in the list of processes: from the variable, from stdin, or asked for on the terminal. */
  secret(variable: AskedSecret, fromStdin: boolean): Promise<string>;
}

/** A command's answer: `text` for people, `json` for programs. `ok: false` makes the exit code 1. */
export interface Answer {
  readonly text: string;
  readonly json: unknown;
  readonly ok?: boolean;
}

/**
 * An answer that is too long for memory: lines, each printed as soon as it is known. With `--json` each line is a document of its
 * own.
 */
export interface LongAnswer {
  lines(asJson: boolean): AsyncIterable<string>;
}

/** Wrong usage: exit code 2. One sentence that names the option and the right form. */
export class UsageError extends Error {}

/** A command that could not be done: exit code 1. One sentence that also says what to do. */
export class Failure extends Error {}

type Values<P extends Readonly<Record<string, Parameter<unknown>>>> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

/** Declares a command with the types of its parameters. */
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
    // The parser fills every name of args and options with what that parameter's `read` returned.
    run: (values, context) => command.run(values as Values<A> & Values<O>, context),
  };
}
