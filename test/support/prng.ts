import { type Random, seededRandom } from '../../scripts/chaos/faults.ts';

/** Seeded, so that a failing run can be repeated. Faster than the generators of fuzzing libraries. */
export class Prng {
  readonly #random: Random;

  /** Only the lower 32 bits count. */
  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  uint32(): number {
    return this.#random.uint32();
  }

  /** From 0 (included) to 1 (excluded). */
  fraction(): number {
    return this.#random.next();
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    return this.uint32() % limit;
  }

  pick<T>(from: readonly [T, ...T[]]): T;
  pick<T>(from: readonly T[]): T | undefined;
  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let i = 0; i < length; i++) bytes[i] = this.uint32();
    return bytes;
  }
}
