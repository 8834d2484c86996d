import { join, resolve } from 'node:path';
import { socketAddress } from '../runtime/unix-socket.ts';

/** The directory of the embedded store's files in a data directory. */
export function embeddedStoreDir(dataDir: string): string {
  return join(resolve(dataDir), 'store');
}

/** Where the embedded store of `storeDir` listens; the store and its clients both ask here. For this process alone. */
export function embeddedSocketPath(storeDir: string): string {
  return socketAddress(storeDir, 'store.sock');
}
