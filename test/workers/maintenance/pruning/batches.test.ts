import type { Db } from 'mongodb';
import { type BatchDocument, chunkId, countBatch, readBatch } from '../../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { batchMessageIds, newId } from '../../../../shared/platform/runtime/ids.ts';
import { pruneOld } from '../../../../workers/maintenance/prune.ts';
import { makeBatch, storeBatch } from '../../../support/batches.ts';
import { pruneWorld } from '../../../support/prune-world.ts';

/** A database whose plain reads of a collection find nothing, as from a primary that was replaced before. */
function withoutFound(db: Db, name: string): Db {
  const bare = new Proxy(db.collection(name), {
    get(target, property) {
      if (property === 'find') return () => target.find({ _id: { $exists: false } });
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return new Proxy(db, {
    get(target, property) {
      if (property === 'collection') return (other: string) => (other === name ? bare : target.collection(other));
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('maintenance: what ended long ago is removed, batches', () => {
  const world = pruneWorld();
  const { daysAgo, messages, deps, idsIn, delivered, put, refused } = world;

  const ended = async (days: number, overrides: Partial<BatchDocument> = {}): Promise<BatchDocument> => {
    const { open: _, ...made } = makeBatch(newId('acc'), 4, {
      _id: newId('bat', daysAgo(days).getTime()),
      validUntil: daysAgo(days - 2),
      state: 'split',
      done: 4,
      reserved: 4,
    });
    const batch = { ...made, ...overrides };
    await world.store.db.collection<BatchDocument>('batches').insertOne(batch);
    return batch;
  };
  const messageOf = (batch: BatchDocument, index: number, overrides: Partial<MessageDocument> = {}) =>
    delivered(100, {
      _id: batchMessageIds(batch._id)(index),
      account: batch.account,
      batch: batch._id,
      ...overrides,
    });
  const now = async (batch: BatchDocument): Promise<BatchDocument> => {
    const found = await readBatch(world.store.db, batch.account, batch._id);
    if (found === undefined) throw new Error('no such batch');
    return found;
  };

  /** Recipients in chunks of one, by the batch's age. */
  const chunksOf = async (days: number, total: number): Promise<BatchDocument> => {
    const _id = newId('bat', daysAgo(days).getTime());
    const batch = makeBatch(newId('acc'), total, { _id, perChunk: 1 });
    await storeBatch(world.store.db, batch);
    return batch;
  };
  const idsOf = ({ _id, total }: BatchDocument) => Array.from({ length: total }, (_, number) => chunkId(_id, number));
  const batches = () => world.store.db.collection<BatchDocument>('batches');

  it('recipients whose batch is gone go, those of a batch that is there stay', async () => {
    const [batch, gone] = [await chunksOf(1, 3), await chunksOf(1, 50)];
    await batches().deleteOne({ _id: gone._id });

    await pruneOld(deps());

    expect(await idsIn('batch_chunks')).to.deep.equal(idsOf(batch));
  });

  it('recipients that are being stored stay, whatever a read says about their batch', async () => {
    const young = await chunksOf(0, 2);
    await batches().deleteOne({ _id: young._id });

    await pruneOld(deps());

    expect(await idsIn('batch_chunks')).to.deep.equal(idsOf(young));
  });

  it('recipients of a batch that a replaced primary does not show stay', async () => {
    const batch = await chunksOf(1, 2);

    await pruneOld(deps({ db: withoutFound(world.store.db, 'batches') }));

    expect(await idsIn('batch_chunks')).to.deep.equal(idsOf(batch));
  });

  it('its counts are the same when its messages are gone', async () => {
    const batch = await ended(100, { validUntil: daysAgo(30) });
    await put([
      messageOf(batch, 0),
      messageOf(batch, 1, { state: 'failed' }),
      messageOf(batch, 2, refused(99)),
      messageOf(batch, 3, { state: 'sent', closedReason: 'no_receipt' }),
    ]);
    const before = await countBatch(world.store.db, await now(batch));

    await pruneOld(deps());

    expect(await idsIn('messages')).to.deep.equal([]);
    expect(before).to.deep.equal({ queued: 0, sent: 1, delivered: 1, failed: 1, expired: 0, rejected: 1 });
    expect(await countBatch(world.store.db, await now(batch))).to.deep.equal(before);
  });

  it('its messages stay together until the last of them has ended', async () => {
    const batch = await ended(100);
    const ids = await put([
      messageOf(batch, 0),
      messageOf(batch, 1),
      messageOf(batch, 2),
      messageOf(batch, 3, { state: 'sent' }),
    ]);

    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal(ids);
    expect(await countBatch(world.store.db, await now(batch))).to.deep.include({ sent: 1, delivered: 3 });

    await messages().updateOne({ _id: { $in: ids.slice(3) } }, { $set: { closedReason: 'no_receipt' } });
    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal([]);
  });

  it('nothing of one that a worker still has to do with goes: it makes again what it does not find', async () => {
    const batch = await ended(100, { state: 'paid', done: 0, open: true });
    const stopped = await ended(100, { state: 'stopped', stopped: 0, open: true });
    const ids = await put([messageOf(batch, 0), messageOf(stopped, 0)]);

    await pruneOld(deps());

    expect(await idsIn('messages')).to.have.members(ids);
    expect(await idsIn('batches')).to.have.members([batch._id, stopped._id]);
  });

  it('it goes itself after its own time, and not before its last message', async () => {
    const gone = await ended(70, { state: 'stopped', reserved: 0, done: 0, stopped: 4 });
    const booked = await ended(100, { state: 'booked' });
    const young = await ended(70);
    const late = await ended(100);
    await put([0, 1, 2, 3].map((i) => messageOf(young, i)));
    await put([0, 1, 2].map((i) => messageOf(late, i)));
    // Messages are kept for longer than batches here.
    const retention = { messages: 65, texts: 65, deliveries: 30, batches: 60, closedAccounts: 365 };

    for (let round = 0; round < 3; round++) await pruneOld(deps({ retention }));

    expect(await idsIn('batches')).to.have.members([booked._id, late._id]);
    expect(await messages().countDocuments({ batch: late._id })).to.equal(3);
    expect(await readBatch(world.store.db, gone.account, gone._id)).to.equal(undefined);
  });
});
