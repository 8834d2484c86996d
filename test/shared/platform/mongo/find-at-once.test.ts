import { expect } from 'chai';
import { findAtOnce } from '../../../../shared/platform/mongo/find-at-once.ts';
import { useStore } from '../../../support/store.ts';

interface Thing {
  readonly _id: number;
  readonly kind: string;
  readonly at?: Date;
}

describe('findAtOnce', () => {
  const store = useStore();

  it('gives what find gives: filtered, in order, at most so many, however many more there are', async () => {
    const things = Array.from({ length: 300 }, (_, n): Thing => ({ _id: n, kind: n % 2 === 0 ? 'even' : 'odd' }));
    await store.db.collection<Thing>('things').insertMany([...things, { _id: 300, kind: 'late', at: new Date(7) }]);
    const find = (filter: Partial<Record<keyof Thing, unknown>>, limit: number): Promise<Thing[]> =>
      findAtOnce<Thing>(store.db, 'things', { filter: filter as object, sort: { _id: -1 }, limit });

    expect((await find({ kind: 'even' }, 120)).map(({ _id }) => _id)).to.deep.equal(
      Array.from({ length: 120 }, (_, n) => 298 - 2 * n),
    );
    expect(await find({ kind: 'late', at: undefined }, 10)).to.deep.equal([
      { _id: 300, kind: 'late', at: new Date(7) },
    ]);
    expect(await find({ kind: 'none' }, 10)).to.deep.equal([]);
  });

  it('rejects with what the server says', async () => {
    const asking = findAtOnce<Thing>(store.db, 'things', { filter: { $no: 1 } as object, sort: { _id: 1 }, limit: 1 });

    const error: unknown = await asking.catch((reason: unknown) => reason);

    expect(error).to.have.property('code', 2);
  });
});
