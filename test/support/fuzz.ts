import { readFileSync } from 'node:fs';
import { Prng } from './prng.ts';

/** One input per seed: a range for every run, and seeds that once failed. */
interface Seeds {
  readonly from: number;
  readonly count: number;
  readonly kept: readonly number[];
}

/** For longer runs by hand: FUZZ_TIMES=50 takes fifty times as many seeds. */
const TIMES = Number(process.env.FUZZ_TIMES ?? 1);

const FILE = new URL('../fixtures/fuzz-seeds.json', import.meta.url);

/**
 * Runs a property for every seed of its name in test/fixtures/fuzz-seeds.json. Its error names the seed: add it to
 * `kept` there to test it for ever. Returns the number of inputs.
 */
export async function fuzz(name: string, property: (random: Prng) => void | Promise<void>): Promise<number> {
  const all: Readonly<Record<string, Seeds>> = JSON.parse(readFileSync(FILE, 'utf8')); // our own file, of this form
  const { from, count, kept } = all[name] ?? { from: 0, count: 0, kept: [] };
  const seeds = [...kept, ...Array.from({ length: count * TIMES }, (_, i) => from + i)];
  for (const seed of seeds) {
    try {
      const pending = property(new Prng(seed));
      if (pending instanceof Promise) await pending;
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new Error(`seed ${seed} of "${name}" (keep it in fuzz-seeds.json): ${what}`, { cause: error });
    }
  }
  return seeds.length;
}

/** Boundary octets of signs, lengths and text. */
const EDGES = [0x00, 0x01, 0x04, 0x0f, 0x10, 0x20, 0x7f, 0x80, 0xfe, 0xff] as const;
const MUTATIONS_MAX = 4;

/** The same bytes, damaged in a few places. */
export function mutate(bytes: Buffer, random: Prng): Buffer {
  let result: Buffer = Buffer.from(bytes);
  for (let left = 1 + random.below(MUTATIONS_MAX); left > 0; left--) result = mutateOnce(result, random);
  return result;
}

function mutateOnce(bytes: Buffer, random: Prng): Buffer {
  const at = random.below(bytes.length + 1);
  const end = Math.min(at + random.below(24), bytes.length);
  switch (random.below(8)) {
    case 0: // one bit
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      return bytes;
    case 1: // one octet
      if (at < bytes.length) bytes[at] = random.pick(EDGES);
      return bytes;
    case 2: // two octets, as a length has
      if (at + 2 <= bytes.length)
        bytes.writeUInt16BE(random.pick([0, 1, 0x7fff, 0x8000, 0xffff, random.below(300)]), at);
      return bytes;
    case 3: // cut off
      return bytes.subarray(0, at);
    case 4: // cut out
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    case 5: // twice
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
    case 6: // put in
      return Buffer.concat([bytes.subarray(0, at), random.bytes(random.below(24)), bytes.subarray(at)]);
    default: // overwritten
      random.bytes(end - at).copy(bytes, at);
      return bytes;
  }
}
