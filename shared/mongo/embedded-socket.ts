import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** `sun_path` has 108 bytes on Linux, 104 on macOS, with the NUL at the end. */
const PATH_BYTES_MAX = 103;

/** The directory of the embedded store's files in a data directory. */
export function embeddedStoreDir(dataDir: string): string {
  return join(resolve(dataDir), 'store');
}

/**
 * Where the embedded store of `storeDir` listens; the store and its clients both ask here. `<dir>/store.sock`, or, when that
 * is too long for a Unix socket, a short path in the system's temporary directory that depends on the directory alone.
 */
export function embeddedSocketPath(storeDir: string): string {
  const inside = join(storeDir, 'store.sock');
  if (Buffer.byteLength(inside) <= PATH_BYTES_MAX) return inside;
  const name = createHash('sha256').update(storeDir).digest('hex').slice(0, 24);
  return join(tmpdir(), `harkara-${name}.sock`);
}
