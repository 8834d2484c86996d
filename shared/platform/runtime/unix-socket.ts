import { fstatSync, openSync, statSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { StartError } from './lifecycle.ts';

/** `sun_path` has 108 bytes on Linux, 104 on macOS, with the NUL at the end. */
const PATH_BYTES_MAX = 103;

/** Open handles of long directories, by path. Never closed, because addresses that were returned depend on them. */
const opened = new Map<string, number>();

/**
 * The address of the Unix socket `name` in `dir`. If the directory's path is too long for a socket address, it goes through an
 * open handle of the directory (proc(5), `/proc/self/fd`) and is valid only in this process. It never uses another directory,
 * where others could take the name first. Throws `StartError` on systems without `/proc/self/fd`.
 */
export function socketAddress(dir: string, name: string): string {
  const path = join(resolve(dir), name);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
  const fd = handleOf(resolve(dir));
  if (fd === undefined) return path; // The directory does not exist yet, so nobody listens there.
  const address = `/proc/self/fd/${fd}/${name}`;
  if (statSync(`/proc/self/fd/${fd}/`, { throwIfNoEntry: false }) !== undefined) return address;
  throw new StartError(
    `${path} is too long for a Unix socket on this system (${PATH_BYTES_MAX} bytes): set HARKARA_DATA_DIR to a directory with a shorter path.`,
  );
}

/** Whether a living process listens there. A process that is too busy to accept counts as living. */
export async function isListening(address: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      answer(true);
    });
    socket.once('error', (error) => answer(!('code' in error && NOBODY.includes(String(error.code)))));
  });
}

/** Codes for: no file; a file without a listener; not a socket; a path that is too long for one. */
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'EINVAL', 'ENAMETOOLONG'];

/** Listens with mode 0600 from the socket's first moment on. The mode replaces a password. */
export async function listenForOwner(server: Server, address: string): Promise<void> {
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    const mask = process.umask(0o177);
    try {
      server.listen(address, () => {
        server.removeListener('error', failed);
        listening();
      });
    } finally {
      process.umask(mask);
    }
  });
}

function handleOf(dir: string): number | undefined {
  const now = statSync(dir, { throwIfNoEntry: false });
  if (now === undefined) return undefined;
  const known = opened.get(dir);
  if (known !== undefined) {
    const then = fstatSync(known);
    if (then.ino === now.ino && then.dev === now.dev) return known;
  }
  const fd = openSync(dir, 'r');
  opened.set(dir, fd);
  return fd;
}

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
