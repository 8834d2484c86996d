import { expect } from 'chai';
import { MongoWriteConcernError } from 'mongodb';
import { QueuedTaker } from '../../../shared/claim/take-queued.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { connectStore, type Store } from '../../../shared/mongo/connect.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { makeMessage } from '../../support/make.ts';
import { cutAfter, unreplicated } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { doneLate } from '../../support/mongo-wire/undo.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('a claim whose answer was lost', () => {
  let store: TestStore;
  let proxy: WireProxy;
  let cut: Store;
  before(async () => {
    store = await openTestStore();
    proxy = await startWireProxy(store.uri);
    cut = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: store.db.databaseName });
  });
  after(async () => {
    await cut.close();
    await proxy.close();
    await store.close();
  });

  const CLAIM = { command: 'update', collection: 'messages' } as const;
  const messages = () => store.db.collection<MessageDocument>('messages');
  const newTaker = () => new QueuedTaker<MessageDocument>({ db: cut.db, clock: systemClock, holder: 'c', epoch: 1 });
  const queue = async (): Promise<MessageDocument[]> => {
    const account = newId('acc');
    const queued = [1, 2, 3].map(() => makeMessage({ account }));
    await messages().insertMany(queued);
    return queued;
  };
  const storedOf = (queued: readonly MessageDocument[]) =>
    messages()
      .find({ _id: { $in: queued.map(({ _id }) => _id) } })
      .sort({ _id: 1 })
      .toArray();
  const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('takes nothing more when it comes late: what it wanted is taken by then, or was sent and given back', async () => {
    const queued = await queue();
    let work: (() => Promise<unknown>) | undefined;
    const late = doneLate(store.db, (held) => {
      work = held;
    });
    proxy.inject({ ...CLAIM, happens: late });
    const taker = newTaker();
    expect(await rejectionOf(taker.take(queued))).to.be.instanceOf(Error);

    const taken = await taker.recover();
    const [first] = taken.map(({ _id }) => _id);
    if (first === undefined) throw new Error('it took nothing');
    await messages().updateOne({ _id: first }, { $set: { state: 'queued' }, $inc: { v: 1 } });
    const before = await storedOf(queued);
    await work?.();

    expect(taken.map(({ _id }) => _id).sort()).to.deep.equal(queued.map(({ _id }) => _id).sort());
    expect(await storedOf(queued)).to.deep.equal(before);
  });

  it('gives nothing to send while it may be rolled back', async () => {
    const queued = await queue();
    proxy.inject({ ...CLAIM, happens: cutAfter });
    const taker = newTaker();
    await rejectionOf(taker.take(queued));
    const stepsDown = unreplicated('InterruptedDueToReplStateChange');
    proxy.inject({ command: 'findAndModify', collection: 'messages', times: queued.length, happens: stepsDown });

    expect(await rejectionOf(taker.recover())).to.be.instanceOf(MongoWriteConcernError);
    const taken = await taker.recover();

    expect(taken.map(({ v, state }) => ({ v, state }))).to.deep.equal(
      queued.map(() => ({ v: 1, state: 'submitting' })),
    );
    expect(await storedOf(queued)).to.have.deep.members(taken);
  });
});
