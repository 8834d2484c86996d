/** A part of a world, which a hook opens. Throws when it is read earlier, while the tests are only described. */
export function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('a hook opens it: read it in hooks and tests only');
  return part;
}
