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
 * All write commands that arrive in one turn of the event loop, from whatever connection, run in ONE transaction with one
 * fsync, and are answered after it; what arrives while the disk works shares the next. A command that fails has written
 * nothing (see `Documents`), so it does not disturb the others of its group.
 *
 * When the commit itself fails (disk full, I/O error) every command of the group gets an error, and so does everything
 * after it: the catalogue in memory may be ahead of the disk, so the process must end. `onFatal` does that.
 */
export class GroupCommit {
  private readonly store: Store;
  private readonly signal: ChangeSignal;
  private readonly onFatal: (error: unknown) => void;
  private jobs: Job[] = [];
  private scheduled = false;
  private failure: unknown;

  constructor(store: Store, signal: ChangeSignal, onFatal: (error: unknown) => void) {
    this.store = store;
    this.signal = signal;
    this.onFatal = onFatal;
  }

  add(run: () => Buffer, done: (reply: Buffer) => void): void {
    this.jobs.push({ run, done });
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.commit());
  }

  /** Resolves when nothing waits for a commit any more. */
  async settled(): Promise<void> {
    while (this.scheduled) await new Promise((resolve) => setImmediate(resolve));
  }

  private commit(): void {
    const jobs = this.jobs;
    this.jobs = [];
    this.scheduled = false;
    const replies: Buffer[] = [];
    if (this.failure === undefined) {
      try {
        this.store.database.write(() => {
          for (const job of jobs) replies.push(this.runOne(job));
          this.store.catalog.flush();
        });
      } catch (error) {
        this.failure = error;
      }
    }
    if (this.failure === undefined) {
      for (const [i, job] of jobs.entries()) job.done(replies[i] ?? errorReply(new Error('no reply')));
      this.signal.note(this.store.documents.changed);
      this.store.documents.changed.clear();
      return;
    }
    const why = this.failure instanceof Error ? this.failure.message : String(this.failure);
    // Not a fault of the commands: clients are to come again when the process has been started anew.
    const failed = errorReply(new StoreError(SHUTDOWN_IN_PROGRESS, `the commit failed, the store ends: ${why}`));
    for (const job of jobs) job.done(failed);
    this.onFatal(this.failure);
  }

  private runOne(job: Job): Buffer {
    const writes = this.store.documents.writes;
    try {
      return job.run();
    } catch (error) {
      // A fault of ours after the first write leaves half a command: only giving up the whole transaction undoes it.
      if (!(error instanceof StoreError) && this.store.documents.writes !== writes) throw error;
      return errorReply(error);
    }
  }
}
