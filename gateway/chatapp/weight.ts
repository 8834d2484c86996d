import { DEPTH_MAX } from './storable.ts';

/** Of each value and each name, beside their characters: `[1,1,1,…]` is long as a document, and slow to write, not as JSON. */
const VALUE = 32;

/**
 * What somebody else's JSON weighs in a store, in bytes or so: characters, and 32 for each value. Stops counting once it is
 * above `most`: so it is cheap before anything is made of the value, however large that is. What lies deeper than `storable`
 * keeps weighs nothing.
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
  // A plain object: `in` finds its own names only, and begins without making a list of pairs.
  for (const name in value) {
    if (weight > most) break;
    weight = added(weight + name.length, Reflect.get(value, name), most, depth + 1);
  }
  return weight;
}
