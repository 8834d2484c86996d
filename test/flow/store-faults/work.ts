import type { Db } from 'mongodb';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import { type BatchDocument, batchCollection } from '../../../shared/messages/batch.ts';
import { REDO_MS, type ScheduleDocument } from '../../../shared/messages/schedule.ts';
import { Lease, type LeaseDocument } from '../../../shared/platform/leases/lease.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, type BatchId, newId } from '../../../shared/platform/runtime/ids.ts';
import { splitNext } from '../../../workers/batches/split.ts';
import { stopBatch } from '../../../workers/batches/stop.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { DueTurns, releaseDue } from '../../../workers/schedules/release.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { claimAll } from '../../support/queue.ts';
import { paySchedule } from '../../support/schedules.ts';
import { type Scenario, untilDone } from './each-command.ts';
import { expectBalance, idsOf, messagesOf } from './sending.ts';

const CREDITS = 1_000;
const clock = systemClock;

const lease: Scenario = {
  name: 'a lease is taken, renewed and kept',
  async open(db, faulty) {
    const name = newId('req');
    const mine = new Lease({ name, db: faulty, clock });
    const others = new Lease({ name, db, clock, identity: { machine: 'another', pid: 1, startedAt: '1' } });
    const expectFenced = async (): Promise<void> => {
      const stored = await db.collection<LeaseDocument>('leases').findOne({ _id: name });
      expect(await others.keep(), 'another cannot take it').to.equal(false);
      if (mine.held) expect(stored?.epoch).to.equal(mine.epoch);
    };
    return {
      async act() {
        await untilDone(() => mine.keep());
        await expectFenced();
        await Lease.renew([mine]).catch(() => false);
        await expectFenced();
        await untilDone(() => mine.keep());
      },
      async expectWhole() {
        expect([mine.held, mine.epoch]).to.deep.equal([true, 1]);
        await expectFenced();
      },
    };
  },
};

const RECIPIENTS = 30;
const CHUNK = 20;
const split = (db: Db) => ({ db, clock, render: () => Promise.reject(new Error('a plain text needs no thread')) });

async function openBatch(db: Db): Promise<{ readonly account: AccountId; readonly id: BatchId }> {
  const account = await makeAccount(db, CREDITS);
  const batch = makeBatch(account, RECIPIENTS, { perChunk: CHUNK });
  await payBatch(db, batch);
  return { account, id: batch._id };
}

/** Repeats a step from the stored state, as the worker's rounds do. True when the batch has left these states. */
const rounds = (db: Db, id: BatchId, states: readonly string[], step: (batch: BatchDocument) => Promise<unknown>) =>
  untilDone(async () => {
    for (;;) {
      const batch = await batchCollection(db).findOne({ _id: id });
      if (batch === null || !states.includes(batch.state)) return true;
      await step(batch);
    }
  });

const chunks: Scenario = {
  name: 'chunks of a batch become messages',
  async open(db, faulty) {
    const { account, id } = await openBatch(db);
    return {
      act: async () => void (await rounds(faulty, id, ['paid'], (batch) => splitNext(split(faulty), batch))),
      async expectWhole() {
        const claimed = await claimAll(db, account);
        expect(new Set(claimed.map(({ to }) => to)).size).to.equal(RECIPIENTS);
        expect(claimed, 'each is claimed once').to.have.length(RECIPIENTS);
        expect(await batchCollection(db).findOne({ _id: id })).to.include({ state: 'split', done: RECIPIENTS });
        await expectBalance(db, account, CREDITS - RECIPIENTS);
      },
    };
  },
};

const stop: Scenario = {
  name: 'a batch is stopped: what waits is rejected and refunded, what never became a message too',
  async open(db, faulty) {
    const { account, id } = await openBatch(db);
    const paid = await batchCollection(db).findOne({ _id: id });
    if (paid !== null) await splitNext(split(db), paid);
    await batchCollection(db).updateOne({ _id: id }, { $set: { state: 'stopping' } });
    const announcer = createAnnouncer({ db: faulty, clock });
    const deps = { ...split(faulty), announcer, held: () => true };
    return {
      act: async () => void (await rounds(faulty, id, ['stopping'], (batch) => stopBatch(deps, batch))),
      async expectWhole() {
        const stored = await messagesOf(db, { account });
        expect(new Set(stored.map(({ state }) => state))).to.deep.equal(new Set(['rejected']));
        expect(stored).to.have.length(CHUNK);
        expect(await claimAll(db, account), 'nothing leaves any more').to.deep.equal([]);
        await expectBalance(db, account, CREDITS);
      },
    };
  },
};

const BOOKED = 3;

const release: Scenario = {
  name: 'schedules that are due are released',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    for (let i = 0; i < BOOKED; i++) await paySchedule(db, account, new Date(Date.now() - 1_000));
    await finishPending(db, new ManualClock(new Date(Date.now() + 120_000)));
    const states = async () => {
      const stored = await db.collection<ScheduleDocument>('schedules').find({ account }).toArray();
      return stored.map(({ state }) => state);
    };
    return {
      async act() {
        const later = new ManualClock(new Date());
        const turns = new DueTurns(faulty);
        // A claimed but unfinished release is repeated some minutes later.
        await untilDone(async () => {
          later.turn(REDO_MS + 1);
          await releaseDue({ db: faulty, clock: later, turns }, later.now());
          return (await states()).every((state) => state === 'sent');
        });
      },
      async expectWhole() {
        expect(await states()).to.deep.equal(Array.from({ length: BOOKED }, () => 'sent'));
        const claimed = await claimAll(db, account);
        expect(new Set(idsOf(claimed)).size).to.equal(BOOKED);
        expect(claimed, 'each is claimed once').to.have.length(BOOKED);
        await expectBalance(db, account, CREDITS - BOOKED);
      },
    };
  },
};

export const WORK: readonly Scenario[] = [lease, chunks, stop, release];
