import { DroppedRemover } from '../../../workers/embedded-db/server.ts';
import { eventually } from '../../support/eventually.ts';
import { problemsOf, type Reply, StoreInGroups } from './store-in-groups.ts';

const DOCS = 4_000;

describe('embedded-db drop of much', () => {
  let world: StoreInGroups;
  beforeEach(async () => {
    world = new StoreInGroups();
    await run({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] });
    await run({ insert: 'c', documents: Array.from({ length: DOCS }, (_, i) => ({ _id: i, a: i })) });
  });
  afterEach(() => world.close());

  const run = (body: object): Promise<Reply> => world.run(body);

  function left(): { readonly documents: number; readonly entries: number } {
    const { database } = world.store;
    const range = { start: Buffer.alloc(4), end: Buffer.alloc(4, 0xff) };
    const count = (table: typeof database.documents): number => database.range(table, range, false, 100_000).length;
    return { documents: count(database.documents), entries: count(database.entries) };
  }

  it('is answered after a part of the work, and nothing of it is seen again', async () => {
    expect(await run({ drop: 'c' })).to.include({ ok: 1, nIndexesWas: 2 });

    expect(left().documents + left().entries).to.be.within(1, DOCS * 2 - 1_000);
    expect((await world.read({ count: 'c' })).n).to.equal(0);
    await run({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] });
    await run({ insert: 'c', documents: [{ _id: 1, a: 1 }] });
    expect((await world.read({ count: 'c' })).n).to.equal(1);
    expect(problemsOf(world.store)).to.deep.equal([]);
  });

  it('of an index leaves the documents alone', async () => {
    expect(await run({ dropIndexes: 'c', index: 'a' })).to.include({ ok: 1, nIndexesWas: 2 });

    expect(left().documents).to.equal(DOCS);
    expect(left().entries).to.be.within(1, DOCS - 1_000);
    expect(problemsOf(world.store)).to.deep.equal([]);
  });

  it('that an earlier process began is done by the next one', async () => {
    await run({ insert: 'kept', documents: [{ _id: 1 }] });
    await run({ dropDatabase: 1 });
    await run({ insert: 'kept', documents: [{ _id: 2 }] });
    await world.stop();

    world = new StoreInGroups(world.dir);
    expect(world.store.garbage.waits).to.equal(true);
    const remover = new DroppedRemover(world.store, world.commits);
    await eventually(() => !world.store.garbage.waits, 'all is removed');
    remover.stop();

    expect(left()).to.deep.equal({ documents: 1, entries: 0 });
    expect((await world.read({ count: 'kept' })).n).to.equal(1);
  });
});
