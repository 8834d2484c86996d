import { documentsOf, problemsOf, type Reply, StoreInGroups } from './store-in-groups.ts';

const DOCS = 3_000;

describe('embedded-db writes of many documents', () => {
  let world: StoreInGroups;
  beforeEach(async () => {
    world = new StoreInGroups();
    await run({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] });
    await run({ insert: 'c', documents: Array.from({ length: DOCS }, (_, i) => ({ _id: i, a: i, n: 0 })) });
  });
  afterEach(() => world.close());

  const run = (body: object): Promise<Reply> => world.run(body);

  const incrementAll = { update: 'c', updates: [{ q: { a: { $gte: 0 } }, u: { $inc: { a: 1, n: 1 } }, multi: true }] };

  it('let others in between, and change each document once though it moves in the index', async () => {
    const long = run(incrementAll);
    const others = await world.beside(long, () => run({ insert: 'others', documents: [{}] }));

    expect(await long).to.deep.equal({ n: DOCS, nModified: DOCS, ok: 1 });
    expect(others).to.be.greaterThan(3);
    expect(documentsOf(world.store).map(({ a, n }) => [a, n])).to.deep.equal(
      Array.from({ length: DOCS }, (_, i) => [i + 1, 1]),
    );
  });

  it('leave alone what another command changed or removed in between', async () => {
    const long = run({ update: 'c', updates: [{ q: { n: 0 }, u: { $set: { n: 1 } }, multi: true }] });
    await run({ update: 'c', updates: [{ q: { _id: DOCS - 1 }, u: { $set: { n: 7 } } }] });
    await run({ delete: 'c', deletes: [{ q: { _id: DOCS - 2 }, limit: 1 }] });

    expect(await long).to.deep.equal({ n: DOCS - 2, nModified: DOCS - 2, ok: 1 });
    expect(documentsOf(world.store).filter(({ n }) => n !== 1)).to.deep.equal([{ _id: DOCS - 1, a: DOCS - 1, n: 7 }]);
  });

  it('are done once though a fault in another command undoes their groups', async () => {
    const long = run(incrementAll);
    const faults = await world.beside(long, () => world.fault());

    expect(await long).to.deep.equal({ n: DOCS, nModified: DOCS, ok: 1 });
    expect(faults).to.be.greaterThan(3);
    expect(documentsOf(world.store).every(({ n }) => n === 1)).to.equal(true);
    expect(problemsOf(world.store)).to.deep.equal([]);
  });

  it('leave some documents wholly changed when the process dies in the middle, and the others as they were', async () => {
    const long = run({ delete: 'c', deletes: [{ q: { a: { $gte: 0 } }, limit: 0 }] });
    for (let group = 0; group < 3; group++) await run({ insert: 'others', documents: [{}] }); // the first only looks
    await world.ifKilled((left) => {
      expect(documentsOf(left).length).to.be.within(1, DOCS - 1);
      expect(problemsOf(left)).to.deep.equal([]);
    });
    expect(await long).to.deep.equal({ n: DOCS, ok: 1 });
  });

  it('end where they are when the store stops', async () => {
    const long = run(incrementAll);
    await world.commits.settled();

    expect(await long).to.include({ ok: 0, code: 11600 });
    expect(problemsOf(world.store)).to.deep.equal([]);
  });

  it('make many inserts of one command in parts, in order', async () => {
    const documents = Array.from({ length: DOCS }, (_, i) => ({ _id: i === 2_000 ? 5 : i }));
    const long = run({ insert: 'many', documents });
    const others = await world.beside(long, () => run({ insert: 'others', documents: [{}] }));

    const { n, writeErrors } = await long;
    expect(n).to.equal(2_000);
    expect(writeErrors).to.have.lengthOf(1);
    expect(others).to.be.greaterThan(2);
  });
});
