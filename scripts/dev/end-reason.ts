import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Why a process ended, in its own words, as far as its logs tell: one sentence, and the log to read on in. */
export function endReason(logs: string, app: string): string {
  const out = join(logs, `${app}-out.log`);
  const error = join(logs, `${app}-error.log`);
  const reason = loggedReason(lines(out)) ?? lines(error).find((line) => /\S/.test(line));
  const file = lines(error).length > 0 ? error : out;
  return `${app} did not start${reason === undefined ? '' : `: ${reason.trim()}`}\nIts log: ${file}`;
}

/** The last line of the JSON log that names an error. */
function loggedReason(log: readonly string[]): string | undefined {
  for (const line of [...log].reverse()) {
    try {
      const entry: unknown = JSON.parse(line);
      if (typeof entry === 'object' && entry !== null && 'error' in entry && typeof entry.error === 'string') {
        return entry.error;
      }
    } catch {
      // Not of our log: a person's line of the simulator, or a cut one.
    }
  }
  return undefined;
}

function lines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
