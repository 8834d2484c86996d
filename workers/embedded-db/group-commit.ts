import type { ChangeSignal } from '../../shared/platform/runtime/change-signal.ts';
import { beginEffort } from './bson/effort.ts';
import { StoreError } from './bson/errors.ts';
import { errorReply, OK } from './commands/command.ts';
import { type Progress, Rest, type Store } from './commands/store.ts';
import { isDiskFull } from './storage/store-files.ts';

interface Job {
  readonly run: () => Progress;
  readonly done: (reply: Buffer) => void;
}

/** mongod's `ShutdownInProgress`: drivers treat it as a server that is going away. */
const SHUTDOWN_IN_PROGRESS = 91;
/** mongod's `OutOfDiskSpace`. */
const OUT_OF_DISK_SPACE = 14031;

/** mongod's `InterruptedAtShutdown`. */
const INTERRUPTED = errorReply(new StoreError(11600, 'the store is stopping: a part of the command is done'));

/** `full` and `room` are called in turn, never one of them twice in a row. */
export interface DiskEvents {
  /** Writes are refused until there is room; reads go on. */
  full(error: unknown): void;
  room(): void;
  /** The tables could not be stored: the log grows meanwhile. */
  notStored(error: unknown): void;
  /** Expired documents cannot be removed, because they are damaged. Called once for each index. */
  notExpired(error: unknown): void;
  /** The process must end: nobody knows what is on the disk. */
  fatal(error: unknown): void;
}

/**
 * All write commands that arrive in one turn of the event loop, from any connection, form ONE group of the log with one
 * fsync, and are answered after it; a long command does a part of its work in each of several groups (`Slice`).
 * Commands that arrive while the disk works share the next group. A failed command has written nothing (see
 * `Documents`), so it does not affect its group. A command that ends with an error that is no answer to it (our bug, a
 * fault of LMDB) is undone.
 *
 * When the disk is full, the group is undone and its commands are answered with 14031, and so is every later write
 * until the log has room for as much again. After another failed write (I/O error), each of its commands and every
 * later one, reads too, gets an error: nobody knows what is on the disk, so the process must end. `fatal` does that.
 */
export class GroupCommit {
  private readonly store: Store;
  private readonly signal: ChangeSignal;
  private readonly events: DiskEvents;
  private jobs: Job[] = [];
  private checkpoints: ((stored: boolean) => void)[] = [];
  private busy = false;
  private refusal: Buffer | undefined;
  private ending = false;
  /** While the disk is full: the answer to writes, and the bytes that the log had no room for. */
  private full: { readonly answer: Buffer; readonly bytes: number } | undefined;

  constructor(store: Store, signal: ChangeSignal, events: DiskEvents) {
    this.store = store;
    this.signal = signal;
    this.events = events;
  }

  add(run: () => Progress, done: (reply: Buffer) => void): void {
    this.jobs.push({ run, done });
    this.start();
  }

  /** For a read that failed because of the store or LMDB: undoes what is not stored, then answers with the error. */
  addFault(error: unknown, done: (reply: Buffer) => void): void {
    const fail = (): never => {
      throw error;
    };
    this.add(fail, done);
  }

  private start(): void {
    if (this.busy) return;
    this.busy = true;
    setImmediate(() => void this.commitAll());
  }

  /** Stores the tables between two groups. Rejects when the disk fails, has failed, or is full. */
  checkpoint(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.checkpoints.push((stored) => (stored ? resolve() : reject(this.checkpointRefused())));
      this.start();
    });
  }

  private checkpointRefused(): Error {
    if (this.failed !== undefined) return new Error('the commit failed');
    return new StoreError(
      OUT_OF_DISK_SPACE,
      `the tables could not be stored: ${textOf(this.store.database.checkpointError)}`,
    );
  }

  /** The answer to every command after the disk has failed: memory may contain what is not stored. */
  get failed(): Buffer | undefined {
    return this.refusal;
  }

  /** Resolves when nothing waits for a commit. Long writes end where they are, as those of mongod at a stop. */
  async settled(): Promise<void> {
    this.ending = true;
    while (this.busy) await new Promise((resolve) => setImmediate(resolve));
  }

  private async commitAll(): Promise<void> {
    while (this.jobs.length > 0 || this.checkpoints.length > 0) {
      const jobs = this.jobs;
      this.jobs = [];
      await this.commit(jobs);
      await this.tellCheckpoints();
      // Jobs added by finished ones (ttl.ts) must not block all others.
      if (this.jobs.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.busy = false;
  }

  private async tellCheckpoints(): Promise<void> {
    if (this.checkpoints.length === 0) return;
    let stored = false;
    await this.orFail(async () => {
      stored = await this.storeTables();
    });
    for (const done of this.checkpoints.splice(0)) done(stored);
  }

  private async storeTables(): Promise<boolean> {
    const { database } = this.store;
    const stored = await database.checkpoint();
    if (!stored) {
      const cause = database.checkpointError;
      const sentence = `data.mdb could not be stored in ${database.dir} (${textOf(cause)}), for want of room or by a fault of the disk. Make room, or look at the disk's own log. data.log keeps what data.mdb lacks; this is tried again.`;
      this.events.notStored(new Error(sentence, { cause }));
    }
    return stored;
  }

  private async commit(jobs: readonly Job[]): Promise<void> {
    const { database, documents } = this.store;
    let replies: readonly Progress[] = [];
    await this.orFail(async () => {
      replies = this.hasRoom() ? await this.runOrUndo(jobs) : jobs.map(() => this.full?.answer ?? OK);
    });
    const ran = this.refusal === undefined ? jobs.slice(0, replies.length) : jobs;
    for (const [i, { done }] of ran.entries()) {
      const answer = this.refusal ?? replies[i] ?? errorReply(new Error('no reply'));
      if (!(answer instanceof Rest)) done(answer);
      else if (this.ending) done(INTERRUPTED);
      else this.jobs.push({ run: answer.next, done });
    }
    this.jobs.unshift(...jobs.slice(ran.length));
    this.signal.note(documents.changed);
    documents.changed.clear();
    if (database.checkpointDue) await this.orFail(async () => void (await this.storeTables()));
  }

  /** Whether writes can be tried. Calls `room` when they can again. */
  private hasRoom(): boolean {
    if (this.full === undefined) return true;
    if (!this.store.database.hasRoom(this.full.bytes)) return false;
    this.full = undefined;
    this.events.room();
    return true;
  }

  private async runOrUndo(jobs: readonly Job[]): Promise<readonly Progress[]> {
    const { database } = this.store;
    try {
      return await this.runAll(jobs);
    } catch (error) {
      if (!isDiskFull(error, database.dir)) throw error;
      const sentence = `the disk is full: nothing could be written in ${database.dir} (${textOf(error)}). Make room: writes go on by themselves.`;
      const full = { answer: errorReply(new StoreError(OUT_OF_DISK_SPACE, sentence)), bytes: database.pending };
      await this.undo();
      this.full = full;
      this.events.full(new Error(sentence, { cause: error }));
      return jobs.map(() => full.answer);
    }
  }

  private async undo(): Promise<void> {
    await this.store.database.undo();
    this.store.reload();
  }

  /**
   * The replies, in order: of all jobs, or of those up to a command that met a fault. That command is undone together
   * with its group, and the ones before it are run once more, which is safe.
   */
  private async runAll(jobs: readonly Job[]): Promise<readonly Progress[]> {
    const replies: Progress[] = [];
    const fault = this.tryAll(jobs, replies);
    if (fault === undefined) return replies;
    if (isDiskFull(fault.error, this.store.database.dir)) throw fault.error;
    await this.undo();
    const again: Progress[] = [];
    const second = this.tryAll(jobs.slice(0, replies.length), again);
    if (second !== undefined) throw second.error;
    return [...again, errorReply(fault.error)];
  }

  /**
   * Runs them as one group of the log. Returns the first error that is no StoreError: a fault even when nothing has
   * been written yet, because LMDB refuses everything in a transaction in which a read or a write failed.
   */
  private tryAll(jobs: readonly Job[], replies: Progress[]): { readonly error: unknown } | undefined {
    const { database, catalog } = this.store;
    let fault: { readonly error: unknown } | undefined;
    try {
      database.write(() => {
        for (const job of jobs) {
          beginEffort(); // A part of a long command follows what others have spent.
          try {
            replies.push(job.run());
          } catch (error) {
            if (!(error instanceof StoreError)) {
              fault = { error };
              throw error;
            }
            replies.push(errorReply(error));
          }
        }
        catalog.flush();
      });
    } catch (error) {
      if (fault?.error !== error) throw error;
    }
    return fault;
  }

  /** Runs the action, unless one has failed before. */
  private async orFail(action: () => Promise<void> | void): Promise<void> {
    if (this.refusal !== undefined) return;
    try {
      await action();
    } catch (error) {
      // Not the commands' fault: clients should come back when the process has restarted.
      this.refusal = errorReply(
        new StoreError(SHUTDOWN_IN_PROGRESS, `the store could not write to its disk and ends: ${textOf(error)}`),
      );
      this.events.fatal(error);
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
