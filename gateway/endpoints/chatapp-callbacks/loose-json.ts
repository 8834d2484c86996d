import { isObject, type JsonObject } from '../../http/context.ts';

/** Reads JSON of others without trusting its types: a value of the wrong type counts as empty. Copies nothing. */

const NO_MEMBERS: JsonObject = {};
const NO_ENTRIES: readonly unknown[] = [];

export function object(value: unknown): JsonObject {
  return isObject(value) ? value : NO_MEMBERS;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ENTRIES;
}

export function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type Json = Readonly<Record<string, unknown>>;

/** No provider sends anything this deep. A store takes a hundred levels, and the stored item itself uses some of them. */
export const DEPTH_MAX = 20;

/**
 * JSON of others as a member of a stored document. Leaves out names that a store would refuse or interpret (`$…`,
 * with a dot or a zero character), everything below `DEPTH_MAX`, and `undefined`. Other values stay as they are. Does
 * not pause, so large values must be weighed first (weight.ts).
 */
export function storable(value: Json): Json {
  return members(value, 1);
}

function members(value: object, depth: number): Json {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== undefined && isStorableName(name))
      .map(([name, member]) => [name, storableAt(member, depth)]),
  );
}

function storableAt(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((entry) => storableAt(entry, depth + 1));
  return members(value, depth + 1);
}

function isStorableName(name: string): boolean {
  return !name.startsWith('$') && !name.includes('.') && !name.includes('\0') && name !== '__proto__';
}
