import { Binary } from 'mongodb';

/**
 * A server takes 48 MB in one message, but a command sent by `db.command` is one document, of at most 16 MB: larger, it is
 * refused for ever. Half of that, for what the command has beside.
 */
const BYTES_MAX = 8_000_000;

/** The same in their order, in slices of at most `most` that fit in one command each; one that is too large is alone. */
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

/** Of any other value, and of a field beside its name and value. */
const SCALAR_BYTES = 24;
const FIELD_BYTES = 8;

/** As much as it has as BSON, or up to three times that: 0.3 µs a message, where the driver needs 27 to insert it. */
function bytesAtMost(value: unknown): number {
  if (typeof value === 'string') return 3 * value.length + FIELD_BYTES;
  if (value instanceof Binary) return value.position + SCALAR_BYTES;
  if (typeof value !== 'object' || value === null || value instanceof Date) return SCALAR_BYTES;
  let bytes = SCALAR_BYTES;
  // Plain documents: `in` finds their own fields only, at half the CPU of `Object.entries`.
  for (const name in value) bytes += 3 * name.length + FIELD_BYTES + bytesAtMost(Reflect.get(value, name));
  return bytes;
}
