import type { Store } from '../../../workers/embedded-db/commands/store.ts';
import { Prng } from '../../support/prng.ts';
import { documentsOf, problemsOf, type Reply, StoreInGroups } from './store-in-groups.ts';

const DOCS = 3_000;

describe('embedded-db builds of indexes', () => {
  let world: StoreInGroups;
  beforeEach(async () => {
    world = new StoreInGroups();
    await run({ insert: 'c', documents: Array.from({ length: DOCS }, (_, i) => ({ _id: i, a: i, b: i % 7 })) });
  });
  afterEach(() => world.close());

  const run = (body: object): Promise<Reply> => world.run(body);
  const build = (...indexes: object[]): Promise<Reply> => run({ createIndexes: 'c', indexes });
  const A = { key: { a: 1 }, name: 'a' };
  const B = { key: { b: 1, a: -1 }, name: 'b' };
  const UNIQUE = { key: { a: 1 }, name: 'a', unique: true };
  const SEVERAL = [A, B, { key: { 'l.k': 1 }, name: 'l' }, { key: { s: 1 }, name: 's', sparse: true }];
  const insert = (...documents: object[]): Promise<Reply> => run({ insert: 'c', documents });
  const set = (_id: number, $set: object): Promise<Reply> =>
    run({ update: 'c', updates: [{ q: { _id }, u: { $set } }] });
  const codeOf = ({ writeErrors }: Reply): unknown => (writeErrors as { code: number }[] | undefined)?.[0]?.code;
  const names = ({ catalog }: Store): string[] => (catalog.get('x.c')?.indexes ?? []).map(({ name }) => name);

  async function removeDropped(store = world.store): Promise<void> {
    while (store.garbage.waits) store.database.write(() => store.garbage.remove(1_000));
  }

  /** Entries of all indexes, dropped ones included. */
  function entries({ database }: Store): number {
    return database.range(database.entries, { start: Buffer.alloc(4), end: Buffer.alloc(4, 0xff) }, false, 100_000)
      .length;
  }

  it('let others in between, and are used when they are ready', async () => {
    const looked = async (): Promise<number> => {
      const before = world.store.database.looked.documents;
      await world.read({ find: 'c', filter: { a: 5 } });
      return world.store.database.looked.documents - before;
    };
    const meanwhile = new Set<unknown>();

    const long = build(...SEVERAL);
    const others = await world.beside(long, async (time) => {
      if (time < 3) meanwhile.add(await looked());
      await run({ insert: 'others', documents: [{}] });
    });

    expect(await long).to.deep.equal({ numIndexesBefore: 1, numIndexesAfter: 5, ok: 1 });
    expect(others).to.be.greaterThan(1);
    expect([...meanwhile]).to.deep.equal([DOCS]);
    expect(await looked()).to.equal(1);
    expect(problemsOf(world.store)).to.deep.equal([]);
  });

  for (const seed of [1, 2, 3, 4]) {
    it(`have every entry of every document, whatever is written meanwhile (seed ${seed})`, async () => {
      const prng = new Prng(seed);
      const value = (): unknown =>
        prng.pick([prng.below(50), 'text', null, [prng.below(9), prng.below(9)], new Date(5)]);
      const fields = (): object => ({
        ...{ a: value(), b: prng.below(9), l: [{ k: value() }, { k: prng.below(5) }] },
        ...(prng.below(2) === 0 ? { s: prng.below(99) } : {}),
      });
      const q = (): object => ({ _id: prng.below(DOCS + 200) });
      const someOf = (): object => ({ _id: { $gte: prng.below(DOCS), $lt: DOCS } });
      const writes: readonly (() => object)[] = [
        () => ({ insert: 'c', documents: Array.from({ length: 5 }, () => ({ ...q(), ...fields() })), ordered: false }),
        () => ({ update: 'c', updates: Array.from({ length: 30 }, () => ({ q: q(), u: { $set: fields() } })) }),
        () => ({ update: 'c', updates: [{ q: q(), u: fields(), upsert: true }] }),
        () => ({ update: 'c', updates: [{ q: someOf(), u: { $unset: { l: 1 }, $inc: { b: 1 } }, multi: true }] }),
        () => ({ delete: 'c', deletes: Array.from({ length: 20 }, () => ({ q: q(), limit: 1 })) }),
        () => ({ findAndModify: 'c', query: q(), remove: true }),
      ];

      const long = build(...SEVERAL, { key: { b: 1 }, name: 'p', partialFilterExpression: { s: { $gt: 50 } } });
      const others = await world.beside(long, () => run(prng.pick(writes)?.() ?? {}));

      expect(await long).to.include({ ok: 1, numIndexesAfter: 6 });
      expect(others).to.be.greaterThan(0);
      expect(problemsOf(world.store)).to.deep.equal([]);
      world.store.reload();
      const flags = world.store.catalog.get('x.c')?.indexes.map(({ multikey }) => multikey);
      const has = (field: string): boolean => documentsOf(world.store).some((doc) => Array.isArray(doc[field]));
      if (has('a')) expect(flags?.slice(0, 2), 'as it is stored').to.deep.equal([[true], [false, true]]);
      if (has('l')) expect(flags?.[2]).to.deep.equal([true]);
    });
  }

  it('refuse what they would refuse when they are ready, behind their place', async () => {
    const long = build(UNIQUE, { key: { a: 1, b: 1 }, name: 'ab' });
    const taken = await insert({ _id: -1, a: 5 });
    const moved = await set(1, { a: 2 });
    const parallel = await insert({ _id: -2, a: [5_000, 5_001], b: [1, 2] });
    await run({ delete: 'c', deletes: [{ q: { _id: 5 }, limit: 1 }] });
    const free = await insert({ _id: -1, a: 5 });

    expect([taken, moved, parallel].map(codeOf)).to.deep.equal([11000, 11000, 171]);
    expect(free).to.include({ ok: 1, n: 1 });
    expect(await long).to.include({ ok: 1 });
    expect(problemsOf(world.store)).to.deep.equal([]);
    expect(codeOf(await insert({ _id: 'new', a: 4 }))).to.equal(11000);
  });

  it('end with 11000 or 171 at a document that must not be indexed, and leave nothing', async () => {
    await insert({ _id: 'twin', a: 5 }, { _id: 'parallel', a: [1, 2], b: [1, 2] });

    for (const [wanted, code] of [
      [[UNIQUE, B], 11000],
      [[A, { key: { a: 1, b: 1 }, name: 'ab' }], 171],
    ] as const) {
      expect(await build(...wanted)).to.include({ ok: 0, code });
      expect(names(world.store)).to.deep.equal([]);
    }
    await set(1, { a: 2 });
    await removeDropped();
    expect(entries(world.store)).to.equal(0);
    expect(problemsOf(world.store)).to.deep.equal([]);
  });

  it('are awaited by all who want them, and made once', async () => {
    const replies = await Promise.all([build(A, B), build(A), build(B, { key: { s: 1 }, name: 's' }), build(A, B)]);

    expect(replies.map(({ ok }) => ok)).to.deep.equal([1, 1, 1, 1]);
    expect(names(world.store)).to.deep.equal(['a', 'b', 's']);
    expect(problemsOf(world.store)).to.deep.equal([]);
    await removeDropped();
    expect(entries(world.store)).to.equal(DOCS * 3);
  });

  it('end for all who want them with what ends them', async () => {
    await insert({ _id: 'twin', a: 5 });
    const both = Promise.all([build(UNIQUE, B), build(UNIQUE)]);

    expect((await both).map(({ code }) => code)).to.deep.equal([11000, 11000]);
  });

  it('refuse another index of their name or keys meanwhile', async () => {
    const long = build(...SEVERAL);
    const others = await Promise.all([build({ key: { z: 1 }, name: 'a' }), build({ key: { a: 1 }, name: 'z' })]);

    expect(others.map(({ code }) => code)).to.deep.equal([86, 85]);
    expect(await long).to.include({ ok: 1 });
  });

  for (const [what, command] of [
    ['its collection is dropped', { drop: 'c' }],
    ['its database is dropped', { dropDatabase: 1 }],
  ] as const) {
    it(`end with 276 when ${what}`, async () => {
      const documents = Array.from({ length: DOCS }, (_, i) => ({ _id: `${i}`, l: [{ k: 1 }, { k: 2 }] }));
      await insert(...documents);
      const long = Promise.all([build({ key: { 'l.k': 1 }, name: 'l' }), build({ key: { 'l.k': 1 }, name: 'l' })]);
      expect(await run(command)).to.include({ ok: 1 });

      expect((await long).map(({ code }) => code)).to.deep.equal([276, 276]);
      expect(names(world.store)).to.deep.equal([]);
      await removeDropped();
      expect(entries(world.store)).to.equal(0);
    });
  }

  it('go on though a fault in another command undoes their groups', async () => {
    const long = build(...SEVERAL);
    const faults = await world.beside(long, () => world.fault());

    expect(await long).to.include({ ok: 1 });
    expect(faults).to.be.greaterThan(3);
    expect(problemsOf(world.store)).to.deep.equal([]);
  });

  it('leave nothing but documents when the process dies in the middle, and what they had is removed', async () => {
    const long = build(UNIQUE, B);
    await insert({ _id: -1, a: -1 });
    await insert({ _id: -2, a: -2 });

    await world.ifKilled((left) => {
      expect(entries(left)).to.be.within(1_000, DOCS * 2);
      expect(names(left)).to.deep.equal([]);
      expect(left.catalog.get('x.c')?.builds).to.deep.equal([]);
      expect(documentsOf(left)).to.have.lengthOf(DOCS + 2);
      expect(problemsOf(left)).to.deep.equal([]);
      void removeDropped(left);
      expect(entries(left)).to.equal(0);
    });
    await long;
  });

  it('end where they are when the store stops', async () => {
    const long = build(...SEVERAL);
    await world.commits.settled();

    expect(await long).to.include({ ok: 0, code: 11600 });
    expect(names(world.store)).to.deep.equal([]);
  });
});
