import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Says why a process ended: one sentence, in the process's own words if its logs have them, and the log with the details. */
export function endReason(logs: string, app: string): string {
  const out = join(logs, `${app}-out.log`);
  const error = join(logs, `${app}-error.log`);
  const reason = loggedReason(lines(out)) ?? lines(error).find((line) => /\S/.test(line));
  const file = lines(error).length > 0 ? error : out;
  return `${app} did not start${reason === undefined ? '' : `: ${reason.trim()}`}\nIts log: ${file}`;
}

/** The logged cause (runtime/lifecycle.ts logs `start_failed` or `failed`), else the last logged error. */
function loggedReason(log: readonly string[]): string | undefined {
  const errors = log.flatMap((line) => errorOf(line) ?? []).reverse();
  return (errors.find(({ event }) => event === 'start_failed' || event === 'failed') ?? errors[0])?.error;
}

function errorOf(line: string): { readonly event: unknown; readonly error: string } | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null || !('error' in entry) || typeof entry.error !== 'string') return;
    return { event: 'msg' in entry ? entry.msg : undefined, error: entry.error };
  } catch {
    return undefined; // No line of our log: one that the simulator prints for people, or one that was cut off.
  }
}

function lines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
