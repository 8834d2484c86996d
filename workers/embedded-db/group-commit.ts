import type { ChangeSignal } from '../../shared/mongo/change-signal.ts';
import { StoreError } from './bson/errors.ts';
import { errorReply } from './commands/reply.ts';
import type { Store } from './commands/store.ts';

interface Job {
  readonly run: () => Buffer;
  readonly done: (reply: Buffer) => void;
}

/** mongod's `ShutdownInProgress`: drivers treat it as a server that is going away. */
const SHUTDOWN_IN_PROGRESS = 91;

/**
 * All write commands that arrive in one turn of the event loop, from any connection, form ONE group of the log with one fsync.
 * They are answered after it. Commands that arrive while the disk works share the next group. A failed command has written
 * nothing (see `Documents`), so it does not affect the others of its group. A command that meets a bug of ours in the middle of
 * its writes is undone.
 *
 * When the group cannot be written (disk full, I/O error), each of its commands gets an error, and so does every later one, reads
 * too: memory is then ahead of the disk, so the process must end. `onFatal` does that.
 */
export class GroupCommit {
  private readonly store: Store;
  private readonly signal: ChangeSignal;
  private readonly onFatal: (error: unknown) => void;
  private jobs: Job[] = [];
  /** Callbacks that wait for a checkpoint. */
  private checkpoints: (() => void)[] = [];
  /** True from the first job until no more jobs wait. */
  private busy = false;
  private refusal: Buffer | undefined;

  constructor(store: Store, signal: ChangeSignal, onFatal: (error: unknown) => void) {
    this.store = store;
    this.signal = signal;
    this.onFatal = onFatal;
  }

  add(run: () => Buffer, done: (reply: Buffer) => void): void {
    this.jobs.push({ run, done });
    this.start();
  }

  private start(): void {
    if (this.busy) return;
    this.busy = true;
    setImmediate(() => void this.commitAll());
  }

  /** Stores the tables between two groups. Rejects when the disk fails, or has failed. */
  checkpoint(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.checkpoints.push(() => (this.failed === undefined ? resolve() : reject(new Error('the commit failed'))));
      this.start();
    });
  }

  /** The answer to every command after the disk has failed: memory may contain what is not stored. */
  get failed(): Buffer | undefined {
    return this.refusal;
  }

  /** Resolves when nothing waits for a commit. */
  async settled(): Promise<void> {
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
    await this.orFail(() => this.store.database.checkpoint());
    for (const done of this.checkpoints.splice(0)) done();
  }

  private async commit(jobs: readonly Job[]): Promise<void> {
    const { database, documents } = this.store;
    let replies: readonly Buffer[] = [];
    await this.orFail(async () => {
      replies = await this.runAll(jobs);
    });
    const ran = this.refusal === undefined ? jobs.slice(0, replies.length) : jobs;
    for (const [i, job] of ran.entries()) job.done(this.refusal ?? replies[i] ?? errorReply(new Error('no reply')));
    this.jobs.unshift(...jobs.slice(ran.length));
    this.signal.note(documents.changed);
    documents.changed.clear();
    if (database.checkpointDue) await this.orFail(() => database.checkpoint());
  }

  /**
   * The replies, in order: of all jobs, or of those up to a command that met a bug of ours in the middle of its writes. That
   * command is undone together with its group, and the ones before it are run once more, which is safe.
   */
  private async runAll(jobs: readonly Job[]): Promise<readonly Buffer[]> {
    const replies: Buffer[] = [];
    const fault = this.tryAll(jobs, replies);
    if (fault === undefined) return replies;
    await this.store.database.undo();
    this.store.catalog.reload();
    this.store.documents.changed.clear();
    const again: Buffer[] = [];
    const second = this.tryAll(jobs.slice(0, replies.length), again);
    if (second !== undefined) throw second.error;
    return [...again, errorReply(fault.error)];
  }

  /** Runs them as one group of the log. Returns the error that a command had after its first change. */
  private tryAll(jobs: readonly Job[], replies: Buffer[]): { readonly error: unknown } | undefined {
    const { database, catalog } = this.store;
    let fault: { readonly error: unknown } | undefined;
    try {
      database.write(() => {
        for (const job of jobs) {
          const before = database.pending + catalog.edits;
          try {
            replies.push(job.run());
          } catch (error) {
            fault = { error };
            if (!(error instanceof StoreError) && database.pending + catalog.edits !== before) throw error;
            fault = undefined;
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

  /** After the first failure it does nothing. */
  private async orFail(action: () => Promise<void> | void): Promise<void> {
    if (this.refusal !== undefined) return;
    try {
      await action();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Not the commands' fault: clients should come back when the process has restarted.
      this.refusal = errorReply(new StoreError(SHUTDOWN_IN_PROGRESS, `the commit failed, the store ends: ${why}`));
      this.onFatal(error);
    }
  }
}
