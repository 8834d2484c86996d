/**
 * Polynomial hashes modulo 2^32. They only exclude: when hashes are equal, the texts themselves are compared. A text
 * that is made to collide costs time, but never gives a wrong answer.
 */
const BASE = 0x01000193;

/** `at[i]` is the hash of the first i code units. */
export function prefixHashes(text: string): Int32Array {
  const hashes = new Int32Array(text.length + 1);
  let hash = 0;
  for (let i = 0; i < text.length; i++) {
    hash = (Math.imul(hash, BASE) + text.charCodeAt(i) + 1) | 0;
    hashes[i + 1] = hash;
  }
  return hashes;
}

export function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, BASE) + text.charCodeAt(i) + 1) | 0;
  return hash;
}

/** BASE to the power of `length`. Needed to remove a prefix from the hash of a longer prefix. */
export function hashWeight(length: number): number {
  let weight = 1;
  let square = BASE;
  for (let rest = length; rest > 0; rest >>= 1) {
    if ((rest & 1) === 1) weight = Math.imul(weight, square);
    square = Math.imul(square, square);
  }
  return weight;
}

/** The hash of the code units from `start` to `end`. `weight` is the `hashWeight` of that length. */
export function sliceHash(hashes: Int32Array, start: number, end: number, weight: number): number {
  return ((hashes[end] ?? 0) - Math.imul(hashes[start] ?? 0, weight)) | 0;
}
