import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';

const LOOK_MS = 100;

/** Waits for the gateway and the carrier's bind. Throws `StartError` after `timeoutMs`, naming the log. */
export async function awaitReady(gateway: string, receiver: string, logs: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let missing = '';
  while (performance.now() < deadline) {
    const [ready, bound] = await Promise.all([isReady(`${gateway}/readyz`), isBound(`${receiver}/smsc`)]);
    if (ready && bound) return;
    missing = ready
      ? `the SMPP worker has no bind to the simulated carrier. Its log: ${logs}/smpp-out.log`
      : `the gateway is not ready. Its log: ${logs}/gateway-out.log`;
    await wait(LOOK_MS);
  }
  throw new StartError(`Not ready after ${Math.round(timeoutMs / 1000)} s: ${missing}`);
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false; // Not listening yet.
  }
}

async function isBound(url: string): Promise<boolean> {
  try {
    const page: unknown = await (await fetch(url)).json();
    if (typeof page !== 'object' || page === null || !('sessions' in page) || !Array.isArray(page.sessions))
      return false;
    return page.sessions.some((session: { kind?: unknown }) => session.kind !== 'unbound');
  } catch {
    return false; // Not listening yet.
  }
}

/** Why a process ended, in its own words if its logs have them, and the log with details. */
export function endReason(logs: string, app: string): string {
  const out = join(logs, `${app}-out.log`);
  const error = join(logs, `${app}-error.log`);
  const reason = loggedReason(lines(out)) ?? lines(error).find((line) => /\S/.test(line));
  const file = lines(error).length > 0 ? error : out;
  return `${app} did not start${reason === undefined ? '' : `: ${reason.trim()}`}\nIts log: ${file}`;
}

/** The logged cause (`start_failed` or `failed` of runtime/lifecycle.ts), else the last logged error. */
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
    return undefined; // Not a log line: printed by the simulator for people, or cut off.
  }
}

function lines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** Often enough for a person. */
const FOLLOW_MS = 200;
const CHUNK_BYTES = 65_536;

/** Reports lines appended from now on. Returns a function that stops it. */
export function followLines(file: string, onLine: (line: string) => void): () => void {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let position = size(file);
  let rest = Buffer.alloc(0);
  const look = (): void => {
    if (size(file) <= position) return;
    const descriptor = openSync(file, 'r');
    try {
      for (;;) {
        const count = readSync(descriptor, buffer, 0, CHUNK_BYTES, position);
        if (count === 0) break;
        position += count;
        rest = Buffer.concat([rest, buffer.subarray(0, count)]);
        // Whole lines only: a chunk may end inside a character.
        const end = rest.lastIndexOf(10);
        if (end === -1) continue;
        for (const line of rest.subarray(0, end).toString('utf8').split('\n')) onLine(line);
        rest = rest.subarray(end + 1);
      }
    } finally {
      closeSync(descriptor);
    }
  };
  const timer = setInterval(look, FOLLOW_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}

function size(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
