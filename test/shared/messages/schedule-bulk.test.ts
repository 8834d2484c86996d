import { expect } from 'chai';
import { findPaidBatch } from '../../../gateway/endpoints/sms/paid-batches.ts';
import type { BatchDocument } from '../../../shared/messages/batch.ts';
import { type Booking, scheduledBatchId } from '../../../shared/messages/schedule.ts';
import { cancelSchedule } from '../../../shared/money/payment/cancel-schedule.ts';
import type { AccountId, BatchId } from '../../../shared/platform/runtime/ids.ts';
import { openBatches } from '../../../workers/batches/open-batches.ts';
import { pruneUnpaid } from '../../../workers/maintenance/pruning/unpaid-batches.ts';
import { makeBatch, storeBatch } from '../../support/batches.ts';
import { makeAccount } from '../../support/make.ts';
import { at, scheduleWorld } from '../../support/schedule-world.ts';
import { makeBooking } from '../../support/schedules.ts';

describe('schedules: of a bulk request', () => {
  const world = scheduleWorld();
  const { schedules, book, release, expectWholeLedger } = world;

  const batches = () => world.store.db.collection<BatchDocument>('batches');
  const chunks = () => world.store.db.collection('batch_chunks');

  async function bookBatch(account: AccountId, total: number): Promise<Booking & { readonly batch: BatchId }> {
    const { content: _, ...booking } = makeBooking(at(60));
    const batch = scheduledBatchId(booking);
    await storeBatch(world.store.db, makeBatch(account, total, { _id: batch }));
    const order = { sender: 'HARKRA', route: 'transactional' } as const;
    const content = { kind: 'batch', total, validity: { validForMs: 3_600_000 }, ...order } as const;
    await book(account, { ...booking, content });
    return { ...booking, content, batch };
  }

  it('debits all recipients at once; the batch waits, and no worker and no maintenance touches it', async () => {
    const account = await makeAccount(world.store.db, 1_500);
    const { _id, batch } = await bookBatch(account, 1_200);

    expect(await batches().findOne({ _id: batch })).to.not.have.property('unpaid');
    await pruneUnpaid(world.store.db);

    expect(await batches().findOne({ _id: batch })).to.include({ state: 'booked' });
    expect(await openBatches(world.store.db, { account: '' }).toArray()).to.deep.equal([]);
    expect(await findPaidBatch(world.store.db, account, batch)).to.equal(undefined);
    expect(await schedules().findOne({ _id })).to.include({ credits: 1_200, batch });
    await expectWholeLedger(account, 300);
  });

  it('hands the batch on at its time, to be sent as if it was paid then', async () => {
    const account = await makeAccount(world.store.db, 1_200);
    const { _id, batch } = await bookBatch(account, 1_200);

    world.clock.turn(60_000);
    await release();
    await release();

    const schedule = await schedules().findOne({ _id });
    expect(schedule).to.include({ state: 'sent', batch });
    const open = await openBatches(world.store.db, { account: '' }).toArray();
    expect(open).to.have.length(1);
    expect(open[0]).to.deep.include({ _id: batch, state: 'paid', group: schedule?.group, validUntil: at(3_660) });
    await batches().deleteMany({});
    await chunks().deleteMany({});
  });

  it('is refunded as a whole when it is cancelled, and its recipients are forgotten', async () => {
    const account = await makeAccount(world.store.db, 1_200);
    const { _id, batch } = await bookBatch(account, 1_200);

    const cancelled = await cancelSchedule(world.store.db, world.clock, account, _id);
    await cancelSchedule(world.store.db, world.clock, account, _id);
    world.clock.turn(60_000);
    await release();

    expect(cancelled).to.deep.equal({ kind: 'cancelled', credits: 1_200, again: false });
    expect(await batches().findOne({ _id: batch })).to.equal(null);
    expect(await chunks().countDocuments({})).to.equal(0);
    await expectWholeLedger(account, 1_200);
  });
});
