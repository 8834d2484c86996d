import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Adds the settings of `<directory>/.env` to the environment, when there is one; what the environment has already stays.
 * Called by the programs that a person starts, before they read the settings.
 */
export function readEnvFile(directory: string): void {
  const file = join(directory, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}
