import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'bson';
import { expect } from 'chai';
import { ChangeSignal } from '../../../shared/mongo/change-signal.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { Command } from '../../../workers/embedded-db/commands/command.ts';
import { handlerOf } from '../../../workers/embedded-db/commands/registry.ts';
import { Store } from '../../../workers/embedded-db/commands/store.ts';
import { GroupCommit } from '../../../workers/embedded-db/group-commit.ts';
import { checkTables } from '../../../workers/embedded-db/storage/check.ts';
import { tempDir } from './store-under-test.ts';

type Reply = Readonly<Record<string, unknown>>;

const DOCS = 3_000;

describe('embedded-db writes of many documents', () => {
  let dir: string;
  let store: Store;
  let commits: GroupCommit;
  beforeEach(async () => {
    dir = tempDir();
    store = new Store(dir, 'none', Date.now);
    const events = { full: () => {}, room: () => {}, notStored: () => {}, fatal: () => {} };
    commits = new GroupCommit(store, new ChangeSignal(dir, systemClock), events);
    await run({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] });
    await run({ insert: 'c', documents: Array.from({ length: DOCS }, (_, i) => ({ _id: i, a: i, n: 0 })) });
  });
  afterEach(async () => {
    await commits.settled();
    await store.database.close();
    rmSync(dir, { recursive: true, force: true });
  });

  function run(body: object): Promise<Reply> {
    const command = new Command(Buffer.from(serialize({ ...body, $db: 'x' })), new Map());
    const handler = handlerOf(command);
    if (handler.kind !== 'write') throw new Error('no write');
    return new Promise((resolve) => {
      commits.add(
        () => handler.run(store, command),
        (reply) => resolve(deserialize(reply)),
      );
    });
  }

  /** Runs `other` after each group until `long` is done; gives how often. */
  async function beside(long: Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
    let done = false;
    let times = 0;
    void long.then(() => {
      done = true;
    });
    while (!done) {
      await other();
      times++;
    }
    return times;
  }

  function all(from = store): Reply[] {
    const { database } = from;
    const id = from.catalog.get('x.c')?.id ?? 0;
    const [start, end] = [Buffer.alloc(4), Buffer.alloc(4)];
    start.writeUInt32BE(id);
    end.writeUInt32BE(id + 1);
    return database.range(database.documents, { start, end }, false, 100_000).map(({ value }) => deserialize(value));
  }

  const incrementAll = { update: 'c', updates: [{ q: { a: { $gte: 0 } }, u: { $inc: { a: 1, n: 1 } }, multi: true }] };

  it('let others in between, and change each document once though it moves in the index', async () => {
    const long = run(incrementAll);
    const others = await beside(long, () => run({ insert: 'others', documents: [{}] }));

    expect(await long).to.deep.equal({ n: DOCS, nModified: DOCS, ok: 1 });
    expect(others).to.be.greaterThan(3);
    expect(all().map(({ a, n }) => [a, n])).to.deep.equal(Array.from({ length: DOCS }, (_, i) => [i + 1, 1]));
  });

  it('leave alone what another command changed or removed in between', async () => {
    const long = run({ update: 'c', updates: [{ q: { n: 0 }, u: { $set: { n: 1 } }, multi: true }] });
    await run({ update: 'c', updates: [{ q: { _id: DOCS - 1 }, u: { $set: { n: 7 } } }] });
    await run({ delete: 'c', deletes: [{ q: { _id: DOCS - 2 }, limit: 1 }] });

    expect(await long).to.deep.equal({ n: DOCS - 2, nModified: DOCS - 2, ok: 1 });
    expect(all().filter(({ n }) => n !== 1)).to.deep.equal([{ _id: DOCS - 1, a: DOCS - 1, n: 7 }]);
  });

  it('are done once though a fault in another command undoes their groups', async () => {
    const faulty = (): Promise<Reply> =>
      new Promise((resolve) => {
        const work = (): never => {
          store.catalog.ensure('x', 'made');
          store.database.put(store.database.meta, Buffer.from('zz'), Buffer.from('1'));
          throw new TypeError('a fault of ours');
        };
        commits.add(work, (reply) => resolve(deserialize(reply)));
      });

    const long = run(incrementAll);
    const faults = await beside(long, faulty);

    expect(await long).to.deep.equal({ n: DOCS, nModified: DOCS, ok: 1 });
    expect(faults).to.be.greaterThan(3);
    expect(all().every(({ n }) => n === 1)).to.equal(true);
    expect(checkTables(store.database, () => {}).problems).to.deep.equal([]);
  });

  it('leave some documents wholly changed when the process dies in the middle, and the others as they were', async () => {
    const copy = join(dir, 'copy');
    mkdirSync(copy);
    const long = run({ delete: 'c', deletes: [{ q: { a: { $gte: 0 } }, limit: 0 }] });
    for (let group = 0; group < 3; group++) await run({ insert: 'others', documents: [{}] }); // the first only looks
    for (const name of ['data.mdb', 'data.log']) copyFileSync(join(dir, name), join(copy, name));
    const left = new Store(copy, 'none', Date.now);

    expect(all(left).length).to.be.within(1, DOCS - 1);
    expect(checkTables(left.database, () => {}).problems).to.deep.equal([]);
    await left.database.close();
    expect(await long).to.deep.equal({ n: DOCS, ok: 1 });
  });

  it('end where they are when the store stops', async () => {
    const long = run(incrementAll);
    await commits.settled();

    expect(await long).to.include({ ok: 0, code: 11600 });
    expect(checkTables(store.database, () => {}).problems).to.deep.equal([]);
  });

  it('make many inserts of one command in parts, in order', async () => {
    const documents = Array.from({ length: DOCS }, (_, i) => ({ _id: i === 2_000 ? 5 : i }));
    const long = run({ insert: 'many', documents });
    const others = await beside(long, () => run({ insert: 'others', documents: [{}] }));

    const { n, writeErrors } = await long;
    expect(n).to.equal(2_000);
    expect(writeErrors).to.have.lengthOf(1);
    expect(others).to.be.greaterThan(2);
  });
});
