import { expect } from 'chai';
import { MongoWriteConcernError } from 'mongodb';
import type { StateChange } from '../../../shared/events/catalogue.ts';
import type { AnyMessage } from '../../../shared/messages/any-message.ts';
import { type Change, entryAt } from '../../../shared/messages/change.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { connectStore, type Store } from '../../../shared/mongo/connect.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { Settler } from '../../../shared/settlement/settle.ts';
import { balanceOf } from '../../support/balance.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { cutAfter, unreplicated } from '../../support/mongo-wire/faults.ts';
import { startWireProxy, type WireProxy } from '../../support/mongo-wire/proxy.ts';
import { doneLate } from '../../support/mongo-wire/undo.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('a settle whose answer was lost', () => {
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

  const UPDATE = { command: 'update', collection: 'messages' } as const;
  const messages = () => store.db.collection<MessageDocument>('messages');
  const put = async (account: MessageDocument['account']): Promise<MessageDocument> => {
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: systemClock.now() };
    const message = makeMessage({ account, state: 'submitting', claim, v: 1 });
    await messages().insertOne(message);
    return message;
  };
  const rejected = (message: AnyMessage): Change | undefined =>
    message.state === 'submitting'
      ? { state: 'rejected', unset: ['due'], entries: [entryAt('rejected', systemClock.now(), message.history)] }
      : undefined;
  const newSettler = () => {
    const told: string[] = [];
    const announce = async (changes: readonly StateChange[]): Promise<void> => {
      told.push(...changes.map(({ message, entry }) => `${message._id} ${entry.state}`));
    };
    const settler = new Settler({
      ...{ db: cut.db, announcer: { announce }, lease: newId('req'), epoch: 1, stream: 'outcomes' },
    });
    return { settler, told };
  };
  const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('changes nothing when it comes late, so that no message ends without its event and its refund', async () => {
    const account = await makeAccount(store.db, 0);
    const message = await put(account);
    let work: (() => Promise<unknown>) | undefined;
    const late = doneLate(store.db, (held) => {
      work = held;
    });
    proxy.inject({ ...UPDATE, happens: late });
    const { settler, told } = newSettler();
    expect(await rejectionOf(settler.settle([{ message, decide: rejected }]))).to.be.instanceOf(Error);

    await settler.payOwed();
    await work?.();

    expect(await messages().findOne({ _id: message._id })).to.include({ state: 'submitting' });
    expect(told).to.deep.equal([]);
    await settler.settle([{ message, decide: rejected }]);
    expect(told).to.deep.equal([`${message._id} rejected`]);
    expect(await balanceOf(store.db, account)).to.equal(1);
  });

  it('is neither told nor refunded while it may be rolled back', async () => {
    const account = await makeAccount(store.db, 0);
    const message = await put(account);
    proxy.inject({ ...UPDATE, happens: cutAfter });
    const { settler, told } = newSettler();
    await rejectionOf(settler.settle([{ message, decide: rejected }]));
    const stepsDown = unreplicated('InterruptedDueToReplStateChange');
    proxy.inject({ command: 'findAndModify', collection: 'messages', happens: stepsDown });

    expect(await rejectionOf(settler.payOwed())).to.be.instanceOf(MongoWriteConcernError);
    expect({ told, balance: await balanceOf(store.db, account) }).to.deep.equal({ told: [], balance: 0 });

    await settler.payOwed();
    expect(told).to.deep.equal([`${message._id} rejected`]);
    expect(await balanceOf(store.db, account)).to.equal(1);
  });
});
