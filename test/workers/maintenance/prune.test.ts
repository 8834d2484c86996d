import { expect } from 'chai';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { type BatchDocument, chunkId } from '../../../shared/batches/batch.ts';
import { countBatch } from '../../../shared/batches/progress.ts';
import { readBatch } from '../../../shared/batches/store.ts';
import type { ConversationDocument } from '../../../shared/conversations/conversation.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { batchMessageIds, eventId, lowestId, type MessageId, newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import type { ScheduleDocument } from '../../../shared/schedules/schedule.ts';
import { MessageLog } from '../../../shared/settlement/log-store.ts';
import { oldestOwed, redoIntents } from '../../../shared/settlement/redo-intents.ts';
import { Settler } from '../../../shared/settlement/settle.ts';
import { createAnnouncer } from '../../../shared/webhooks/announce.ts';
import { type DeliveryDocument, deliveryId } from '../../../shared/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/webhooks/endpoint.ts';
import { type PruneDeps, pruneConversations, pruneOld } from '../../../workers/maintenance/prune.ts';
import { candidateKeys } from '../../../workers/smpp/dialect/message-ids.ts';
import { ORPHAN_MS, type OrphanDocument } from '../../../workers/smpp/receipts/orphan-store.ts';
import { ReceiptSettler } from '../../../workers/smpp/receipts/settle-receipts.ts';
import { makeEndpoint } from '../../shared/webhooks/make.ts';
import { makeBatch, storeBatch } from '../../support/batches.ts';
import { Died, dyingDb } from '../../support/dying-db.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const DAYS = { messages: 90, deliveries: 30, batches: 60 };
const LEASE = 'carrier:c';

describe('maintenance: what ended long ago is removed', () => {
  const clock = new ManualClock();
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  beforeEach(async () => {
    for (const { name } of await store.db.listCollections().toArray()) await store.db.collection(name).deleteMany({});
  });
  after(() => store.close());

  const daysAgo = (days: number): Date => new Date(clock.now().getTime() - days * 86_400_000);
  const messages = () => store.db.collection<MessageDocument>('messages');
  const deliveries = () => store.db.collection<DeliveryDocument>('deliveries');
  const deps = (overrides: Partial<PruneDeps> = {}): PruneDeps => ({
    db: store.db,
    clock,
    log: silentLog,
    retention: DAYS,
    held: () => true,
    onRemoved: () => {},
    ...overrides,
  });
  const idsIn = async (collection: string): Promise<string[]> =>
    (await store.db.collection<{ _id: string }>(collection).find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  /** Accepted `days` ago, delivered a day later. */
  const delivered = (days: number, overrides: Partial<MessageDocument> = {}): MessageDocument => {
    const { due: _, ...message } = makeMessage({
      _id: newId('msg', daysAgo(days).getTime()),
      state: 'delivered',
      history: [
        { state: 'sent', at: daysAgo(days) },
        { state: 'delivered', at: daysAgo(days - 1) },
      ],
    });
    return { ...message, ...overrides };
  };
  const put = async (list: readonly MessageDocument[]): Promise<MessageId[]> => {
    await messages().insertMany([...list]);
    return list.map(({ _id }) => _id);
  };
  const refused = (days: number): Partial<MessageDocument> => ({
    state: 'rejected',
    parts: [{ state: 'refused' }],
    history: [{ state: 'rejected', at: daysAgo(days) }],
  });

  it('messages of every state that is an end go, the day their time is over', async () => {
    const sentOnce = [{ state: 'sent' as const, at: daysAgo(100) }];
    await put([
      delivered(92),
      delivered(200),
      delivered(100, { state: 'failed' }),
      delivered(100, { state: 'expired', history: [{ state: 'expired', at: daysAgo(98) }] }),
      delivered(100, { state: 'sent', history: sentOnce, closedReason: 'no_receipt' }),
      delivered(100, { state: 'read' }),
    ]);

    await pruneOld(deps());

    expect(await idsIn('messages')).to.deep.equal([]);
  });

  it('what has not ended stays, however old, and so does what is younger or changed since', async () => {
    const stay = [
      delivered(89),
      // Its id is old and its end is not.
      delivered(200, { history: [{ state: 'delivered', at: daysAgo(89) }] }),
      delivered(200, { state: 'queued', history: [], due: daysAgo(198) }),
      delivered(200, { state: 'queued', history: [] }),
      delivered(200, { state: 'submitting', history: [], outcome: 'unknown' }),
      delivered(200, { state: 'waiting', history: [] }),
      // A receipt may still come.
      delivered(200, { state: 'sent', history: [{ state: 'sent', at: daysAgo(200) }] }),
      delivered(200, { due: daysAgo(198) }),
    ];
    const ids = await put(stay);
    await put([delivered(150)]);

    await pruneOld(deps());

    expect(await idsIn('messages')).to.have.members(ids);
  });

  it('the ledger stays whole, and the balance', async () => {
    const account = await makeAccount(store.db, 5);
    await store.db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $unset: { pendingAt: '' } });
    await put([delivered(100, { account })]);

    await pruneOld(deps());

    expect(await verifyLedger(store.db, account)).to.deep.include({ entries: 1, balance: 5, problems: [] });
  });

  it('killed at any command, the next holder removes the rest and nothing else', async () => {
    const kept = await put([delivered(89), delivered(200, { state: 'waiting', history: [] })]);
    let deaths = 0;
    for (let last = 1; ; last++) {
      await put(Array.from({ length: 102 }, () => delivered(100)));
      const died = await pruneOld(deps({ db: dyingDb(store.db, last, last % 2 === 0 ? 'after' : 'before') })).then(
        () => false,
        (error: unknown) => error instanceof Died,
      );
      if (died) deaths += 1;
      await pruneOld(deps());

      expect(await idsIn('messages')).to.have.members(kept);
      if (!died) break;
    }
    expect(deaths).to.be.greaterThan(8);
  });

  it('ends between two groups when the lease goes', async () => {
    await put(Array.from({ length: 350 }, () => delivered(100)));
    let asked = 0;

    // Deliveries, schedules and batches ask once each: there is nothing; then twice for each group.
    await pruneOld(deps({ held: () => ++asked <= 3 + 4 }));

    expect(await messages().countDocuments({})).to.be.within(1, 349);
    expect(asked).to.equal(8);
  });

  it('removes nothing that a debit which nobody finished would store again', async () => {
    const ids = await put([delivered(100)]);
    const account = await makeAccount(store.db, 0, { pendingAt: daysAgo(100) });

    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal(ids);

    await store.db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $unset: { pendingAt: '' } });
    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal([]);
  });

  it('removes nothing that a release which nobody finished would store again', async () => {
    const ids = await put([delivered(100)]);
    const sending = schedule(100, { state: 'sending', due: daysAgo(100) });
    await store.db.collection<ScheduleDocument>('schedules').insertOne(sending);

    await pruneOld(deps());

    expect(await idsIn('messages')).to.deep.equal(ids);
    expect(await idsIn('schedules')).to.deep.equal([sending._id]);
  });

  it('a refund that a dead worker owes is paid by the next one, though the message ended long ago', async () => {
    const account = await makeAccount(store.db, 1);
    await store.db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $unset: { pendingAt: '' } });
    const owed = delivered(100, { account, ...refused(99) });
    await put([owed, delivered(100)]);
    await store.db
      .collection<{ _id: string; epoch: number; messages: MessageId[] }>('intents')
      .insertOne({ _id: `${LEASE}/outcomes`, epoch: 1, messages: [owed._id] });

    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal([owed._id]);

    await redoIntents(store.db, createAnnouncer({ db: store.db, clock }), LEASE, 2, oldestOwed(clock.now()));
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 2, problems: [] });
  });

  it('a receipt for a message that is gone is kept for a while as one that fits nothing', async () => {
    await put([delivered(100, { parts: [{ key: 'c:77', state: 'delivered' }] })]);
    await pruneOld(deps());
    const announcer = createAnnouncer({ db: store.db, clock });
    const receipts = new ReceiptSettler({
      db: store.db,
      clock,
      carrier: 'c',
      messageLog: new MessageLog({ db: store.db, clock, log: silentLog, days: 30 }),
      settler: new Settler({ db: store.db, announcer, lease: LEASE, epoch: 1, stream: 'receipts' }),
      onGroup: () => {},
      answersStored: async () => {},
    });

    const result = await receipts.add({
      candidates: candidateKeys({ _id: 'c', idForm: 'learn' }, ['77']),
      from: '919876543210',
      to: 'HARKRA',
      part: { state: 'delivered', operator: 'Carrier' },
      excerpt: '',
    });

    expect(result).to.equal('orphan');
    const [orphan] = await store.db.collection<OrphanDocument>('orphans').find().toArray();
    expect(orphan?.expiresAt.getTime()).to.equal(clock.now().getTime() + ORPHAN_MS);
  });

  describe('batches', () => {
    const ended = async (days: number, overrides: Partial<BatchDocument> = {}): Promise<BatchDocument> => {
      const { open: _, ...made } = makeBatch(newId('acc'), 4, {
        _id: newId('bat', daysAgo(days).getTime()),
        validUntil: daysAgo(days - 2),
        state: 'split',
        done: 4,
        reserved: 4,
      });
      const batch = { ...made, ...overrides };
      await store.db.collection<BatchDocument>('batches').insertOne(batch);
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
      const found = await readBatch(store.db, batch.account, batch._id);
      if (found === undefined) throw new Error('no such batch');
      return found;
    };

    it('recipients whose batch is gone go, those of a batch that is there stay', async () => {
      const batch = makeBatch(newId('acc'), 3, { perChunk: 1 });
      await storeBatch(store.db, batch);
      const gone = makeBatch(newId('acc'), 50, { perChunk: 1 });
      await storeBatch(store.db, gone);
      await store.db.collection<BatchDocument>('batches').deleteOne({ _id: gone._id });

      await pruneOld(deps());

      expect(await idsIn('batch_chunks')).to.deep.equal([0, 1, 2].map((number) => chunkId(batch._id, number)));
    });

    it('its counts are the same when its messages are gone', async () => {
      const batch = await ended(100, { validUntil: daysAgo(30) });
      await put([
        messageOf(batch, 0),
        messageOf(batch, 1, { state: 'failed' }),
        messageOf(batch, 2, refused(99)),
        messageOf(batch, 3, { state: 'sent', closedReason: 'no_receipt' }),
      ]);
      const before = await countBatch(store.db, await now(batch));

      await pruneOld(deps());

      expect(await idsIn('messages')).to.deep.equal([]);
      expect(before).to.deep.equal({ queued: 0, sent: 1, delivered: 1, failed: 1, expired: 0, rejected: 1 });
      expect(await countBatch(store.db, await now(batch))).to.deep.equal(before);
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
      expect(await countBatch(store.db, await now(batch))).to.deep.include({ sent: 1, delivered: 3 });

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
      // Messages that are kept for a shorter time than batches, then none.
      const retention = { messages: 65, deliveries: 30, batches: 60 };

      for (let round = 0; round < 3; round++) await pruneOld(deps({ retention }));

      expect(await idsIn('batches')).to.have.members([booked._id, late._id]);
      expect(await messages().countDocuments({ batch: late._id })).to.equal(3);
      expect(await readBatch(store.db, gone.account, gone._id)).to.equal(undefined);
    });
  });

  describe('deliveries', () => {
    const delivery = (days: number, overrides: Partial<DeliveryDocument> = {}): DeliveryDocument => {
      const message = newId('msg', daysAgo(days).getTime());
      const event = eventId(message, 'delivered');
      const endpoint = newId('whk');
      return {
        _id: deliveryId(event, endpoint),
        account: newId('acc'),
        endpoint,
        eventId: event,
        event: 'message.delivered',
        message,
        body: '{}',
        state: 'done',
        attempts: [],
        createdAt: daysAgo(days),
        ...overrides,
      };
    };

    it('go when they were posted or given up long ago; what is due, waits or is younger stays', async () => {
      const stay = [
        delivery(100, { state: 'due', due: daysAgo(100) }),
        delivery(100, { state: 'waiting', retryAt: daysAgo(99) }),
        // A late event of an old message; one that was asked for again.
        delivery(100, { createdAt: daysAgo(29) }),
        delivery(100, { replayedAt: daysAgo(1) }),
        delivery(29),
      ];
      const gone = [delivery(31), delivery(100, { state: 'exhausted' }), delivery(100, { state: 'discarded' })];
      await deliveries().insertMany([...stay, ...gone]);

      await pruneOld(deps());

      expect(await idsIn('deliveries')).to.have.members(stay.map(({ _id }) => _id));
    });

    it('an event whose delivery is gone is not posted again by whoever takes a lease that was idle since', async () => {
      const account = newId('acc');
      const old = makeMessage({ account, state: 'submitting', history: [] });
      await put([old]);
      await store.db.collection<EndpointDocument>('endpoints').insertOne(makeEndpoint({ account }));
      const then = new ManualClock(daysAgo(40));
      const announcer = createAnnouncer({ db: store.db, clock: then });
      await new Settler({ db: store.db, announcer, lease: LEASE, epoch: 1, stream: 'outcomes' }).settle([
        { message: old, decide: () => ({ state: 'sent', entries: [{ state: 'sent', at: then.now() }] }) },
      ]);
      await deliveries().updateMany({}, { $set: { state: 'done' }, $unset: { due: '' } });
      expect(await deliveries().countDocuments({})).to.equal(1);
      await deliveries().deleteMany({});

      await redoIntents(store.db, createAnnouncer({ db: store.db, clock }), LEASE, 2, oldestOwed(clock.now()));

      expect(await idsIn('deliveries')).to.deep.equal([]);
    });
  });

  function schedule(days: number, overrides: Partial<ScheduleDocument> = {}): ScheduleDocument {
    return {
      _id: newId('sch', daysAgo(days + 1).getTime()),
      account: newId('acc'),
      group: newId('grp'),
      state: 'sent',
      at: daysAgo(days),
      scheduledFor: daysAgo(days).toISOString(),
      credits: 1,
      ...overrides,
    };
  }

  it('schedules go long after their time; what waits for it, or for a refund, stays', async () => {
    const stay = [
      schedule(100, { state: 'scheduled', due: daysAgo(100) }),
      schedule(100, { state: 'cancelled', due: daysAgo(100) }),
      schedule(100, { at: daysAgo(59) }),
      schedule(100, { releasedAt: daysAgo(1) }),
      schedule(59),
    ];
    const gone = [schedule(61), schedule(100, { state: 'cancelled' })];
    await store.db.collection<ScheduleDocument>('schedules').insertMany([...stay, ...gone]);

    await pruneOld(deps());

    expect(await idsIn('schedules')).to.have.members(stay.map(({ _id }) => _id));
  });

  it('conversations go when neither side has had to do with the other for long', async () => {
    const customer = (number: string, overrides: Partial<ConversationDocument> = {}): ConversationDocument => ({
      _id: `acc_a:${number}`,
      account: 'acc_a',
      customer: number,
      ...overrides,
    });
    const current = (days: number): Pick<ConversationDocument, 'current'> => ({
      current: {
        id: newId('cnv'),
        number: 1,
        by: 'business',
        credits: 2,
        opener: newId('msg'),
        group: newId('grp'),
        openedAt: daysAgo(days + 1),
        until: daysAgo(days),
      },
    });
    const voided = (days: number) => newId('cnv', daysAgo(days).getTime());
    await store.db.collection<ConversationDocument>('conversations').insertMany([
      customer('1', { lastInboundAt: daysAgo(91) }),
      customer('2', current(91)),
      customer('3', { lastInboundAt: daysAgo(95), ...current(91) }),
      customer('4', { lastInboundAt: daysAgo(89), ...current(91) }),
      customer('5', { lastInboundAt: daysAgo(91), ...current(89) }),
      // Just made for one that is being opened.
      customer('6'),
      // Never wrote, and what was opened was given back: a number without the app.
      customer('7', { openings: 1, judged: 1, voided: [voided(91)] }),
      customer('8', { openings: 2, judged: 2, voided: [voided(91), voided(89)] }),
      customer('9', { lastInboundAt: daysAgo(91), voided: [voided(89)] }),
    ]);

    await pruneConversations(deps());

    const left = ['acc_a:4', 'acc_a:5', 'acc_a:6', 'acc_a:8', 'acc_a:9'];
    expect(await idsIn('conversations')).to.deep.equal(left);
  });

  it('walks old ids only', () => {
    // What the ranges rest on: an id that is made later is never below.
    expect(newId('msg', daysAgo(90).getTime()) >= lowestId('msg', daysAgo(90))).to.equal(true);
    expect(newId('msg', daysAgo(91).getTime()) < lowestId('msg', daysAgo(90))).to.equal(true);
  });
});
