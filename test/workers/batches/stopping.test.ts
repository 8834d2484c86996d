import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import {
  batchCollection,
  beginStop,
  countBatch,
  refundedCredits,
  reserveNext,
} from '../../../shared/messages/batch.ts';
import { unpackLines } from '../../../shared/messages/queue/queue-document.ts';
import { claimLines, queueOf } from '../../../shared/messages/queue/queue-store.ts';
import { type AccountId, batchMessageIds, newId } from '../../../shared/platform/runtime/ids.ts';
import { makeReserved, splitNext } from '../../../workers/batches/split.ts';
import { ledgerBalanceOf } from '../../support/balance.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { eventually } from '../../support/eventually.ts';
import { holdInserts } from '../../support/held-inserts.ts';
import { makeAccount } from '../../support/make.ts';
import { writeOutAll } from '../../support/queue.ts';
import { batchesWorld, PLAIN } from './world.ts';

describe('batches worker: stops', () => {
  const { store, messages, messagesOf, read, work, closed, stoppedOnce, tellRejected } = batchesWorld();

  const balanceOf = (account: AccountId) => ledgerBalanceOf(store.db, account);
  /** Claims some lines of each of the path's documents. Returns the number of claimed messages. */
  async function claimLikeACarrier(path: string): Promise<number> {
    const claim = { id: newId('clm'), carrier: 'a', epoch: 1, at: new Date() };
    const heads = await queueOf(store.db).find({ open: true, path }).toArray();
    const picks = heads.map((head) => ({ head, to: Math.min(head.next + 3, head.n) }));
    const ours = await claimLines(store.db, claim, picks);
    let claimed = 0;
    for (const { head, to } of picks.filter(({ head: { _id } }) => ours.has(_id))) {
      const ids = unpackLines(head.lines)
        .slice(head.next, to)
        .map(({ _id }) => _id);
      if (head.written) {
        const set = { $set: { state: 'submitting', claim }, $inc: { v: 1 } } as const;
        const { modifiedCount } = await messages().updateMany({ _id: { $in: ids }, state: 'queued' }, set);
        claimed += modifiedCount;
      } else claimed += ids.length;
    }
    return claimed;
  }

  describe('stops', () => {
    it('a batch that nobody has begun: nothing becomes a message, all is refunded at once', async () => {
      const account = await makeAccount(store.db, 5_000);
      const batch = makeBatch(account, 4_000);
      await payBatch(store.db, batch);
      await beginStop(store.db, batch._id);

      await work();

      expect(await closed(batch._id)).to.include({ state: 'stopped', stopped: 4_000 });
      expect(await messagesOf(batch._id)).to.deep.equal([]);
      expect(await balanceOf(account)).to.equal(5_000);
      const entries = await store.db.collection('ledger').find({ account, reason: 'refund' }).toArray();
      expect(entries.map(({ amount, reference }) => ({ amount, reference }))).to.deep.equal([
        { amount: 4_000, reference: batch._id },
      ]);
    });

    it('one half way: what waits is rejected as cancelled, told and refunded, what has left stays', async () => {
      const account = await makeAccount(store.db, 3_000);
      await tellRejected(account);
      const batch = makeBatch(account, 3_000);
      await payBatch(store.db, batch);
      await splitNext({ db: store.db, ...PLAIN }, await read(batch._id));
      await writeOutAll(store.db);
      // 1,000 are made and the next 1,000 reserved by a dead or frozen worker.
      await reserveNext(store.db, await read(batch._id));
      const idOf = batchMessageIds(batch._id);
      const left = [idOf(0), idOf(1), idOf(2)];
      await messages().updateMany({ _id: { $in: left } }, { $set: { state: 'sent' }, $inc: { v: 1 } });
      await beginStop(store.db, batch._id);

      await work();

      const stopped = await closed(batch._id);
      expect(stopped).to.include({ state: 'stopped', stopped: 2_997 });
      // The frozen worker makes the messages that it had in hand: all exist already, and are cancelled.
      await makeReserved({ db: store.db, ...PLAIN }, { ...stopped, state: 'stopping', done: 1_000, reserved: 2_000 });
      const made = await messagesOf(batch._id);
      expect(made).to.have.length(2_000);
      expect(made.filter(({ state }) => state === 'sent').map(({ _id }) => _id)).to.deep.equal(left);
      const cancelled = made.filter(({ errorCode }) => errorCode === 'cancelled');
      expect(cancelled).to.have.length(1_997);
      expect(cancelled.every(({ state, due }) => state === 'rejected' && due === undefined)).to.equal(true);
      expect(await store.db.collection<DeliveryDocument>('deliveries').countDocuments()).to.equal(1_997);
      expect(await balanceOf(account)).to.equal(2_997);
      expect(await refundedCredits(store.db, stopped)).to.equal(2_997);
      expect(await countBatch(store.db, stopped)).to.include({ queued: 0, sent: 3, rejected: 2_997 });
    });

    it('one of an account with a price list: each entry gives back its own price, once', async () => {
      const account = await makeAccount(store.db, 100);
      const entries = [...Array(6).keys()].map((i) => ({ to: i % 2 === 0 ? `9198765432${i}0` : `4474001234${i}0` }));
      const prices = [
        { channel: 'sms', country: 'IN', credits: 2 },
        { channel: 'sms', credits: 7 },
      ] as const;
      const batch = makeBatch(account, 6, { perChunk: 2, credits: 27, prices });
      await payBatch(store.db, batch, entries);
      expect(await balanceOf(account)).to.equal(73);
      await splitNext({ db: store.db, ...PLAIN }, await read(batch._id));
      await writeOutAll(store.db);
      const [sent] = await messagesOf(batch._id);
      if (sent === undefined) throw new Error('two are made');
      await messages().updateOne({ _id: sent._id }, { $set: { state: 'sent' }, $inc: { v: 1 } });
      await beginStop(store.db, batch._id);

      await work();

      const stopped = await closed(batch._id);
      expect(await balanceOf(account)).to.equal(100 - (sent.credits ?? 0));
      expect(await refundedCredits(store.db, stopped)).to.equal(27 - (sent.credits ?? 0));
    });

    it('beside claims: every message is either with a carrier or refunded', async () => {
      const account = await makeAccount(store.db, 1_000);
      const batch = makeBatch(account, 1_000, { path: 'race' });
      await payBatch(store.db, batch);
      await splitNext({ db: store.db, ...PLAIN }, await read(batch._id));
      let claimed = 0;
      const claims = (async () => {
        for (let turn = 0; turn < 60; turn++) claimed += await claimLikeACarrier('race');
      })();
      await eventually(() => claimed > 0, 'a claim');
      await beginStop(store.db, batch._id);

      await work();

      await claims;
      const stopped = await stoppedOnce(batch._id);
      const made = await messagesOf(batch._id);
      expect(made.filter(({ state }) => state === 'submitting')).to.have.length(claimed);
      expect(stopped.stopped).to.equal(1_000 - claimed);
      expect(await balanceOf(account)).to.equal(1_000 - claimed);
    });

    it('one whose worker freezes while it makes lines: those come too late, and none is sent', async () => {
      const account = await makeAccount(store.db, 300);
      const batch = makeBatch(account, 300);
      await payBatch(store.db, batch);
      const { db, release } = holdInserts(store.db, 'queue');
      const frozen = splitNext({ db, ...PLAIN }, await read(batch._id));
      await eventually(async () => (await read(batch._id)).reserved === 300, 'it has reserved them');
      await beginStop(store.db, batch._id);
      await work();
      expect(await closed(batch._id)).to.include({ state: 'stopped', stopped: 300 });

      release();
      await frozen;

      expect(await queueOf(store.db).countDocuments({ batch: batch._id, open: true })).to.equal(0);
      const made = await messagesOf(batch._id);
      expect(made.map(({ state }) => state)).to.deep.equal(Array(300).fill('rejected'));
      expect(await balanceOf(account)).to.equal(300);
    });

    it('what comes back from a carrier after the stop', async () => {
      const account = await makeAccount(store.db, 10);
      const batch = makeBatch(account, 10);
      await payBatch(store.db, batch);
      await splitNext({ db: store.db, ...PLAIN }, await read(batch._id));
      await writeOutAll(store.db);
      await messages().updateMany({ batch: batch._id }, { $set: { state: 'submitting' }, $inc: { v: 1 } });
      await beginStop(store.db, batch._id);
      await work();
      expect(await stoppedOnce(batch._id)).to.include({ stopped: 0 });

      const [throttled] = await messagesOf(batch._id);
      if (throttled === undefined) throw new Error('no message');
      await messages().updateOne({ _id: throttled._id }, { $set: { state: 'waiting' }, $inc: { v: 1 } });
      await messages().updateMany(
        { batch: batch._id, state: 'submitting' },
        { $set: { state: 'sent' }, $inc: { v: 1 } },
      );

      expect(await closed(batch._id)).to.include({ state: 'stopped', stopped: 1 });
      expect(await messages().findOne({ _id: throttled._id })).to.include({
        state: 'rejected',
        errorCode: 'cancelled',
      });
      expect(await balanceOf(account)).to.equal(1);
    });

    it('again after a crash before its end was noted: refunded once', async () => {
      const account = await makeAccount(store.db, 1_200);
      const batch = makeBatch(account, 1_200);
      await payBatch(store.db, batch);
      await splitNext({ db: store.db, ...PLAIN }, await read(batch._id));
      await beginStop(store.db, batch._id);
      await work();
      await closed(batch._id);

      await batchCollection(store.db).updateOne({ _id: batch._id }, { $set: { state: 'stopping', open: true } });

      expect(await closed(batch._id)).to.include({ state: 'stopped', stopped: 1_200 });
      expect(await balanceOf(account)).to.equal(1_200);
    });
  });
});
