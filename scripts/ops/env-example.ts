import { SETTINGS } from '../../shared/platform/config/settings.ts';
import { type Command, defineCommand } from './command.ts';

/** The text of `.env.example`: every setting with its meaning, form and default. A test compares the file with it. */
export function envExample(): string {
  const blocks = Object.values(SETTINGS).map(({ env, about, form, fallback }) => {
    const standard = String(fallback); // A list shows as its words with commas.
    return `# ${about}\n# Form: ${form}.\n#${env}=${standard}\n`;
  });
  return [
    '# Settings of Harkara: `install -m 600 .env.example .env`, then take the "#" from the lines that you change. Every process reads .env\n' +
      '# itself; the environment goes before it. With a secret in it, .env must be of mode 0600. HARKARA_ENV_FILE (in the environment) names\n' +
      '# another file.\n' +
      '# Written by `npm run -s ops -- env-example > .env.example` from shared/platform/config/settings.ts.\n',
    ...blocks,
  ].join('\n');
}

export const ENV_EXAMPLE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'env-example',
    verb: '',
    about: 'Prints every setting with its meaning and default: the text of .env.example.',
    args: {},
    options: {},
    run: async () => ({
      text: envExample().trimEnd(),
      json: Object.values(SETTINGS).map(({ env, about, form, fallback }) => ({ env, about, form, fallback })),
    }),
  }),
];
