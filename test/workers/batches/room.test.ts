import { WRITE_OUT_MS } from '../../../shared/messages/queue/queue-document.ts';
import { type BatchId, newId } from '../../../shared/platform/runtime/ids.ts';
import { roomInQueue } from '../../../workers/batches/worker.ts';
import { makeBatch } from '../../support/batches.ts';
import { makeMessage } from '../../support/make.ts';
import { enqueue } from '../../support/queue.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('batches worker: room in the queue', () => {
  let store: TestStore;
  const now = new Date();
  const later = new Date(now.getTime() + WRITE_OUT_MS);
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const batchOn = (path: string) => makeBatch('acc_1', 10_000, { path, perChunk: 500 });
  const wait = (count: number, path: string, batch?: BatchId) =>
    enqueue(
      store.db,
      Array.from({ length: count }, () => makeMessage({ _id: newId('msg'), path, ...(batch && { batch }) })),
      now,
    );

  it('is there for chunks until enough of the path waits; other paths and single messages count for nothing', async () => {
    await wait(700, 'transactional');
    await wait(700, 'promotional', newId('bat'));
    await wait(200, 'transactional', newId('bat'));

    const fits = await roomInQueue(store.db, now);

    const asked = ['transactional', 'transactional', 'transactional', 'promotional', 'other'];
    expect(asked.map((path) => fits(batchOn(path)))).to.deep.equal([true, false, false, false, true]);
  });

  it('is taken where the lines of the batch are, when routes have sent them elsewhere', async () => {
    const batch = batchOn('transactional');
    await wait(600, '@30:a', batch._id);

    const fits = await roomInQueue(store.db, now);

    expect([batch, batchOn('transactional')].map(fits)).to.deep.equal([false, true]);
  });

  it('is taken by no line that has waited for long', async () => {
    await wait(700, 'transactional', newId('bat'));

    expect((await roomInQueue(store.db, now))(batchOn('transactional'))).to.equal(false);
    expect((await roomInQueue(store.db, later))(batchOn('transactional'))).to.equal(true);
  });
});
