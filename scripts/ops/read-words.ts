import assert from 'node:assert/strict';
import { CommanderError, Help, Option, Command as Program } from 'commander';
import { type Command, flag, type Parameter, UsageError } from './command.ts';

export type Request =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly values: Readonly<Record<string, unknown>>;
      readonly json: boolean;
    };

/** Finds the command and reads its parameters. Throws a `UsageError` with all their problems, one sentence per line. */
export function readWords(commands: readonly Command[], words: readonly string[]): Request {
  let said = '';
  let request: Request | undefined;
  const root = rootProgram((text) => {
    said += text;
  });
  for (const command of commands) {
    declare(root, command, words, (values, json) => {
      request = { kind: 'run', command, values, json };
    });
  }
  try {
    root.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander also shows the help for a noun alone.
    if (!error.code.startsWith('commander.help')) throw new UsageError(said.trimEnd());
    request = { kind: 'help', text: said.trimEnd() };
  }
  assert(request !== undefined, 'words are wrong, ask for help, or run a command');
  return request;
}

const CALL = 'npm run ops --';

function rootProgram(say: (text: string) => void): Program {
  return new Program(CALL)
    .usage('<what> <do> [arguments] [--options]')
    .description('Operates Harkara. After any command, --help shows its arguments and options.')
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError(`See \`${CALL} --help\`.`)
    .configureOutput({
      writeOut: say,
      writeErr: say,
      // The value of a misspelled option may be a secret.
      outputError: (text, write) => write(text.replace(/(unknown option '[^=']+)=.*'/s, "$1'")),
    })
    .configureHelp({
      subcommandTerm: (program) => `${program.name()} ${isNoun(program) ? '' : program.usage()}`,
      subcommandDescription: (program) =>
        isNoun(program) ? program.commands.map((one) => one.name()).join(', ') : program.description(),
      padWidth: () => COLUMN,
      // If a term is too wide for its column, the explanation goes on the next line.
      formatItem: (term, width, about, helper) => {
        const item = (left: string, right: string): string =>
          Help.prototype.formatItem.call(helper, left, width, right, helper);
        return term.length > width ? `${item(term, '')}\n${item('', about)}` : item(term, about);
      },
    })
    .addHelpText('beforeAll', ({ command }) => {
      // Otherwise help for an unknown command would be the general help.
      const [word = 'help'] = command.args;
      const isUnknown = isNoun(command) && word !== 'help' && !word.startsWith('-');
      return isUnknown ? command.error(`error: unknown command '${word}'`) : '';
    })
    .addHelpText(
      'after',
      '\nExit code: 0 done, 1 not done, 2 wrong usage. Settings come from the environment or .env (see .env.example).',
    );
}

/** Wide enough for most terms, and leaves room for explanations in 80 characters. */
const COLUMN = 36;

/** Declares a command to commander. Values are read here, so that all problems are reported at once. */
function declare(
  root: Program,
  { noun, verb, about, args, options, notes }: Command,
  words: readonly string[],
  run: (values: Readonly<Record<string, unknown>>, json: boolean) => void,
): void {
  // A noun with an empty verb (`env-example`) is followed directly by its options.
  const program = verb === '' ? root.command(noun) : ofNoun(root, noun).command(verb);
  const must = Object.entries(options).filter(([, { required }]) => required);
  const usage = [
    ...Object.entries(args).map(([name, { required }]) => (required ? `<${name}>` : `[${name}]`)),
    ...must.map(([name, parameter]) => termOf(name, parameter)),
  ];
  program
    .description(about)
    .usage(usage.join(' ') || '[--options]')
    .showHelpAfterError(`See \`${[CALL, noun, verb].join(' ').trimEnd()} --help\`.`)
    .addHelpText('after', notes === undefined ? '' : `\n${notes}`);
  for (const [name, { about, form }] of Object.entries(args)) program.argument(`[${name}]`, `${about} (${form})`);

  const problems: string[] = [];
  const given: Record<string, string | undefined> = {};
  for (const [name, parameter] of Object.entries({ ...options, json: flag('answer as JSON, for programs') })) {
    const label = `--${optionName(name)}`;
    program.addOption(new Option(termOf(name, parameter), explanation(parameter)));
    program.on(`option:${optionName(name)}`, (text: string | null) => {
      // Otherwise only the last one would count.
      if (name in given) problems.push(`${label} is given more than once: give it once.`);
      // In `--name --json` the value was forgotten.
      if (text?.startsWith('-') && words.some((word, i) => word === text && words[i - 1] === label)) {
        problems.push(`${label} has no value. If it is ${text}, which begins with a dash, give ${label}=${text}.`);
      }
      given[name] = text ?? '';
    });
  }

  program.action(() => {
    // `help` may be a value (`--keyword help`), so it is a request for help only if it stands alone.
    if (program.args.join() === 'help' && Object.keys(given).length === 0) program.help();
    for (const [i, name] of Object.keys(args).entries()) given[name] = program.args[i];
    const values: Record<string, unknown> = {};
    for (const [name, parameter] of Object.entries({ ...args, ...options })) {
      const label = name in args ? `<${name}>` : `--${optionName(name)}`;
      const text = given[name];
      const value = parameter.read(text);
      if (value !== undefined) values[name] = value.value;
      else if (text === undefined) problems.push(`${label} is missing: ${parameter.about} (${parameter.form})`);
      else problems.push(`${label} must be ${parameter.form}, not ${JSON.stringify(text)}.`);
    }
    if (problems.length > 0) program.error(problems.join('\n'));
    run(values, 'json' in given);
  });
}

function ofNoun(root: Program, noun: string): Program {
  const known = root.commands.find((one) => one.name() === noun);
  return known ?? root.command(noun).usage('<do> …').showHelpAfterError(`See \`${CALL} ${noun} --help\`.`);
}

/** Nouns and the root have subcommands. */
function isNoun(program: Program): boolean {
  return program.commands.length > 0;
}

/** `--name <NAME>`, or `--name` for a switch. */
function termOf(name: string, { value }: Parameter<unknown>): string {
  return value === '' ? `--${optionName(name)}` : `--${optionName(name)} <${value}>`;
}

function explanation({ about, required, standard }: Parameter<unknown>): string {
  return `${about}${required ? ' (required)' : ''}${standard === undefined ? '' : ` [${standard || 'none'}]`}`;
}

/** `expiresAt` and `expires_at` become `--expires-at`. */
export function optionName(name: string): string {
  return name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
