import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * The environment, and for what it does not set (an empty variable sets nothing) the lines of `.env`, or of the file that
 * `HARKARA_ENV_FILE` names.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = environment.HARKARA_ENV_FILE ?? '.env';
  const lines = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const set = Object.entries(environment).filter(([, value]) => value !== '');
  return { ...lines, ...Object.fromEntries(set) };
}
