import { MongoWriteConcernError } from 'mongodb';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { takeQueued } from '../../../../shared/messages/queue/queue-store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeMessage } from '../../../support/make.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { cutAfter, unreplicated } from '../../../support/mongo-wire/faults.ts';
import { doneLate } from '../../../support/mongo-wire/undo.ts';

describe('a claim whose answer was lost', () => {
  const site = withCutStore();

  const CLAIM = { command: 'update', collection: 'messages' } as const;
  const messages = () => site.store.db.collection<MessageDocument>('messages');
  /** Takes them over the faulty connection, and repeats with the same claim. */
  const takerOf = (queued: readonly MessageDocument[]) => {
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: systemClock.now() };
    const ids = queued.map(({ _id }) => _id);
    return {
      take: () => takeQueued<MessageDocument>(site.cut.db, ids, claim),
      again: () => takeQueued<MessageDocument>(site.cut.db, ids, claim, { sure: true }),
    };
  };
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
    const late = doneLate(site.store.db, (held) => {
      work = held;
    });
    site.proxy.inject({ ...CLAIM, happens: late });
    const taker = takerOf(queued);
    expect(await rejectionOf(taker.take())).to.be.instanceOf(Error);

    const taken = await taker.again();
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
    site.proxy.inject({ ...CLAIM, happens: cutAfter });
    const taker = takerOf(queued);
    await rejectionOf(taker.take());
    const stepsDown = unreplicated('InterruptedDueToReplStateChange');
    site.proxy.inject({ command: 'findAndModify', collection: 'messages', times: queued.length, happens: stepsDown });

    expect(await rejectionOf(taker.again())).to.be.instanceOf(MongoWriteConcernError);
    const taken = await taker.again();

    expect(taken.map(({ v, state }) => ({ v, state }))).to.deep.equal(
      queued.map(() => ({ v: 1, state: 'submitting' })),
    );
    expect(await storedOf(queued)).to.have.deep.members(taken);
  });
});
