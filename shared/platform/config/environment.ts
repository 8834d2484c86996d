import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { StartError } from '../runtime/lifecycle.ts';
import { readOwnFile } from '../runtime/own-file.ts';

/** Names a file to read instead of `.env`; empty: none. Taken from the environment only. */
const FILE_VARIABLE = 'HARKARA_ENV_FILE';

/**
 * The settings of a process: from the environment, else from `.env` in the product's directory. Every program reads
 * them itself, so that no other sees the secrets. Under PM2 an empty variable counts as none, because
 * `ecosystem.config.js` gives PM2 one for each missing setting. Throws `StartError` when other users can open a file
 * with a secret, or when the file named by `HARKARA_ENV_FILE` is missing.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const own = Object.entries(environment).filter(([, value]) => value !== '' || pm2LogFile(environment) === undefined);
  return { ...readEnvFile(envFile(environment)), ...Object.fromEntries(own) };
}

/** Empty: none is read. */
export function envFile(environment: NodeJS.ProcessEnv): string {
  return resolveUnlessEmpty(environment[FILE_VARIABLE] ?? ownEnvFile());
}

/** A missing `.env` is fine. A file with another name was asked for, so it must exist. */
export function readEnvFile(file: string): NodeJS.ProcessEnv {
  if (file === '') return {};
  if (!existsSync(file)) {
    if (file === ownEnvFile()) return {};
    throw new StartError(
      `${FILE_VARIABLE} names ${file}, but there is no file that this user can read. Correct the path, or leave the setting out.`,
    );
  }
  return parseEnv(
    readOwnFile(file, (text) => Object.entries(parseEnv(text)).some(([name, value]) => isSecret(name, value))),
  );
}

function resolveUnlessEmpty(file: string): string {
  return file === '' ? '' : resolve(file);
}

function ownEnvFile(): string {
  return join(productDirectory(), '.env');
}

/** The directory with package.json; the same for the sources and the build. */
function productDirectory(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, 'package.json')) && dirname(directory) !== directory)
    directory = dirname(directory);
  return directory;
}

/**
 * The log file that PM2 has chosen; undefined without PM2. The process writes its log there itself: in cluster mode
 * file descriptor 1 is PM2's own output, and a log line that goes through PM2 costs far more CPU.
 */
export function pm2LogFile(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment.pm_out_log_path;
}

const SECRET_SETTINGS = ['HARKARA_MONGODB_URI', 'HARKARA_SECRET_KEY', 'HARKARA_SMTP_PASSWORD'] as const;

/** Never given to PM2, which writes its processes' environment to a world-readable file (`pm2 save`). */
export const SECRET_VARIABLES = [
  ...SECRET_SETTINGS,
  'HARKARA_STORE_URI',
  'HARKARA_SMPP_PASSWORD',
  'HARKARA_CHATAPP_TOKEN',
  'HARKARA_CHATAPP_APP_SECRET',
] as const;

export type AskedSecret = Exclude<(typeof SECRET_VARIABLES)[number], (typeof SECRET_SETTINGS)[number]>;

/** A MongoDB address without user and password is no secret. */
function isSecret(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '') return false;
  if (name === 'HARKARA_MONGODB_URI' || name === 'HARKARA_STORE_URI') return value.includes('@');
  return SECRET_VARIABLES.some((known) => known === name);
}

/**
 * For ecosystem.config.js: what PM2 is given in place of secrets, which it would show and save. A secret may stand only
 * in `.env` (`fromFile`), which each process reads itself. Throws a `StartError` with the line that corrects it when
 * PM2's caller has another one in its environment.
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
