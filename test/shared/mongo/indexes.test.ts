import { expect } from 'chai';
import { ensureIndexes, INDEXES } from '../../../shared/mongo/indexes.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('the indexes of the product', () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  const names = async (): Promise<readonly string[]> =>
    (await store.db.collection('messages').indexes()).map(({ name }) => String(name));

  it('are made, also by several processes at once', async () => {
    await Promise.all([ensureIndexes(store.db), ensureIndexes(store.db)]);
    await ensureIndexes(store.db);

    const wanted = INDEXES.filter(({ collection }) => collection === 'messages').map(({ options }) => options.name);
    expect(await names()).to.have.members(['_id_', ...wanted]);
  });
});
