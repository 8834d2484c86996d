import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'bson';
import { ChangeSignal } from '../../../shared/platform/runtime/change-signal.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { Command } from '../../../workers/embedded-db/commands/command.ts';
import { handlerOf } from '../../../workers/embedded-db/commands/registry.ts';
import { Store } from '../../../workers/embedded-db/commands/store.ts';
import { GroupCommit } from '../../../workers/embedded-db/group-commit.ts';
import { checkTables } from '../../../workers/embedded-db/offline.ts';
import { tempDir } from './store-under-test.ts';

export type Reply = Readonly<Record<string, unknown>>;

/** A store without its socket: a test decides which commands share a group of the log, and sees the disk in between. */
export class StoreInGroups {
  readonly dir: string;
  readonly store: Store;
  readonly commits: GroupCommit;

  constructor(dir = tempDir()) {
    this.dir = dir;
    this.store = new Store(dir, 'none', Date.now);
    const events = {
      full: () => {},
      room: () => {},
      notStored: () => {},
      notExpired: () => {},
      fatal: () => {},
    };
    this.commits = new GroupCommit(this.store, new ChangeSignal(this.dir, systemClock), events);
  }

  async stop(): Promise<void> {
    await this.commits.settled();
    await this.store.database.close();
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** A write command of the database `x`. */
  run(body: object): Promise<Reply> {
    const command = new Command(Buffer.from(serialize({ ...body, $db: 'x' })), new Map());
    const handler = handlerOf(command);
    if (handler.kind !== 'write') throw new Error('no write');
    return new Promise((resolve) => {
      this.commits.add(
        () => handler.run(this.store, command),
        (reply) => resolve(deserialize(reply)),
      );
    });
  }

  async read(body: object): Promise<Reply> {
    const command = new Command(Buffer.from(serialize({ ...body, $db: 'x' })), new Map());
    const handler = handlerOf(command);
    if (handler.kind !== 'read') throw new Error('no read');
    return deserialize(await handler.run(this.store, command));
  }

  /** A command that throws a programming error in the middle of its writes, so that its group is undone. */
  fault(): Promise<Reply> {
    const { store } = this;
    const work = (): never => {
      store.catalog.ensure('x', 'made');
      store.database.put(store.database.meta, Buffer.from('zz'), Buffer.from('1'));
      throw new TypeError('a fault of ours');
    };
    return new Promise((resolve) => {
      this.commits.add(work, (reply) => resolve(deserialize(reply)));
    });
  }

  /** Repeats `other`, each time in another group, until `long` is done. Returns the number of repeats. */
  async beside(long: Promise<unknown>, other: (time: number) => Promise<unknown>): Promise<number> {
    let done = false;
    let times = 0;
    void long.then(() => {
      done = true;
    });
    while (!done) await other(times++);
    return times;
  }

  /** Opens a copy of the store as a kill would leave it now, and gives it to `look`. */
  async ifKilled(look: (left: Store) => void): Promise<void> {
    const copy = join(this.dir, 'copy');
    mkdirSync(copy);
    for (const name of ['data.mdb', 'data.log']) copyFileSync(join(this.dir, name), join(copy, name));
    const left = new Store(copy, 'none', Date.now);
    look(left);
    await left.database.close();
    rmSync(copy, { recursive: true });
  }
}

export function documentsOf({ database, catalog }: Store): Reply[] {
  const id = catalog.get('x.c')?.id ?? 0;
  const [start, end] = [Buffer.alloc(4), Buffer.alloc(4)];
  start.writeUInt32BE(id);
  end.writeUInt32BE(id + 1);
  return database.range(database.documents, { start, end }, false, 100_000).map(({ value }) => deserialize(value));
}

export function problemsOf({ database }: Store): readonly string[] {
  return checkTables(database, () => {}).problems;
}
