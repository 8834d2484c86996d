import { StoreError } from './errors.ts';

/**
 * Bytes that may be looked at for one document, or to plan one query: 16 conditions on a document of 16 MB. A filter of
 * 100,000 conditions on an array of 100,000 elements would hold the store for minutes.
 */
const BYTES_MAX = 256 * 1024 * 1024;

/** In bytes. Work that looks at no bytes counts as the bytes that take as long (constants `…_BYTES`). */
let left = BYTES_MAX;

/** Call it for each new document or command. Returns the bytes that the one before took. */
export function beginEffort(): number {
  const spent = BYTES_MAX - left;
  left = BYTES_MAX;
  return spent;
}

/** Counts bytes that are looked at, or work that takes as long. Throws 50, mongod's answer to what takes too long. */
export function spend(bytes: number): void {
  left -= bytes;
  if (left < 0) {
    throw new StoreError(50, `operation exceeded the limit of ${BYTES_MAX} bytes to look at for one document`);
  }
}
