import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { ChangeSignal } from '../../shared/platform/runtime/change-signal.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { makeOwnDirectory } from '../../shared/platform/runtime/own-file.ts';
import { type DirectoryLock, embeddedSocketPath, listenForOwner } from '../../shared/platform/runtime/unix-socket.ts';
import { beginEffort } from './bson/effort.ts';
import { StoreError } from './bson/errors.ts';
import { removeGarbage } from './commands/collections.ts';
import { Command, errorReply } from './commands/command.ts';
import { handlerOf } from './commands/registry.ts';
import { Store } from './commands/store.ts';
import { type DiskEvents, GroupCommit } from './group-commit.ts';
import type { Durability } from './storage/database.ts';
import type { Recovery } from './storage/read-log.ts';
import { narrowModes, takeStore, tellDamage } from './storage/store-files.ts';
import { TtlSweeper } from './ttl.ts';
import { Connection, type Request } from './wire.ts';

export interface EmbeddedStoreOptions {
  /** Directory of the data file; created when missing (0700). One process at a time may use it. */
  readonly dir: string;
  /** Where to listen; `<dir>/store.sock` unless given. */
  readonly socketPath?: string;
  /** `fsync`: a write is answered when it is on the disk. `none`: for tests; a power failure may ruin the file. */
  readonly durability: Durability;
  /** Milliseconds since 1970, for `$$NOW`, TTL and new ObjectIds. */
  readonly now?: () => number;
  /** How often expired documents are removed; default a minute, as in mongod. */
  readonly ttlEveryMs?: number;
  /** Called when writes to the disk fail, and when they are possible again. */
  readonly disk?: DiskEvents;
}

export interface EmbeddedStore {
  /** The driver's address: `mongodb://%2F…%2Fstore.sock` */
  readonly uri: string;
  readonly recovery: Recovery;
  /** Resolves when no client is connected, or after `timeoutMs`. Until then the store serves as before. */
  clientsGone(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

const TTL_EVERY_MS = 60_000;
const UNHEARD: DiskEvents = { full() {}, room() {}, notStored() {}, notExpired() {}, fatal() {} };

/** Starts the store in this process. Throws `StartError` when the directory is unusable, or in use by a process. */
export async function startEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const dir = resolve(options.dir);
  makeOwnDirectory(dir);
  narrowModes(dir);
  const socketPath = options.socketPath ?? embeddedSocketPath(dir);
  const lock = await takeStore(dir);
  try {
    return await tellDamage(dir, () => serve({ ...options, dir, socketPath }, lock));
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function serve(
  options: EmbeddedStoreOptions & { readonly socketPath: string },
  lock: DirectoryLock,
): Promise<EmbeddedStore> {
  const { dir, socketPath } = options;
  const store = new Store(dir, options.durability, options.now ?? Date.now);
  const signal = new ChangeSignal(dir, systemClock);
  const { disk = UNHEARD, ttlEveryMs = TTL_EVERY_MS } = options;
  const commits = new GroupCommit(store, signal, disk);
  const sweeper = new TtlSweeper(store, commits, ttlEveryMs, (error) => disk.notExpired(error));
  const remover = new DroppedRemover(store, commits);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new Connection(socket, (request, done) => dispatch(store, commits, request, done));
  });
  rmSync(socketPath, { force: true }); // left by a process that was killed
  await listenForOwner(server, socketPath);
  return {
    uri: `mongodb://${encodeURIComponent(socketPath)}`,
    recovery: store.database.recovery,
    clientsGone: (timeoutMs) => allGone(sockets, timeoutMs),
    close: async () => {
      sweeper.stop();
      remover.stop();
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      await commits.settled();
      signal.close();
      if (commits.failed === undefined) await store.database.close();
      await lock.release();
    },
  };
}

function dispatch(store: Store, commits: GroupCommit, request: Request, done: (reply: Buffer) => void): void {
  if (commits.failed !== undefined) {
    done(commits.failed);
    return;
  }
  try {
    if (request.refusal !== undefined) throw request.refusal;
    beginEffort();
    const command = new Command(request.body, request.sequences);
    const handler = handlerOf(command);
    if (handler.kind === 'write') {
      commits.add(() => handler.run(store, command), done);
      return;
    }
    const reply =
      handler.kind === 'stored' && handler.needed(command)
        ? commits.checkpoint().then(() => handler.run(store, command))
        : handler.run(store, command);
    // A read that paused for others may have continued after the disk failed.
    const answer = (found: Buffer) => done(commits.failed ?? found);
    if (reply instanceof Promise) reply.then(answer, (error: unknown) => answerError(commits, error, answer));
    else done(reply);
  } catch (error) {
    answerError(commits, error, done);
  }
}

function answerError(commits: GroupCommit, error: unknown, done: (reply: Buffer) => void): void {
  if (error instanceof StoreError) done(errorReply(error));
  else commits.addFault(error, done);
}

async function allGone(sockets: ReadonlySet<Socket>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (sockets.size > 0 && performance.now() < deadline) {
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

const DROPPED_EVERY_MS = 1_000;

/** Removes what large drops, ended builds or an earlier process left, slice by slice between other work. */
export class DroppedRemover {
  private readonly store: Store;
  private readonly commits: GroupCommit;
  private readonly timer: NodeJS.Timeout;
  private removing = false;

  constructor(store: Store, commits: GroupCommit) {
    this.store = store;
    this.commits = commits;
    this.timer = setInterval(() => this.look(), DROPPED_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    if (this.removing || !this.store.garbage.waits) return;
    this.removing = true;
    this.commits.add(
      () => removeGarbage(this.store),
      () => {
        this.removing = false; // On a full disk some of it is left. The next call goes on.
      },
    );
  }
}
