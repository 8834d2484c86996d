import { randomBytes } from 'node:crypto';
import { fstatSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from './lifecycle.ts';
import { mayLive, type ProcessIdentity, thisProcess } from './process-identity.ts';

/** `sun_path` has 108 bytes on Linux, 104 on macOS, with the NUL at the end. */
const PATH_BYTES_MAX = 103;

/** Open handles of long directories, by path. Never closed, because returned addresses depend on them. */
const opened = new Map<string, number>();

/**
 * The address of the Unix socket `name` in `dir`. If the path is too long for a socket address, it goes through an open
 * handle of the directory (proc(5), `/proc/self/fd`) and is valid only in this process: in another directory, others
 * could take the name first. Throws `StartError` on systems without `/proc/self/fd`.
 */
function socketAddress(dir: string, name: string): string {
  const path = join(resolve(dir), name);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
  const fd = handleOf(resolve(dir));
  if (fd === undefined) return path; // the directory does not exist yet, so nobody listens there
  const address = `/proc/self/fd/${fd}/${name}`;
  if (statSync(`/proc/self/fd/${fd}/`, { throwIfNoEntry: false }) !== undefined) return address;
  throw new StartError(
    `${path} is too long for a Unix socket on this system (${PATH_BYTES_MAX} bytes): set HARKARA_DATA_DIR to a directory with a shorter path.`,
  );
}

/** Whether a living process listens there. A process that is too busy to accept counts as living. */
async function isListening(address: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      answer(true);
    });
    socket.once('error', (error) => answer(!('code' in error && NOBODY.includes(String(error.code)))));
  });
}

/** No file; a file without a listener; not a socket; a path that is too long for one. */
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

export function embeddedStoreDir(dataDir: string): string {
  return join(resolve(dataDir), 'store');
}

/** For the store in `storeDir` and its clients. Valid only in this process. */
export function embeddedSocketPath(storeDir: string): string {
  return socketAddress(storeDir, 'store.sock');
}

/** A process's lock on a directory. It ends with the process, however the process ends. */
export interface DirectoryLock {
  release(): Promise<void>;
}

type Taking =
  | { readonly kind: 'taken'; readonly lock: DirectoryLock }
  | { readonly kind: 'held'; readonly by: ProcessIdentity | undefined };

/** Two processes that try at the same moment may both see the other and withdraw: then one gets it on a later try. */
const TRIES = 5;
const PAUSE_MS = 100;

/**
 * Locks `dir`, which must exist, for this process. `file` in it names the holder, for people and for processes on other
 * machines.
 *
 * Every taker listens on its own socket in the directory, under a name that is never used again, and holds the
 * directory when no other such socket answers. A socket appears by a rename and is already listening then. One that
 * does not answer belongs to a process that is gone and never answers again, so anybody may remove it. Of two takers
 * the later one therefore sees the earlier, so at most one holds the lock. No process id is trusted: the other process
 * may live in another container with this host's name.
 */
export async function takeDirectory(dir: string, file: string): Promise<Taking> {
  for (let attempt = 1; ; attempt++) {
    const claim = await makeClaim(dir, file);
    const holder = readHolder(join(dir, file));
    if (await isAlone(dir, file, claim)) {
      if (holder !== undefined && mayLive(holder)) {
        await claim.withdraw();
        return { kind: 'held', by: holder };
      }
      return { kind: 'taken', lock: hold(dir, file, claim) };
    }
    await claim.withdraw();
    if (attempt === TRIES) return { kind: 'held', by: holder };
    await wait(PAUSE_MS * (0.5 + Math.random()));
  }
}

interface Claim {
  readonly name: string;
  withdraw(): Promise<void>;
}

async function makeClaim(dir: string, file: string): Promise<Claim> {
  const id = randomBytes(6).toString('hex');
  const draft = join(dir, `.${file}.${id}`);
  const name = `${file}.${id}`;
  const server = createServer((socket) => socket.destroy());
  server.unref(); // it keeps no process alive
  await listenForOwner(server, socketAddress(dir, `.${name}`));
  renameSync(draft, join(dir, name));
  return { name, withdraw: () => withdraw(server, join(dir, name)) };
}

/** Checks every other claim; removes those of processes that are gone. */
async function isAlone(dir: string, file: string, claim: Claim): Promise<boolean> {
  const form = new RegExp(`^${file.replace('.', '\\.')}\\.[0-9a-f]{12}$`);
  for (const name of readdirSync(dir)) {
    if (!form.test(name) || name === claim.name) continue;
    if (await isListening(socketAddress(dir, name))) return false;
    rmSync(join(dir, name), { force: true });
  }
  return true;
}

function hold(dir: string, file: string, claim: Claim): DirectoryLock {
  const path = join(dir, file);
  const mine = JSON.stringify(thisProcess());
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, mine, { mode: 0o600 });
  renameSync(draft, path);
  return {
    release: async () => {
      if (readText(path) === mine) rmSync(path, { force: true });
      await claim.withdraw();
    },
  };
}

async function withdraw(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true }); // first: a name that does not answer may be removed by others too
  await new Promise((done) => server.close(done));
}

/** Undefined when the file is missing, empty or damaged. */
function readHolder(path: string): ProcessIdentity | undefined {
  const text = readText(path) ?? '';
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { machine, pid, startedAt } = parsed as Partial<Record<keyof ProcessIdentity, unknown>>; // checked just below
    if (typeof machine !== 'string' || typeof startedAt !== 'string') return undefined;
    return typeof pid === 'number' && pid > 0 ? { machine, pid, startedAt } : undefined;
  } catch {
    return undefined; // not JSON
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
