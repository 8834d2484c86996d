import { join, resolve } from 'node:path';
import { socketAddress } from './unix-socket.ts';

/** The directory of the embedded store's files in a data directory. */
export function embeddedStoreDir(dataDir: string): string {
  return join(resolve(dataDir), 'store');
}

/**
 * The address on which the embedded store of `storeDir` listens. The store and its clients both get it here. Valid only in this
 * process.
 */
export function embeddedSocketPath(storeDir: string): string {
  return socketAddress(storeDir, 'store.sock');
}
