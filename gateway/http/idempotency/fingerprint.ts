import { createHash, hash } from 'node:crypto';
import { nextTurn, turnOver } from '../../../shared/platform/runtime/turns.ts';
import type { JsonObject } from '../context.ts';

/**
 * SHA-256 of the method, the path and the body with sorted members. Requests are the same if they differ only in the
 * order of members, in white space or in how characters are escaped.
 */
function fingerprintOf(method: string, path: string, body: JsonObject): string {
  return hash('sha256', `${method}\n${path}\n${canonical(body, 0)}`, 'base64url');
}

/** This many characters are written before a pause, or one whole entry if it is longer. It takes a few milliseconds. */
const SLICE_LENGTH = 65_536;

/** The same fingerprint for large bodies, computed with pauses, so that it does not hold the event loop. */
export async function fingerprintInSlices(method: string, path: string, body: JsonObject): Promise<string> {
  if (!Object.values(body).some(Array.isArray)) return fingerprintOf(method, path, body);
  const digest = createHash('sha256').update(`${method}\n${path}\n`);
  let text = '{';
  for (const [number, [name, member]] of sorted(body).entries()) {
    text += `${number === 0 ? '' : ','}${JSON.stringify(name)}:`;
    if (!Array.isArray(member)) {
      text += canonical(member, 1);
      continue;
    }
    text += '[';
    for (let i = 0; i < member.length; i++) {
      text += `${i === 0 ? '' : ','}${canonical(member[i], 2)}`;
      if (text.length < SLICE_LENGTH) continue;
      digest.update(text);
      text = '';
      if (turnOver()) await nextTurn();
    }
    text += ']';
  }
  return digest.update(`${text}}`).digest('base64url');
}

/** No endpoint accepts a body this deep, so bodies that differ only below this depth need no different fingerprints. */
const DEPTH_MAX = 32;

function canonical(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth === DEPTH_MAX) return '"…"';
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, depth + 1)).join()}]`;
  return `{${sorted(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member, depth + 1)}`)
    .join()}}`;
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
