import { hash } from 'node:crypto';
import type { JsonObject } from './context.ts';

/**
 * What a request asks for, as SHA-256 of method, path and body with sorted members: two that differ only in the order of
 * members, in blanks or in how characters are escaped are the same.
 */
export function fingerprintOf(method: string, path: string, body: JsonObject): string {
  return hash('sha256', `${method}\n${path}\n${canonical(body, 0)}`, 'base64url');
}

/** No endpoint takes a body as deep as this: what lies below is refused anyway and need not be told apart. */
const DEPTH_MAX = 32;

function canonical(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth === DEPTH_MAX) return '"…"';
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, depth + 1)).join()}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member, depth + 1)}`).join()}}`;
}
