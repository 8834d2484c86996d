import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { ChangeSignal } from '../../shared/mongo/change-signal.ts';
import { embeddedSocketPath } from '../../shared/mongo/embedded-socket.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { makeOwnDirectory } from '../../shared/runtime/own-directory.ts';
import { Command } from './commands/command.ts';
import { handlerOf } from './commands/registry.ts';
import { errorReply } from './commands/reply.ts';
import { GroupCommit } from './group-commit.ts';
import { acquireLock } from './lock-file.ts';
import type { Durability } from './storage/database.ts';
import { Store } from './store.ts';
import { TtlSweeper } from './ttl.ts';
import { Connection } from './wire/connection.ts';
import type { Request } from './wire/message.ts';

export interface EmbeddedStoreOptions {
  /** Directory of the data file, made when missing (0700). One process at a time uses it. */
  readonly dir: string;
  /** Where to listen; `<dir>/store.sock` unless given. */
  readonly socketPath?: string;
  /** `fsync`: a write is answered when it is on the disk. `none`: for tests, a power failure may ruin the file. */
  readonly durability: Durability;
  /** Milliseconds since 1970, for `$$NOW`, TTL and new ObjectIds. */
  readonly now?: () => number;
  /** How often expired documents are looked for; a minute, as in mongod, unless given. */
  readonly ttlEveryMs?: number;
  /** Called once when a commit has failed: the process must end. */
  readonly onFatal?: (error: unknown) => void;
}

export interface EmbeddedStore {
  /** For the driver: `mongodb://%2F…%2Fstore.sock` */
  readonly uri: string;
  /** Resolves when no client is connected any more, or after `timeoutMs`. Meanwhile the store serves as before. */
  clientsGone(timeoutMs: number): Promise<void>;
  /** Closes the connections and the file, and gives the directory free. */
  close(): Promise<void>;
}

const TTL_EVERY_MS = 60_000;

/** Starts the store in this process. Throws `StartError` when the directory cannot be used, or another living process has it. */
export async function startEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const dir = resolve(options.dir);
  makeOwnDirectory(dir);
  chmodSync(dir, 0o700);
  const lock = acquireLock(dir);
  const socketPath = options.socketPath ?? embeddedSocketPath(dir);
  const store = new Store(dir, options.durability, options.now ?? Date.now);
  const signal = new ChangeSignal(dir, systemClock);
  const commits = new GroupCommit(store, signal, options.onFatal ?? (() => {}));
  const sweeper = new TtlSweeper(store, commits, options.ttlEveryMs ?? TTL_EVERY_MS);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new Connection(socket, (request, done) => dispatch(store, commits, request, done));
  });
  rmSync(socketPath, { force: true }); // left by a process that was killed; the lock says that it is not in use
  await listen(server, socketPath);
  return {
    uri: `mongodb://${encodeURIComponent(socketPath)}`,
    clientsGone: (timeoutMs) => allGone(sockets, timeoutMs),
    close: async () => {
      sweeper.stop();
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      await commits.settled();
      signal.close();
      if (commits.failed === undefined) await store.database.close();
      lock.release();
    },
  };
}

function dispatch(store: Store, commits: GroupCommit, request: Request, done: (reply: Buffer) => void): void {
  if (commits.failed !== undefined) {
    done(commits.failed);
    return;
  }
  try {
    const command = new Command(request.body, request.sequences);
    const handler = handlerOf(command);
    if (handler.kind === 'write') {
      commits.add(() => handler.run(store, command), done);
      return;
    }
    const reply = handler.run(store, command);
    // A read that gave way to others may have gone on after the disk had failed.
    const answer = (found: Buffer) => done(commits.failed ?? found);
    if (reply instanceof Promise) reply.then(answer, (error: unknown) => answer(errorReply(error)));
    else done(reply);
  } catch (error) {
    done(errorReply(error));
  }
}

async function listen(server: Server, socketPath: string): Promise<void> {
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    // The mask makes the socket 0600 from its first moment on; it replaces a password.
    const mask = process.umask(0o177);
    server.listen(socketPath, () => {
      server.removeListener('error', failed);
      listening();
    });
    process.umask(mask);
  });
  chmodSync(socketPath, 0o600);
}

async function allGone(sockets: ReadonlySet<Socket>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (sockets.size > 0 && performance.now() < deadline) {
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
