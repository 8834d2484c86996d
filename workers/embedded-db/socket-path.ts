import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `sun_path` has 108 bytes on Linux, 104 on macOS, with the NUL at the end. */
const MAX_PATH_BYTES = 103;

/**
 * `<dir>/store.sock`, or, when that is too long for a Unix socket, a short path in the system's temporary directory that
 * depends on the directory alone: every process that knows the directory finds the same socket.
 */
export function socketPathFor(dir: string): string {
  const inside = join(dir, 'store.sock');
  if (Buffer.byteLength(inside) <= MAX_PATH_BYTES) return inside;
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 24);
  return join(tmpdir(), `harkara-${name}.sock`);
}
