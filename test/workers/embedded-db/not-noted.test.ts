import { readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { StoreInGroups } from './store-in-groups.ts';

describe('embedded-db checksums that cannot be written', () => {
  let store: StoreInGroups;
  beforeEach(() => {
    store = new StoreInGroups();
  });
  afterEach(() => store.close());

  async function checkpoint(_id: number): Promise<void> {
    await store.run({ insert: 'c', documents: [{ _id }] });
    await store.commits.checkpoint();
    await store.store.database.notes.ended;
  }

  /** How often this process has the tables open. */
  function handles(): number {
    const path = join(store.dir, 'data.mdb');
    return readdirSync('/proc/self/fd').filter((fd) => targetOf(fd) === path).length;
  }

  it('are told once until they can be, leave no file open, and are written with the next', async () => {
    const sums = join(store.dir, 'data.sums');
    const before = handles();
    rmSync(sums);
    symlinkSync(join(store.dir, 'nowhere', 'data.sums'), sums);

    for (const _id of [1, 2, 3]) await checkpoint(_id);
    expect(handles()).to.equal(before);
    expect(store.notNoted.join()).to.match(/checksums could not be noted in \S+data\.sums \(ENOENT.*tried again/);
    expect(store.notNoted).to.have.lengthOf(1);
    expect(await store.read({ find: 'c' }))
      .to.have.nested.property('cursor.firstBatch')
      .with.lengthOf(3);

    rmSync(sums);
    for (const _id of [4, 5]) await checkpoint(_id);
    expect(store.store.database.notes.error).to.equal(undefined);
    expect(store.notNoted).to.have.lengthOf(1);
  });
});

/** Undefined when it was closed meanwhile. */
function targetOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
