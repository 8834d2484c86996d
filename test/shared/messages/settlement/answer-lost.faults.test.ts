import { MongoWriteConcernError } from 'mongodb';
import type { StateChange } from '../../../../shared/events/catalogue.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import { type Change, entryAt } from '../../../../shared/messages/document/change.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { balanceOf } from '../../../support/balance.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { cutAfter, unreplicated } from '../../../support/mongo-wire/faults.ts';
import { doneLate } from '../../../support/mongo-wire/undo.ts';

describe('a settle whose answer was lost', () => {
  const site = withCutStore();

  const UPDATE = { command: 'update', collection: 'messages' } as const;
  const messages = () => site.store.db.collection<MessageDocument>('messages');
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
      ...{ db: site.cut.db, announcer: { announce }, lease: newId('req'), epoch: 1, stream: 'outcomes' },
    });
    return { settler, told };
  };
  const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('changes nothing when it comes late, so that no message ends without its event and its refund', async () => {
    const account = await makeAccount(site.store.db, 0);
    const message = await put(account);
    let work: (() => Promise<unknown>) | undefined;
    const late = doneLate(site.store.db, (held) => {
      work = held;
    });
    site.proxy.inject({ ...UPDATE, happens: late });
    const { settler, told } = newSettler();
    expect(await rejectionOf(settler.settle([{ message, decide: rejected }]))).to.be.instanceOf(Error);

    await settler.finishFollowUps();
    await work?.();

    expect(await messages().findOne({ _id: message._id })).to.include({ state: 'submitting' });
    expect(told).to.deep.equal([]);
    await settler.settle([{ message, decide: rejected }]);
    expect(told).to.deep.equal([`${message._id} rejected`]);
    expect(await balanceOf(site.store.db, account)).to.equal(1);
  });

  it('is neither told nor refunded while it may be rolled back', async () => {
    const account = await makeAccount(site.store.db, 0);
    const message = await put(account);
    site.proxy.inject({ ...UPDATE, happens: cutAfter });
    const { settler, told } = newSettler();
    await rejectionOf(settler.settle([{ message, decide: rejected }]));
    const stepsDown = unreplicated('InterruptedDueToReplStateChange');
    site.proxy.inject({ command: 'findAndModify', collection: 'messages', happens: stepsDown });

    expect(await rejectionOf(settler.finishFollowUps())).to.be.instanceOf(MongoWriteConcernError);
    expect({ told, balance: await balanceOf(site.store.db, account) }).to.deep.equal({ told: [], balance: 0 });

    await settler.finishFollowUps();
    expect(told).to.deep.equal([`${message._id} rejected`]);
    expect(await balanceOf(site.store.db, account)).to.equal(1);
  });
});
