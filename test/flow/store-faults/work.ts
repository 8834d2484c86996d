import { expect } from 'chai';
import type { Db } from 'mongodb';
import type { BatchDocument } from '../../../shared/batches/batch.ts';
import { batchCollection } from '../../../shared/batches/store.ts';
import { QueuedTaker } from '../../../shared/claim/take-queued.ts';
import { Lease, type LeaseDocument } from '../../../shared/leases/lease.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { type AccountId, type BatchId, eventId, newId } from '../../../shared/runtime/ids.ts';
import { REDO_MS, type ScheduleDocument } from '../../../shared/schedules/schedule.ts';
import { Settler } from '../../../shared/settlement/settle.ts';
import { OutcomeSettler } from '../../../shared/settlement/settle-outcomes.ts';
import type { SubmitOutcome } from '../../../shared/settlement/submit-outcome.ts';
import { createAnnouncer } from '../../../shared/webhooks/announce.ts';
import { deliveriesIn, type Stored } from '../../../shared/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/webhooks/endpoint.ts';
import { splitNext } from '../../../workers/batches/split.ts';
import { stopBatch } from '../../../workers/batches/stop.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { DueTurns } from '../../../workers/schedules/due-turns.ts';
import { releaseDue } from '../../../workers/schedules/release.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { paySchedule } from '../../support/schedules.ts';
import { silentLog } from '../../support/silent-log.ts';
import { type Scenario, untilDone } from './each-command.ts';

const CREDITS = 1_000;
const clock = systemClock;

async function expectBalance(db: Db, account: AccountId, balance: number): Promise<void> {
  const { problems, balance: found } = await verifyLedger(db, account);
  expect({ problems, balance: found }).to.deep.equal({ problems: [], balance });
}

const messagesOf = (db: Db, filter: { readonly account: AccountId }): Promise<MessageDocument[]> =>
  db.collection<MessageDocument>('messages').find(filter).sort({ _id: 1 }).toArray();

const claim: Scenario = {
  name: 'messages are claimed',
  async open(db, faulty) {
    const account = newId('acc');
    const queued = Array.from({ length: 4 }, () => makeMessage({ account }));
    await db.collection<MessageDocument>('messages').insertMany(queued);
    const taken: MessageDocument[] = [];
    return {
      async act() {
        const taker = new QueuedTaker<MessageDocument>({ db: faulty, clock, holder: 'c', epoch: 1 });
        // As claim.ts does: first the messages that a lost claim took, then those that still wait.
        await untilDone(async () => {
          taken.push(...(await taker.recover()));
          const waiting = (await messagesOf(db, { account })).filter(({ state }) => state === 'queued');
          taken.push(...(await taker.take(waiting)));
          return taken.length >= queued.length;
        });
      },
      async expectWhole() {
        expect(taken.map(({ _id }) => _id).sort(), 'each is taken once').to.deep.equal(
          queued.map(({ _id }) => _id).sort(),
        );
        const stored = await messagesOf(db, { account });
        expect(stored).to.have.deep.members(taken);
        expect(new Set(stored.map(({ state }) => state))).to.deep.equal(new Set(['submitting']));
      },
    };
  },
};

const OUTCOMES: readonly SubmitOutcome[] = [
  { kind: 'sent', parts: [{ state: 'accepted', key: 'c:1' }] },
  { kind: 'rejected', parts: [{ state: 'refused' }], code: 'c.invalid_number', reason: 'invalid' },
  { kind: 'sent', parts: [{ state: 'accepted', key: 'c:2' }] },
];

const settle: Scenario = {
  name: 'answers of a carrier are settled: states, events, refunds',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    const endpoint = await subscribe(db, account);
    const taken = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    const claimed = OUTCOMES.map(() => makeMessage({ account, state: 'submitting', claim: taken, v: 1 }));
    await db.collection<MessageDocument>('messages').insertMany(claimed);
    return {
      async act() {
        const announcer = createAnnouncer({ db: faulty, clock });
        const settler = new Settler({ db: faulty, announcer, lease: newId('req'), epoch: 1, stream: 'outcomes' });
        const log = silentLog;
        const outcomes = new OutcomeSettler({ settler, clock, log, onKeys: () => {}, onGroup: () => {} });
        await Promise.all(claimed.map((message, i) => outcomes.add(message, OUTCOMES[i] ?? { kind: 'requeue' })));
      },
      async expectWhole() {
        const states = (await messagesOf(db, { account })).map(({ state }) => state);
        expect(states.sort()).to.deep.equal(['rejected', 'sent', 'sent']);
        const stored = await db.collection('deliveries').find({ endpoint }).project<Stored>({}).toArray();
        const told = stored.flatMap(deliveriesIn);
        const ids = claimed.map(({ _id }, i) => `${eventId(_id, i === 1 ? 'rejected' : 'sent')}:${endpoint}`);
        expect(told.map(({ _id }) => _id).sort()).to.deep.equal(ids.sort());
        await expectBalance(db, account, CREDITS + 1);
      },
    };
  },
};

async function subscribe(db: Db, account: AccountId): Promise<EndpointDocument['_id']> {
  const endpoint = newId('whk');
  await db.collection<EndpointDocument>('endpoints').insertOne({
    _id: endpoint,
    account,
    channel: 'sms',
    url: 'https://example.com/',
    place: 0,
    events: ['message.sent', 'message.rejected'],
    secrets: [],
    status: 'active',
    createdAt: clock.now(),
  });
  return endpoint;
}

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
const split = (db: Db) => ({ db, render: () => Promise.reject(new Error('a plain text needs no thread')) });

async function openBatch(db: Db): Promise<{ readonly account: AccountId; readonly id: BatchId }> {
  const account = await makeAccount(db, CREDITS);
  const batch = makeBatch(account, RECIPIENTS, { perChunk: CHUNK });
  await payBatch(db, batch);
  return { account, id: batch._id };
}

/** Repeats a step, each time from what is stored, as the worker's rounds do. True when the batch has left these states. */
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
        const stored = await messagesOf(db, { account });
        expect(new Set(stored.map(({ to }) => to)).size).to.equal(RECIPIENTS);
        expect(stored).to.have.length(RECIPIENTS);
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
    const deps = { ...split(faulty), clock, announcer, held: () => true };
    return {
      act: async () => void (await rounds(faulty, id, ['stopping'], (batch) => stopBatch(deps, batch))),
      async expectWhole() {
        const stored = await messagesOf(db, { account });
        expect(new Set(stored.map(({ state }) => state))).to.deep.equal(new Set(['rejected']));
        expect(stored).to.have.length(CHUNK);
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
        // A release that was claimed and not done is repeated some minutes later.
        await untilDone(async () => {
          later.turn(REDO_MS + 1);
          await releaseDue({ db: faulty, clock: later, turns }, later.now());
          return (await states()).every((state) => state === 'sent');
        });
      },
      async expectWhole() {
        expect(await states()).to.deep.equal(Array.from({ length: BOOKED }, () => 'sent'));
        expect(await messagesOf(db, { account })).to.have.length(BOOKED);
        await expectBalance(db, account, CREDITS - BOOKED);
      },
    };
  },
};

export const WORK: readonly Scenario[] = [claim, settle, lease, chunks, stop, release];
