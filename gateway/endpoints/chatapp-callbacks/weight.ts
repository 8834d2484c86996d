import { DEPTH_MAX } from './loose-json.ts';

/**
 * Added for each value and each name. A list like `[1,1,1,…]` is short as JSON, but long and slow to write as a stored document.
 */
const VALUE = 32;

/**
 * The approximate size of JSON of others in a store, in bytes: its characters, and 32 for each value. Stops counting
 * above `most`, so it is cheap for values of any size. Ignores what `storable` would leave out as too deep.
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
  // For a plain object, `for … in` visits its own names only, and makes no list of them first.
  for (const name in value) {
    if (weight > most) break;
    weight = added(weight + name.length, Reflect.get(value, name), most, depth + 1);
  }
  return weight;
}
