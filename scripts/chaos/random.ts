/** Random numbers from a seed (mulberry32), so that a plan can be repeated. */
export interface Random {
  /** A whole number, 32 bits. */
  uint32(): number;
  /** From 0 (included) to 1 (excluded). */
  next(): number;
  /** From 0 (included) to `below` (excluded). */
  integer(below: number): number;
  /** Throws RangeError when there is nothing to choose from. */
  pick<T>(from: readonly T[]): T;
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const uint32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const next = (): number => uint32() / 2 ** 32;
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    uint32,
    next,
    integer,
    pick: (from) => {
      if (from.length === 0) throw new RangeError('nothing to choose from');
      return from[integer(from.length)] as (typeof from)[number]; // the index is in range
    },
  };
}
