import { isObject, type JsonObject } from '../../http/context.ts';

/** Reads foreign JSON without trusting its types: a value of the wrong type counts as empty. Copies nothing. */

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

/** Deeper than any provider sends. A store takes a hundred levels, some of them used by the stored item itself. */
const DEPTH_MAX = 20;

/**
 * Foreign JSON for a stored document. Leaves out names that a store would refuse or interpret (`$…`, with a dot or a
 * zero character), everything below `DEPTH_MAX`, and `undefined`. Does not pause, so large values must be weighed first
 * (`weightOf`).
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

/** Added for each value and name: a list like `[1,1,1,…]` is short as JSON but long and slow to store. */
const VALUE = 32;

/**
 * Approximate size of foreign JSON in a store: its characters, and 32 bytes for each value. Stops counting above
 * `most`, so it is cheap for values of any size. Ignores what `storable` leaves out as too deep.
 */
export function weightOf(value: unknown, most: number): number {
  return added(0, value, most, 1);
}

function added(before: number, value: unknown, most: number, depth: number): number {
  let weight = before + VALUE;
  if (typeof value === 'string') return weight + value.length;
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return weight;
  if (Array.isArray(value)) {
    for (const entry of value) {
      if (weight > most) break;
      weight = added(weight, entry, most, depth + 1);
    }
    return weight;
  }
  // For a plain object, `for … in` visits only its own names, without making a list of them.
  for (const name in value) {
    if (weight > most) break;
    weight = added(weight + name.length, Reflect.get(value, name), most, depth + 1);
  }
  return weight;
}
