import type { ChangeSignal } from '../../shared/mongo/change-signal.ts';
import { errorReply } from './commands/reply.ts';
import { StoreError } from './errors.ts';
import type { Store } from './store.ts';

interface Job {
  readonly run: () => Buffer;
  readonly done: (reply: Buffer) => void;
}

/** mongod's `ShutdownInProgress`: drivers take it for a server that is going away. */
const SHUTDOWN_IN_PROGRESS = 91;

/**
 * All write commands that arrive in one turn of the event loop, from whatever connection, are ONE group of the log with one
 * fsync, and are answered after it; what arrives while the disk works shares the next. A command that fails has written
 * nothing (see `Documents`), so it does not disturb the others of its group.
 *
 * When the group cannot be written (disk full, I/O error) each of its commands gets an error, and so does everything after
 * it, reads too: memory is ahead of the disk, so the process must end. `onFatal` does that.
 */
export class GroupCommit {
  private readonly store: Store;
  private readonly signal: ChangeSignal;
  private readonly onFatal: (error: unknown) => void;
  private jobs: Job[] = [];
  /** From the first job until no more wait. */
  private busy = false;
  private refusal: Buffer | undefined;

  constructor(store: Store, signal: ChangeSignal, onFatal: (error: unknown) => void) {
    this.store = store;
    this.signal = signal;
    this.onFatal = onFatal;
  }

  add(run: () => Buffer, done: (reply: Buffer) => void): void {
    this.jobs.push({ run, done });
    if (this.busy) return;
    this.busy = true;
    setImmediate(() => void this.commitAll());
  }

  /** The answer to every command once the disk has failed: what is in memory may not be stored. */
  get failed(): Buffer | undefined {
    return this.refusal;
  }

  /** Resolves when nothing waits for a commit any more. */
  async settled(): Promise<void> {
    while (this.busy) await new Promise((resolve) => setImmediate(resolve));
  }

  private async commitAll(): Promise<void> {
    while (this.jobs.length > 0) {
      const jobs = this.jobs;
      this.jobs = [];
      await this.commit(jobs);
      // Jobs that a finished one has added (ttl.ts) must not keep everybody else out.
      if (this.jobs.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.busy = false;
  }

  private async commit(jobs: readonly Job[]): Promise<void> {
    const { database, catalog, documents } = this.store;
    const replies: Buffer[] = [];
    await this.orFail(() =>
      database.write(() => {
        for (const job of jobs) replies.push(this.runOne(job));
        catalog.flush();
      }),
    );
    for (const [i, job] of jobs.entries()) job.done(this.refusal ?? replies[i] ?? errorReply(new Error('no reply')));
    this.signal.note(documents.changed);
    documents.changed.clear();
    if (database.checkpointDue) await this.orFail(() => database.checkpoint());
  }

  /** After the first failure nothing is done any more. */
  private async orFail(action: () => Promise<void> | void): Promise<void> {
    if (this.refusal !== undefined) return;
    try {
      await action();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Not a fault of the commands: clients are to come again when the process has been started anew.
      this.refusal = errorReply(new StoreError(SHUTDOWN_IN_PROGRESS, `the commit failed, the store ends: ${why}`));
      this.onFatal(error);
    }
  }

  private runOne(job: Job): Buffer {
    const writes = this.store.documents.writes;
    try {
      return job.run();
    } catch (error) {
      // A fault of ours after the first write leaves half a command: only giving up the whole group undoes it.
      if (!(error instanceof StoreError) && this.store.documents.writes !== writes) throw error;
      return errorReply(error);
    }
  }
}
