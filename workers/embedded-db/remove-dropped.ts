import { removeGarbage } from './commands/garbage.ts';
import type { Store } from './commands/store.ts';
import type { GroupCommit } from './group-commit.ts';

const LOOK_EVERY_MS = 1_000;

/** Removes what large drops, ended builds or an earlier process left, slice by slice between other work. */
export class DroppedRemover {
  private readonly store: Store;
  private readonly commits: GroupCommit;
  private readonly timer: NodeJS.Timeout;
  private removing = false;

  constructor(store: Store, commits: GroupCommit) {
    this.store = store;
    this.commits = commits;
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
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
