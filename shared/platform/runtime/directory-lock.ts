import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { mayLive, type ProcessIdentity, thisProcess } from './process-identity.ts';
import { isListening, listenForOwner, socketAddress } from './unix-socket.ts';

/** A process's lock on a directory. It ends with the process, however the process ends. */
export interface DirectoryLock {
  release(): Promise<void>;
}

export type Taking =
  | { readonly kind: 'taken'; readonly lock: DirectoryLock }
  | { readonly kind: 'held'; readonly by: ProcessIdentity | undefined };

/** Two processes that try at the same moment may both see the other and withdraw: then one gets it on a later try. */
const TRIES = 5;
const PAUSE_MS = 100;

/**
 * Locks `dir`, which must exist, for this process. `file` in it names the holder, for people and for processes on other machines.
 *
 * Every taker listens on its own socket in the directory, under a name that is never used again. It holds the directory when no
 * other such socket answers. A socket appears by a rename and is already listening then. A socket that does not answer belongs to
 * a process that is gone; it never answers again, so anybody may remove it. Of two takers the later one therefore sees the
 * earlier, so at most one holds the lock. No process id is trusted: the other process may live in another container with this
 * host's name.
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
  server.unref(); // It keeps no process alive.
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
  rmSync(path, { force: true }); // First: a name that does not answer may be removed by others too.
  await new Promise((done) => server.close(done));
}

/** The holder named in a file; undefined when the file is missing, empty or damaged. */
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
