import { createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from './context.ts';

/**
 * What a request asks for, as SHA-256 of method, path and body with sorted members: two that differ only in the order of
 * members, in blanks or in how characters are escaped are the same.
 */
export function fingerprintOf(method: string, path: string, body: JsonObject): string {
  return hash('sha256', `${method}\n${path}\n${canonical(body, 0)}`, 'base64url');
}

/** Entries of a list that are written at once: a few milliseconds. */
const SLICE = { texts: 2_500, others: 250 };

/** The same value, without holding the event loop for a list of thousands of entries. */
export async function fingerprintInSlices(method: string, path: string, body: JsonObject): Promise<string> {
  const isLong = (member: unknown): member is unknown[] => Array.isArray(member) && member.length > SLICE.others;
  if (!Object.values(body).some(isLong)) return fingerprintOf(method, path, body);
  const digest = createHash('sha256').update(`${method}\n${path}\n`);
  let before = '{';
  for (const [name, member] of sorted(body)) {
    digest.update(`${before}${JSON.stringify(name)}:`);
    before = ',';
    if (isLong(member)) {
      const size = typeof member[0] === 'string' ? SLICE.texts : SLICE.others;
      for (let start = 0; start < member.length; start += size) {
        const slice = member.slice(start, start + size);
        digest.update(`${start === 0 ? '[' : ','}${slice.map((entry) => canonical(entry, 2)).join()}`);
        await setImmediate();
      }
      digest.update(']');
    } else digest.update(canonical(member, 1));
  }
  return digest.update('}').digest('base64url');
}

/** No endpoint takes a body as deep as this: what lies below is refused anyway and need not be told apart. */
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
