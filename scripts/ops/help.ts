import type { Command } from './command.ts';
import { call, optionName } from './read-words.ts';

/** The help of all commands, or of one noun's. */
export function helpForAll(commands: readonly Command[], noun?: string): string {
  const shown = commands.filter((command) => noun === undefined || command.noun === noun);
  return [
    'Operates Harkara: accounts, keys, credits, senders, templates, numbers, opt-outs, carriers, binds, routes,',
    'the chat-app channel, webhooks, the secret key, the ledger, the audit, the store.',
    '',
    'npm run ops -- <what> <do> [arguments] [--options]',
    '',
    ...table(shown.map((command) => [usage(command), command.about])),
    '',
    '--json  answer as JSON, for programs        --help  after any command: its arguments and options',
    'Exit code: 0 done, 1 not done, 2 wrong usage. Settings come from the environment or .env (see .env.example).',
  ].join('\n');
}

/** The help of one command: arguments, options, notes. */
export function helpForOne(command: Command): string {
  const rows = [
    ...Object.entries(command.args).map(([name, parameter]) => [`<${name}>`, `${parameter.about} (${parameter.form})`]),
    ...Object.entries(command.options).map(([name, parameter]) => {
      const standard = parameter.standard === undefined ? '' : ` [${parameter.standard || 'none'}]`;
      const must = parameter.required ? ' (required)' : '';
      return [`--${optionName(name)} ${parameter.value}`.trim(), `${parameter.about}${must}${standard}`];
    }),
    ['--json', 'answer as JSON'],
  ];
  const head = [`${call(command)} ${words(command)}`.trim(), '', command.about, '', ...table(rows)];
  return [...head, ...(command.notes === undefined ? [] : ['', command.notes])].join('\n');
}

function usage(command: Command): string {
  return [command.noun, command.verb, words(command)].filter((word) => word !== '').join(' ');
}

function words(command: Command): string {
  const args = Object.entries(command.args).map(([name, { required }]) => (required ? `<${name}>` : `[<${name}>]`));
  const must = Object.entries(command.options)
    .filter(([, parameter]) => parameter.required)
    .map(([name, parameter]) => `--${optionName(name)} ${parameter.value}`);
  return [...args, ...must].join(' ');
}

/** Writes rows in two columns. If a left text is too wide for its column, the explanation is in the next line. */
function table(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left = '']) => left.length).filter((length) => length <= MAX_WIDTH), 0);
  return rows.flatMap(([left = '', right = '']) => {
    if (left.length > width) return [`  ${left}`, `  ${' '.repeat(width)}  ${right}`];
    return [`  ${left.padEnd(width)}  ${right}`];
  });
}

const MAX_WIDTH = 80;
