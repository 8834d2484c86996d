import { parseArgs } from 'node:util';
import { type Command, UsageError } from './command.ts';

/** The parsed command line. */
export type Request =
  | { readonly kind: 'help'; readonly noun?: string; readonly command?: Command }
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly values: Readonly<Record<string, unknown>>;
      readonly json: boolean;
    };

/** Finds the command and reads its parameters. Throws a `UsageError` with all problems, one sentence per line. */
export function readWords(commands: readonly Command[], words: readonly string[]): Request {
  const [noun, verb, ...rest] = words;
  if (noun === undefined || isHelp(noun)) return { kind: 'help' };
  const ofNoun = commands.filter((command) => command.noun === noun);
  if (ofNoun.length === 0) {
    throw new UsageError(`There is no "${noun}": say ${alternatives(commands.map((command) => command.noun))}.`);
  }
  // A noun with one empty verb (`env-example`) is followed directly by its options.
  const command = ofNoun.find((one) => one.verb === '') ?? ofNoun.find((one) => one.verb === verb);
  if (command === undefined) {
    if (verb === undefined || isHelp(verb)) return { kind: 'help', noun };
    throw new UsageError(`There is no "${noun} ${verb}": say ${alternatives(ofNoun.map((one) => one.verb))}.`);
  }
  const tail = command.verb === '' ? words.slice(1) : rest;
  // `help` may be a value (`--keyword help`), so as a word it is asked for only alone.
  if (tail.some(isHelpOption) || (tail.length === 1 && tail.every(isHelp))) return { kind: 'help', command };
  return { kind: 'run', command, ...readParameters(command, tail) };
}

function readParameters(
  command: Command,
  words: readonly string[],
): { readonly values: Readonly<Record<string, unknown>>; readonly json: boolean } {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      optionName(name),
      { type: value === '' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const parsed = parsedWords(command, words, { ...options, json: { type: 'boolean' } });

  // Of an option that is given twice only the last would count.
  const problems = repeated(parsed.tokens).map((name) => `--${name} is given more than once: give it once.`);
  const values: Record<string, unknown> = {};
  const take = (label: string, name: string, text: string | undefined): void => {
    const parameter = command.args[name] ?? command.options[name];
    const value = parameter?.read(text);
    if (value !== undefined) values[name] = value.value;
    else if (text === undefined) problems.push(`${label} is missing: ${parameter?.about} (${parameter?.form})`);
    else problems.push(`${label} must be ${parameter?.form}, not ${JSON.stringify(text)}.`);
  };
  const names = Object.keys(command.args);
  names.forEach((name, i) => {
    take(`<${name}>`, name, parsed.positionals[i]);
  });
  for (const extra of parsed.positionals.slice(names.length)) problems.push(`"${extra}" is one word too many.`);
  for (const name of Object.keys(command.options)) {
    const given = parsed.values[optionName(name)];
    take(`--${optionName(name)}`, name, given === true ? '' : typeof given === 'string' ? given : undefined);
  }
  if (problems.length > 0) throw new UsageError(`${problems.join('\n')}\nSee \`${call(command)} --help\`.`);
  return { values, json: parsed.values.json === true };
}

function parsedWords(
  command: Command,
  words: readonly string[],
  options: Readonly<Record<string, { readonly type: 'boolean' | 'string' }>>,
) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, tokens: true });
  } catch (error) {
    const why = /^Unknown option '-\d/.test(messageOf(error)) ? NEGATIVE : firstSentence(messageOf(error));
    throw new UsageError(`${why}. See \`${call(command)} --help\`.`);
  }
}

type Tokens = ReturnType<typeof parsedWords>['tokens'];

function repeated(tokens: Tokens): readonly string[] {
  const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  return [...new Set(names.filter((name, i) => names.indexOf(name) < i))];
}

/** Without `--`, a word that begins with a dash is an option. */
const NEGATIVE = 'Give a negative number at the end, after --, like `-- -100`';

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The first sentence of Node's message: "Unknown option '--nmae'. To specify a positional argument …" */
function firstSentence(words: string): string {
  return (words.split('. ')[0] ?? words).replaceAll('\n', ' ').replace(/\.$/, '');
}

/** `expiresAt` becomes `--expires-at`. */
export function optionName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The options among a command's values that were given, as they are typed. */
export function givenOptions(values: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return given.map(([name]) => `--${optionName(name)}`).join(', ');
}

/** Problems that each begin with the stored field (`links.receiverHosts: …`), with the option that sets it instead. */
export function optionProblems(problems: readonly string[]): string {
  return problems.map((one) => one.replace(/^(?:\w+\.)?(\w+):/, (_, name) => `--${optionName(name)}:`)).join(' ');
}

/** How a person runs it. */
export function call(command: Command): string {
  return ['npm run ops --', command.noun, command.verb].filter((word) => word !== '').join(' ');
}

function isHelp(word: string): boolean {
  return word === 'help' || isHelpOption(word);
}

function isHelpOption(word: string): boolean {
  return word === '--help' || word === '-h';
}

function alternatives(words: readonly string[]): string {
  const distinct = [...new Set(words)];
  const last = distinct.pop() ?? '';
  return distinct.length === 0 ? last : `${distinct.join(', ')} or ${last}`;
}
