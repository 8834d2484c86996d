import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../runtime/lifecycle.ts';
import { makeOwnDirectory } from '../runtime/own-directory.ts';
import { readOwnFile } from '../runtime/own-file.ts';
import { isSecret, SECRET_SETTINGS, SECRET_VARIABLES } from './secrets.ts';

/** Always set in the environment of PM2's processes: the file with the caller's secrets; empty when there were none. */
const HANDED_VARIABLE = 'HARKARA_HANDED_SECRETS';

/**
 * For ecosystem.config.js: variables that keep secrets away from PM2. Each secret is set to blank, because PM2 copies its
 * caller's environment. Secret settings from the caller's environment that differ from `.env` are written to a file in the data
 * directory that only this user can read (0600). Secrets that only `ops` asks for are written nowhere.
 */
export function withoutSecrets(
  environment: NodeJS.ProcessEnv,
  fromFile: NodeJS.ProcessEnv,
  dataDir: string,
): Readonly<Record<string, string>> {
  const given = SECRET_SETTINGS.filter((name) => environment[name] !== undefined)
    .filter((name) => environment[name] !== (fromFile[name] ?? ''))
    .map((name) => [name, environment[name]]);
  const file = handedFile(dataDir);
  if (given.length === 0) rmSync(file, { force: true });
  else {
    makeOwnDirectory(dataDir);
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(Object.fromEntries(given)), { mode: 0o600 });
    renameSync(draft, file);
  }
  const blank = SECRET_VARIABLES.map((name) => [name, '']);
  return { ...Object.fromEntries(blank), [HANDED_VARIABLE]: given.length === 0 ? '' : file };
}

/**
 * The environment as PM2's caller had it. Empty variables are left out: `ecosystem.config.js` sets a variable to empty when the
 * caller had none. Secrets come from the file. Throws `StartError` when other users can open that file, or when it is gone and
 * `.env` has no secrets either. (They may have moved to `.env` after PM2's list was saved.)
 */
export function readHandedSecrets(environment: NodeJS.ProcessEnv, fromFile: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { [HANDED_VARIABLE]: file, ...rest } = environment;
  if (file === undefined) return environment;
  for (const name of Object.keys(rest)) if (rest[name] === '') delete rest[name];
  if (file === '') return rest;
  if (!existsSync(file)) {
    if (SECRET_SETTINGS.some((name) => isSecret(name, fromFile[name]))) return rest;
    throw new StartError(
      `${file} is gone. It had the secrets that PM2 was started with. Put them into .env or into the environment, then run \`pm2 reload ecosystem.config.js\`.`,
    );
  }
  return { ...rest, ...parseSecrets(readOwnFile(file)) };
}

/** Called at the end of `npm start`: its PM2 will not start anything again. */
export function forgetHandedSecrets(dataDir: string): void {
  rmSync(handedFile(dataDir), { force: true });
}

function handedFile(dataDir: string): string {
  return join(dataDir, 'handed-secrets.json');
}

function parseSecrets(text: string): NodeJS.ProcessEnv {
  const found: unknown = JSON.parse(text);
  if (typeof found !== 'object' || found === null) return {};
  return Object.fromEntries(
    SECRET_SETTINGS.flatMap((name) => (name in found ? [[name, String(Reflect.get(found, name))]] : [])),
  );
}
