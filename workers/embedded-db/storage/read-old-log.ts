import { crc32 } from 'node:zlib';
import type { FoundGroup, LogBytes } from './read-log.ts';

/**
 * `[bytes of the changes u32][crc32 of what follows u32][number f64]`. Unlike today's header, it names no store and has no
 * checksum of its own.
 */
const HEADER_BYTES = 16;

/**
 * The groups of a log that a version before 1.1 wrote, from the beginning of the file to where they end. The first start of a newer
 * version reads them and then begins the log anew. A group that is not whole is where they end, unless the next group follows it
 * whole.
 */
export function findOldGroups(log: LogBytes): FoundGroup[] {
  const found: FoundGroup[] = [];
  let group = readOldGroup(log, 0);
  while (group !== undefined) {
    const before = found.at(-1);
    if (before !== undefined && group.number !== before.number + 1) break;
    const next = readOldGroup(log, group.end);
    if (!group.whole && !(next?.whole === true && next.number === group.number + 1)) break;
    found.push(group);
    group = next;
  }
  return found;
}

/** What may be a group; undefined where the file ends before it does. */
function readOldGroup(log: LogBytes, at: number): FoundGroup | undefined {
  const header = log.read(at, HEADER_BYTES);
  if (header.length < HEADER_BYTES) return undefined;
  const size = header.readUInt32LE(0);
  const end = at + HEADER_BYTES + size;
  if (end > log.size) return undefined;
  const changesAt = at + HEADER_BYTES;
  const whole = crc32(log.read(changesAt, size), crc32(header.subarray(8))) === header.readUInt32LE(4);
  return { number: header.readDoubleLE(8), whole, at, changesAt, end };
}
