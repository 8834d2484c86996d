import { type Random, seededRandom } from '../../scripts/chaos/faults.ts';

/**
 * Random numbers that a seed decides, so that a failing run can be repeated from the number it prints. For fuzzing where a
 * library's own generator would take most of the time.
 */
export class Prng {
  readonly #random: Random;

  /** Any whole number; its lower 32 bits count. */
  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** 0 to 2^32 - 1. */
  uint32(): number {
    return this.#random.uint32();
  }

  /** From 0 (included) to 1. */
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
