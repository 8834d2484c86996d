import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { useStore } from '../../../support/store.ts';

describe('insertNew', () => {
  const store = useStore();

  const things = () => store.db.collection<{ _id: string; n: number }>('things');

  it('inserts what is new and leaves what is there', async () => {
    await things().insertOne({ _id: 'a', n: 1 });

    await insertNew(
      store.db,
      'things',
      ['a', 'b', 'c'].map((_id) => ({ _id, n: 2, nothing: undefined })),
    );

    expect(await things().find().sort({ _id: 1 }).toArray()).to.deep.equal([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
      { _id: 'c', n: 2 },
    ]);
  });

  it('takes more than one command can carry, and nothing', async () => {
    await insertNew(
      store.db,
      'many',
      Array.from({ length: 2_500 }, (_, _id) => ({ _id })),
    );
    await insertNew(store.db, 'many', []);

    expect(await store.db.collection('many').countDocuments()).to.equal(2_500);
  });

  it('throws what is no duplicate, and has inserted the others', async () => {
    const error = await insertNew(store.db, 'odd', [{ _id: { $a: 1 } }, { _id: 2 }]).catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(MongoServerError);
    expect(await store.db.collection('odd').countDocuments()).to.equal(1);
  });
});
