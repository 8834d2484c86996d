type Json = Readonly<Record<string, unknown>>;

/** Deeper than anything that providers send; a store takes a hundred levels, and the item has some of its own. */
export const DEPTH_MAX = 20;

/**
 * Somebody else's JSON as a member of a document: without names that a store would refuse or read as its own (`$…`, a dot, a
 * zero character), and without what lies too deep. Values are as they were; `undefined` is left out.
 * In one go: what is not known to be small is weighed before (weight.ts).
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
