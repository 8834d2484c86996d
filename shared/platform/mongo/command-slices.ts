import { Binary } from 'mongodb';

/**
 * A server takes 48 MB in one message. But a command sent by `db.command` is one document and must not exceed 16 MB: a larger one
 * can never succeed. Half of that leaves room for the rest of the command.
 */
const BYTES_MAX = 8_000_000;

/**
 * The items in order, in slices of at most `most` items that each fit in one command. An item that is too large is alone in its
 * slice.
 */
export function commandSlices<T extends object>(items: readonly T[], most: number): readonly (readonly T[])[] {
  const slices: T[][] = [];
  let slice: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const own = bytesAtMost(item);
    if (slice.length > 0 && (slice.length === most || bytes + own > BYTES_MAX)) {
      slices.push(slice);
      slice = [];
      bytes = 0;
    }
    slice.push(item);
    bytes += own;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}

/** Bytes of any other value, and of a field beyond its name and value. */
const SCALAR_BYTES = 24;
const FIELD_BYTES = 8;

/** Its size as BSON, or up to three times that. Takes 0.3 µs per message; the driver needs 27 µs to insert it. */
function bytesAtMost(value: unknown): number {
  if (typeof value === 'string') return 3 * value.length + FIELD_BYTES;
  if (value instanceof Binary) return value.position + SCALAR_BYTES;
  if (typeof value !== 'object' || value === null || value instanceof Date) return SCALAR_BYTES;
  let bytes = SCALAR_BYTES;
  // Documents are plain objects, so `in` finds only their own fields, at half the CPU of `Object.entries`.
  for (const name in value) bytes += 3 * name.length + FIELD_BYTES + bytesAtMost(Reflect.get(value, name));
  return bytes;
}
