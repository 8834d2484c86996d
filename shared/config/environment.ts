import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { StartError } from '../runtime/lifecycle.ts';
import { readOwnFile } from '../runtime/own-file.ts';
import { readHandedSecrets } from './handed-secrets.ts';
import { isSecret } from './secrets.ts';

/** Names the file that is read instead of `.env`; empty: none. Only in the environment. */
const FILE_VARIABLE = 'HARKARA_ENV_FILE';

/**
 * The settings of a process, each from the first that has it: its environment, what PM2's caller handed over (handed-secrets.ts), `.env` in the
 * product's directory. Every program reads them itself, so that secrets pass through nobody's hands. Throws `StartError` when a
 * file with a secret is open to other users, or one that `HARKARA_ENV_FILE` names is not there.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const fromFile = readEnvFile(envFile(environment));
  return { ...fromFile, ...readHandedSecrets(environment, fromFile) };
}

/** Where `.env` is; empty: it is not read. */
export function envFile(environment: NodeJS.ProcessEnv): string {
  return resolveUnlessEmpty(environment[FILE_VARIABLE] ?? ownEnvFile());
}

/** `.env` may be missing; a file with another name was asked for. */
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

/** Of the sources and of the build alike: where package.json is. */
function productDirectory(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, 'package.json')) && dirname(directory) !== directory)
    directory = dirname(directory);
  return directory;
}
