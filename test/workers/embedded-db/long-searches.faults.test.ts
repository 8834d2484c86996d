import { documentsOf, type Reply, StoreInGroups } from './store-in-groups.ts';

const DOCS = 5_000;

describe('embedded-db findAndModify without an index', () => {
  let world: StoreInGroups;
  beforeEach(async () => {
    world = new StoreInGroups();
    // The first in the sort, with the lowest priority, is stored last.
    const documents = Array.from({ length: DOCS }, (_, i) => ({ _id: i, state: 'queued', priority: DOCS - i }));
    await world.run({ insert: 'c', documents });
  });
  afterEach(() => world.close());

  const take = (): Promise<Reply> =>
    world.run({
      ...{ findAndModify: 'c', query: { state: 'queued' }, sort: { priority: 1 } },
      update: { $set: { state: 'taken' } },
    });
  const idOf = ({ value }: Reply): unknown => (value as Reply | null)?._id; // a document, or null

  it('lets others in between, and changes the first of all', async () => {
    const long = take();
    const others = await world.beside(long, () => world.run({ insert: 'others', documents: [{}] }));

    expect(idOf(await long)).to.equal(DOCS - 1);
    expect(others).to.be.greaterThan(2);
    expect(documentsOf(world.store).filter(({ state }) => state === 'taken')).to.have.lengthOf(1);
  });

  it('gives each of several the next one', async () => {
    const taken = await Promise.all(Array.from({ length: 4 }, take));

    expect(taken.map(idOf)).to.have.members([1, 2, 3, 4].map((i) => DOCS - i));
  });

  it('looks again when another command took the first, or moved it back', async () => {
    const [one, two] = [take(), take()];
    await world.run({ delete: 'c', deletes: [{ q: { _id: DOCS - 1 }, limit: 1 }] });
    await world.run({ update: 'c', updates: [{ q: { _id: DOCS - 2 }, u: { $set: { priority: DOCS * 2 } } }] });

    expect([idOf(await one), idOf(await two)]).to.have.members([DOCS - 3, DOCS - 4]);
  });

  it('changes the first as it is now when its place is the same', async () => {
    const long = world.run({
      ...{ findAndModify: 'c', query: { state: 'queued' }, sort: { priority: 1 }, new: true },
      update: { $set: { state: 'taken' } },
    });
    await world.run({ update: 'c', updates: [{ q: { _id: DOCS - 1 }, u: { $set: { seen: 1 } } }] });

    expect((await long).value).to.deep.equal({ _id: DOCS - 1, state: 'taken', priority: 1, seen: 1 });
  });

  it('is done once though a fault in another command undoes its groups', async () => {
    const long = take();
    await world.beside(long, () => world.fault());

    expect(idOf(await long)).to.equal(DOCS - 1);
    expect(documentsOf(world.store).filter(({ state }) => state === 'taken')).to.have.lengthOf(1);
  });

  it('inserts what it finds nowhere', async () => {
    const long = world.run({
      findAndModify: 'c',
      query: { x: 5 },
      update: { $set: { y: 1 } },
      upsert: true,
      new: true,
    });
    await world.run({ insert: 'others', documents: [{}] });

    expect(await long).to.deep.include({
      lastErrorObject: { n: 1, updatedExisting: false, upserted: idOf(await long) },
    });
    expect((await long).value).to.deep.include({ x: 5, y: 1 });
  });

  it('ends with 175 when its collection is dropped meanwhile', async () => {
    const long = take();
    await world.run({ drop: 'c' });

    expect(await long).to.include({ code: 175 });
  });
});
