import { expect } from 'chai';
import { isDuplicateKey } from '../../../../shared/platform/mongo/errors.ts';
import { updateEach } from '../../../../shared/platform/mongo/update-each.ts';
import { useStore } from '../../../support/store.ts';

describe('updateEach', () => {
  const store = useStore();
  before(async () => {
    await things().createIndex({ name: 1 }, { unique: true, sparse: true });
  });
  beforeEach(async () => {
    await things().deleteMany({});
    await things().insertMany([
      { _id: 'a', v: 1 },
      { _id: 'b', v: 1 },
      { _id: 'c', v: 2, name: 'taken' },
    ]);
  });

  const things = () => store.db.collection<{ _id: string; v: number; name?: string }>('things');

  it('does each and counts those that matched', async () => {
    const matched = await updateEach(
      store.db,
      'things',
      ['a', 'b', 'c'].map((_id) => ({ filter: { _id, v: 1 }, update: { $inc: { v: 1 } } })),
    );

    expect(matched).to.equal(2);
    expect(await things().countDocuments({ v: 2 })).to.equal(3);
  });

  it('does the others when one fails, and throws its error', async () => {
    const failed = await updateEach(store.db, 'things', [
      { filter: { _id: 'a' }, update: { $set: { name: 'taken' } } },
      { filter: { _id: 'b' }, update: { $set: { name: 'free' } } },
    ]).catch((error: unknown) => error);

    expect(isDuplicateKey(failed)).to.equal(true);
    expect(await things().findOne({ _id: 'b' })).to.include({ name: 'free' });
  });

  it('asks nothing when there is nothing to do', async () => {
    expect(await updateEach(store.db, 'things', [])).to.equal(0);
  });
});
