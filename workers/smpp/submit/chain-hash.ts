import { createHash } from 'node:crypto';

/**
 * The PE-TM chain hash that the last telemarketer before the operator sends with a message: SHA-256 over the ids from the
 * principal entity to the delivering telemarketer, joined by commas without spaces, as 64 lower-case hexadecimal digits
 * (BSNL, "PE TM Mapping Chain Hash Logic"; enforced since December 2024).
 */
export function chainHash(ids: readonly string[]): string {
  return createHash('sha256').update(ids.join(',')).digest('hex');
}
