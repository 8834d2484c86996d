import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../runtime/lifecycle.ts';
import { makeOwnDirectory } from '../runtime/own-directory.ts';
import { readOwnFile } from '../runtime/own-file.ts';
import { isSecret, SECRET_SETTINGS, SECRET_VARIABLES } from './secrets.ts';

/** In the environment of what PM2 runs, always: the file with the secrets that its caller had; empty when there were none. */
const HANDED_VARIABLE = 'HARKARA_HANDED_SECRETS';

/**
 * For ecosystem.config.js: variables that keep secrets away from PM2. Each secret is blank, for PM2 copies the environment of its
 * caller; settings that the caller had there, other than `.env` has them, are in a file of this user alone (0600) in the data
 * directory. What only `ops` asks for is written nowhere.
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
 * The environment as PM2's caller had it. Throws `StartError` when its secrets are open to other users, or gone and in `.env` neither
 * (where they may be since PM2's list was saved).
 */
export function readHandedSecrets(environment: NodeJS.ProcessEnv, fromFile: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { [HANDED_VARIABLE]: file, ...rest } = environment;
  if (file === undefined) return environment;
  for (const name of SECRET_VARIABLES) if (rest[name] === '') delete rest[name];
  if (file === '') return rest;
  if (!existsSync(file)) {
    if (SECRET_SETTINGS.some((name) => isSecret(name, fromFile[name]))) return rest;
    throw new StartError(
      `${file} is gone, which had the secrets that PM2 was started with: put them into .env, or set them, and run \`pm2 reload ecosystem.config.js\`.`,
    );
  }
  return { ...rest, ...parseSecrets(readOwnFile(file)) };
}

/** At the end of `npm start`, whose PM2 nobody asks to start anything again. */
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
