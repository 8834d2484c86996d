import type { Db } from 'mongodb';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import {
  type BatchDocument,
  batchCollection,
  beginStop,
  decideStopGroup,
  groupRefundId,
  reserveNext,
} from '../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type BatchId, batchMessageIds, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { makeReserved } from '../../../workers/batches/split.ts';
import { cancelGroup, type StopDeps, stopBatch, stopLeftovers } from '../../../workers/batches/stop.ts';
import { ledgerBalanceOf } from '../../support/balance.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { makeAccount } from '../../support/make.ts';
import { withCutStore } from '../../support/mongo-wire/cut-store.ts';
import { readsUndone } from '../../support/mongo-wire/undo.ts';
import { PLAIN } from './world.ts';

describe('the stop of a batch, while plain reads come to a replaced primary', () => {
  const site = withCutStore();

  const messages = () => site.store.db.collection<MessageDocument>('messages');
  const depsOf = (db: Db): StopDeps => ({
    db,
    ...PLAIN,
    clock: systemClock,
    announcer: createAnnouncer({ db, clock: systemClock }),
    held: () => true,
  });
  const read = async (id: BatchId): Promise<BatchDocument> => {
    const batch = await batchCollection(site.store.db).findOne({ _id: id });
    if (batch === null) throw new Error('no such batch');
    return batch;
  };
  /** A paid batch of waiting messages whose stop has begun. */
  async function stopping(total: number): Promise<BatchDocument> {
    const { db } = site.store;
    const unpaid = makeBatch(await makeAccount(db, total), total);
    const { _id } = unpaid;
    await payBatch(db, unpaid);
    await reserveNext(db, await read(_id));
    await makeReserved({ db, ...PLAIN }, await read(_id));
    await beginStop(db, _id);
    return read(_id);
  }

  const twoOf = ({ _id }: BatchDocument): readonly [MessageId, MessageId] => {
    const idOf = batchMessageIds(_id);
    return [idOf(0), idOf(1)];
  };

  it('gives back once for each message, also for those whose cancellation is rolled back', async () => {
    const batch = await stopping(5);
    const group = { v: 0, at: new Date() };
    await decideStopGroup(site.store.db, batch._id, 0, group);
    const [waits, left] = twoOf(batch);
    await messages().updateOne({ _id: left }, { $set: { state: 'submitting' }, $inc: { v: 1 } });
    const undone = { state: 'rejected', refund: groupRefundId(batch._id, 1), v: 1 } as const;
    const stale = readsUndone(site.store.db, 'messages', { _id: { $in: [waits, left] } }, { $set: undone });
    const misled = site.proxy.inject({ command: 'find', collection: 'messages', happens: stale });

    await cancelGroup(depsOf(site.cut.db), batch, 1, group);

    expect(misled.met).to.equal(1);
    await stopBatch(depsOf(site.store.db), batch);
    expect(await messages().findOne({ _id: waits })).to.include({ state: 'rejected', errorCode: 'cancelled' });
    expect(await messages().findOne({ _id: left })).to.include({ state: 'submitting' });
    expect(await ledgerBalanceOf(site.store.db, batch.account)).to.equal(4);
  });

  it('gives nothing back for a group that is rolled back: the next one has its number', async () => {
    const batch = await stopping(2);
    const [first, second] = twoOf(batch);
    const away = { $set: { state: 'submitting' }, $inc: { v: 1 } } as const;
    await messages().updateMany({ batch: batch._id }, away);
    await stopBatch(depsOf(site.store.db), batch);
    const back = { $set: { state: 'waiting' }, $inc: { v: 1 } } as const;
    await messages().updateOne({ _id: first }, back);
    const stopped = await read(batch._id);
    const undone = { stopGroups: 1, stopGroup: { v: 2, at: new Date(), messages: [first] } };

    await stopLeftovers(depsOf(site.store.db), { ...stopped, ...undone });
    await stopLeftovers(depsOf(site.store.db), await read(batch._id));
    await messages().updateOne({ _id: second }, back);
    await stopLeftovers(depsOf(site.store.db), await read(batch._id));

    expect(await ledgerBalanceOf(site.store.db, batch.account)).to.equal(2);
  });
});
