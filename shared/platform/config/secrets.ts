import { StartError } from '../runtime/lifecycle.ts';

/** Settings whose values nobody may see. */
const SECRET_SETTINGS = ['HARKARA_MONGODB_URI', 'HARKARA_SECRET_KEY', 'HARKARA_SMTP_PASSWORD'] as const;

/**
 * Environment variables whose values nobody may see: the settings above and what `ops` asks for. PM2 keeps the environment of its
 * processes and writes it to a world-readable file (`pm2 save`), so none of these is ever given to PM2.
 */
export const SECRET_VARIABLES = [
  ...SECRET_SETTINGS,
  'HARKARA_STORE_URI',
  'HARKARA_SMPP_PASSWORD',
  'HARKARA_CHATAPP_TOKEN',
  'HARKARA_CHATAPP_APP_SECRET',
] as const;

/** What `ops` asks for. */
export type AskedSecret = Exclude<(typeof SECRET_VARIABLES)[number], (typeof SECRET_SETTINGS)[number]>;

/** Whether a variable holds a secret. A MongoDB address without user and password does not. */
export function isSecret(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '') return false;
  if (name === 'HARKARA_MONGODB_URI' || name === 'HARKARA_STORE_URI') return value.includes('@');
  return SECRET_VARIABLES.some((known) => known === name);
}

/**
 * For ecosystem.config.js: what PM2 is given in place of the settings with secrets. PM2 keeps, shows and saves the environment of
 * its processes, so a secret may stand in `.env` alone (`fromFile`), which each process reads itself. Throws a `StartError` with
 * the line that corrects it when PM2's caller has another one in its environment.
 */
export function withoutSecrets(
  environment: NodeJS.ProcessEnv,
  fromFile: NodeJS.ProcessEnv,
  file: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    SECRET_SETTINGS.map((name) => {
      const value = environment[name];
      const own = fromFile[name] ?? '';
      if (value === undefined || value === own) return [name, ''];
      if (!isSecret(name, value) && value !== '') return [name, value];
      throw new StartError(
        value === ''
          ? `${name} is empty in the environment and set in ${file}, which counts under PM2: unset ${name}, or name another file in HARKARA_ENV_FILE.`
          : `${name} in the environment has a secret, and PM2 shows and saves its environment. Write it into ${file || '.env (or the file of HARKARA_ENV_FILE)'} as ${name}=… (chmod 600), then: unset ${name}.`,
      );
    }),
  );
}
