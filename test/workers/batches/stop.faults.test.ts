import type { Db } from 'mongodb';
import { readWholeMessage } from '../../../gateway/endpoints/messages/whole.ts';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import {
  type BatchDocument,
  beginStop,
  countBatch,
  decideStopGroup,
  groupRefundId,
  refundedCredits,
  removeChunks,
  reserveNext,
} from '../../../shared/messages/batch.ts';
import { refundMessages } from '../../../shared/money/ledger/change.ts';
import type { LedgerEntryDocument } from '../../../shared/money/ledger/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, batchMessageIds, newId } from '../../../shared/platform/runtime/ids.ts';
import { makeReserved } from '../../../workers/batches/split.ts';
import { cancelGroup, type StopDeps, stopBatch, stopLeftovers } from '../../../workers/batches/stop.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { Departures } from '../../../workers/smpp/claim/departures.ts';
import { ledgerBalanceOf } from '../../support/balance.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { Died, dyingDb } from '../../support/dying-db.ts';
import { makeAccount } from '../../support/make.ts';
import { batchesWorld, PLAIN } from './world.ts';

describe('stopping a batch in groups', () => {
  const { store, messages, read, tellRejected } = batchesWorld();
  const depsOf = (db: Db): StopDeps => ({
    db,
    ...PLAIN,
    clock: systemClock,
    announcer: createAnnouncer({ db, clock: systemClock }),
    held: () => true,
  });
  const refundsOf = (account: AccountId) =>
    store.db.collection<LedgerEntryDocument>('ledger').find({ account, reason: 'refund' }).sort({ seq: 1 }).toArray();
  /** A paid batch whose first `made` entries are about to become messages. */
  async function reserved(total: number, made: number): Promise<BatchDocument> {
    const account = await makeAccount(store.db, total);
    await tellRejected(account);
    const unpaid = makeBatch(account, total, { perChunk: made });
    await payBatch(store.db, unpaid);
    await reserveNext(store.db, await read(unpaid._id));
    return read(unpaid._id);
  }
  /** A paid batch whose stop has begun, with `made` messages, of which the first `back` came back from a carrier. */
  async function stopping(total: number, made: number, back = 0): Promise<BatchDocument> {
    const { _id } = await reserved(total, made);
    await makeReserved({ db: store.db, ...PLAIN }, await read(_id));
    const ids = Array.from({ length: back }, (_, i) => batchMessageIds(_id)(i));
    await messages().updateMany({ _id: { $in: ids } }, { $set: { state: 'waiting' }, $inc: { v: 2 } });
    await beginStop(store.db, _id);
    return read(_id);
  }

  it('gives one refund for each group, and each message knows its own', async () => {
    const batch = await stopping(1_200, 1_200, 10);

    await stopBatch(depsOf(store.db), batch);

    const refunds = await refundsOf(batch.account);
    expect(refunds.map(({ change, amount, reference }) => ({ change, amount, reference }))).to.deep.equal(
      [10, 1_190].map((amount, i) => ({
        change: groupRefundId(batch._id, i + 1),
        amount,
        reference: batch._id,
      })),
    );
    const cancelled = await messages().find({ batch: batch._id }).toArray();
    for (const { change, amount } of refunds) {
      expect(cancelled.filter(({ refund }) => refund === change)).to.have.length(amount);
    }
    const [first] = cancelled;
    const whole =
      first === undefined
        ? undefined
        : await readWholeMessage(store.db, batch.account, first._id, { sent: 'whole', received: 'whole' });
    expect(whole?.refunded).to.include({ change: groupRefundId(batch._id, 1) });
    expect(await read(batch._id)).to.include({ state: 'stopped', stopped: 1_200, stopGroups: 2 });
    expect(await refundedCredits(store.db, batch)).to.equal(1_200);
    expect(await ledgerBalanceOf(store.db, batch.account)).to.equal(1_200);
  });

  it('leaves out of a decided group what has left since, and what has left and come back', async () => {
    const batch = await stopping(5, 5);
    const idOf = batchMessageIds(batch._id);
    const group = { messages: [0, 1, 2, 3].map(idOf), v: 0, at: new Date() };
    await decideStopGroup(store.db, batch._id, 0, group);
    await messages().updateOne({ _id: idOf(0) }, { $set: { state: 'submitting' }, $inc: { v: 1 } });
    await messages().updateOne({ _id: idOf(1) }, { $inc: { v: 2 } });

    await stopBatch(depsOf(store.db), await read(batch._id));
    // The worker that decided this group wakes up late.
    await cancelGroup(depsOf(store.db), batch, 1, group);

    expect((await refundsOf(batch.account)).map(({ amount }) => amount)).to.deep.equal([2, 1, 1]);
    expect(await read(batch._id)).to.include({ stopped: 4, stopGroups: 3 });
    await messages().updateOne({ _id: idOf(0) }, { $set: { state: 'queued' }, $inc: { v: 1 } });
    expect(await stopLeftovers(depsOf(store.db), await read(batch._id))).to.equal(true);
    await cancelGroup(depsOf(store.db), batch, 1, group);
    expect(await read(batch._id)).to.include({ stopped: 5, stopGroups: 4 });
    expect(await refundedCredits(store.db, batch)).to.equal(5);
    expect(await ledgerBalanceOf(store.db, batch.account)).to.equal(5);
  });

  it('leaves what may have left before and waits to be sent again: it is refused when it would leave, and not refunded', async () => {
    const batch = await stopping(5, 5);
    const idOf = batchMessageIds(batch._id);
    const claim = { id: newId('clm'), carrier: 'c', epoch: 1, at: new Date() };
    const earlier = [{ ...claim, parts: [{ state: 'unknown' as const }] }];
    await messages().updateOne({ _id: idOf(0) }, { $set: { state: 'queued', claim, earlier }, $inc: { v: 3 } });

    await stopBatch(depsOf(store.db), batch);
    const over = await stopLeftovers(depsOf(store.db), await read(batch._id));

    const resent = await messages().findOne({ _id: idOf(0) });
    if (resent === null) throw new Error('no such message');
    const departures = new Departures({ db: store.db, clock: systemClock });
    const refusals = await departures.refusals([resent]);
    expect(resent).to.include({ state: 'queued' });
    expect(refusals.get(resent._id)).to.include({ code: 'cancelled' });
    expect(over).to.equal(false);
    expect(await read(batch._id)).to.include({ stopped: 4 });
    expect(await ledgerBalanceOf(store.db, batch.account)).to.equal(4);
  });

  it('is not refunded a second time by a worker that had the messages in hand and does its follow-up again', async () => {
    const batch = await stopping(20, 20, 5);
    await stopBatch(depsOf(store.db), batch);

    await refundMessages(store.db, await messages().find({ batch: batch._id }).toArray());

    expect(await ledgerBalanceOf(store.db, batch.account)).to.equal(20);
  });

  it('gives nothing back for a stop that the store does not have', async () => {
    const account = await makeAccount(store.db, 5);
    const paid = makeBatch(account, 5);
    await payBatch(store.db, paid);

    await stopBatch(depsOf(store.db), paid);

    expect(await ledgerBalanceOf(store.db, account)).to.equal(0);
  });

  it('gives back what never becomes a message, also when the others cannot be made', async () => {
    const batch = await reserved(30, 20);
    await beginStop(store.db, batch._id);
    await removeChunks(store.db, batch._id);

    const failed = await stopBatch(depsOf(store.db), batch).catch((error: unknown) => error);

    expect(failed).to.be.instanceOf(Error).with.property('message').that.includes('recipients 0 to 20');
    expect(await ledgerBalanceOf(store.db, batch.account)).to.equal(10);
    expect(await read(batch._id)).to.include({ state: 'stopping' });
  });

  it('by two workers at once refunds once', async () => {
    const batch = await stopping(1_300, 1_100, 30);
    const play = async (): Promise<void> => {
      for (let now = await read(batch._id); now.state === 'stopping'; now = await read(batch._id)) {
        await stopBatch(depsOf(store.db), now);
      }
    };

    await Promise.all([play(), play(), play()]);

    expect(await read(batch._id)).to.include({ state: 'stopped', stopped: 1_300 });
    expect(await ledgerBalanceOf(store.db, batch.account)).to.equal(1_300);
    expect(await refundedCredits(store.db, batch)).to.equal(1_300);
  });

  for (const when of ['before', 'after'] as const) {
    it(`killed at any command, ${when} the store did it, and done again by another: refunded and told once`, async () => {
      let died = 0;
      for (let last = 1; ; last++) {
        const batch = await stopping(30, 20, 5);
        const whole = await stopBatch(depsOf(dyingDb(store.db, last, when)), batch).then(
          () => true,
          (error: unknown) => {
            if (!(error instanceof Died)) throw error;
            return false;
          },
        );
        if (whole) break;
        died += 1;

        for (let now = await read(batch._id); now.state === 'stopping'; now = await read(batch._id)) {
          await stopBatch(depsOf(store.db), now);
        }

        const at = `killed ${when} command ${last}`;
        expect(await read(batch._id), at).to.include({ state: 'stopped', stopped: 30 });
        expect(await read(batch._id), at).not.to.have.property('stopGroup');
        expect(await countBatch(store.db, await read(batch._id)), at).to.include({ rejected: 30, queued: 0 });
        await finishPending(store.db, { ...systemClock, now: () => new Date(Date.now() + 600_000) });
        expect(await refundedCredits(store.db, batch), at).to.equal(30);
        expect(await ledgerBalanceOf(store.db, batch.account)).to.equal(30);
        const told = store.db.collection<DeliveryDocument>('deliveries').countDocuments({ account: batch.account });
        expect(await told, at).to.equal(20);
      }
      expect(died).to.be.above(20);
    });
  }
});
