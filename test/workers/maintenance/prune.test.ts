import type { Db } from 'mongodb';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import { type DeliveryDocument, type DeliveryGroup, deliveryId } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { type BatchDocument, chunkId, countBatch, readBatch } from '../../../shared/messages/batch.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { queueDocument } from '../../../shared/messages/queue/queue-document.ts';
import { insertAgain, queueOf } from '../../../shared/messages/queue/queue-store.ts';
import type { ScheduleDocument } from '../../../shared/messages/schedule.ts';
import { oldestUnannounced, redoIntents, writeIntent } from '../../../shared/messages/settlement/intents.ts';
import { MessageLog, type OrphanDocument } from '../../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../../shared/messages/settlement/settle.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import type { ConversationDocument } from '../../../shared/money/conversations/conversation.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import {
  batchMessageIds,
  eventId,
  lowestId,
  type MessageId,
  newId,
  queueId,
  testAccountOf,
} from '../../../shared/platform/runtime/ids.ts';
import { type PruneDeps, pruneConversations, pruneOld } from '../../../workers/maintenance/prune.ts';
import { messageWalk } from '../../../workers/maintenance/prune-messages.ts';
import { candidateKeys } from '../../../workers/smpp/dialect/message-ids.ts';
import { ORPHAN_MS } from '../../../workers/smpp/receipts/receipt-match.ts';
import { ReceiptSettler } from '../../../workers/smpp/receipts/settle-receipts.ts';
import { groupsOf, makeEndpoint, makeGroup } from '../../shared/events/webhooks/make.ts';
import { makeBatch, storeBatch } from '../../support/batches.ts';
import { Died, dyingDb } from '../../support/dying-db.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { DAYS, LEASE, pruneWorld } from '../../support/prune-world.ts';
import { enqueue, writeOutAll } from '../../support/queue.ts';
import { noAnswers } from '../../support/receipt-world.ts';
import { silentLog } from '../../support/silent-log.ts';
import { makeChatMessage } from '../chatapp/make.ts';

describe('maintenance: what ended long ago is removed', () => {
  const world = pruneWorld();
  const { clock, daysAgo, messages, deps, idsIn, delivered, put, refused, schedule } = world;

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
      // Its id is old, but it ended recently.
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

  it('earlier those of an account that keeps its messages for a shorter time', async () => {
    const account = await makeAccount(world.store.db, 0, { messageDays: 20 });
    const kept = await put([delivered(30), delivered(19, { account })]);
    await put([delivered(30, { account }), delivered(30, { account: testAccountOf(account) })]);

    await pruneOld(deps());

    expect(await idsIn('messages')).to.have.members(kept);
  });

  it('the ledger stays whole, and the balance', async () => {
    const account = await makeAccount(world.store.db, 5);
    await world.store.db
      .collection<AccountDocument>('accounts')
      .updateOne({ _id: account }, { $unset: { pendingAt: '' } });
    await put([delivered(100, { account })]);

    await pruneOld(deps());

    expect(await verifyLedger(world.store.db, account)).to.deep.include({ entries: 1, balance: 5, problems: [] });
  });

  it('killed at any command, the next holder removes the rest and nothing else', async () => {
    const kept = await put([delivered(89), delivered(200, { state: 'waiting', history: [] })]);
    let deaths = 0;
    for (let last = 1; ; last++) {
      await put(Array.from({ length: 102 }, () => delivered(100)));
      const died = await pruneOld(
        deps({ db: dyingDb(world.store.db, last, last % 2 === 0 ? 'after' : 'before') }),
      ).then(
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

  it('in groups: small ones on the embedded store, large ones on MongoDB, where each waits for a majority', async () => {
    const groupsOn = async (store: PruneDeps['store']): Promise<number[]> => {
      const groups: number[] = [];
      await put(Array.from({ length: 1_040 }, () => delivered(100)));
      const onRemoved = (what: string, count: number) => void (what === 'messages' && groups.push(count));
      await pruneOld(deps({ store, onRemoved }));
      return groups;
    };

    expect(await groupsOn('mongodb')).to.deep.equal([1_000, 40]);
    expect(await groupsOn('embedded')).to.deep.equal([...Array(20).fill(50), 40]);
  });

  it('ends between two groups when the lease goes', async () => {
    await put(Array.from({ length: 350 }, () => delivered(100)));
    let asked = 0;

    // Deliveries, schedules and batches ask once each, because there are none; messages ask twice for each group.
    await pruneOld(deps({ held: () => ++asked <= 3 + 4 }));

    expect(await messages().countDocuments({})).to.be.within(1, 349);
    expect(asked).to.equal(8);
  });

  it('removes nothing that a debit which nobody finished would store again', async () => {
    const ids = await put([delivered(100)]);
    const account = await makeAccount(world.store.db, 0, { pendingAt: daysAgo(100) });

    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal(ids);

    await world.store.db
      .collection<AccountDocument>('accounts')
      .updateOne({ _id: account }, { $unset: { pendingAt: '' } });
    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal([]);
  });

  it('removes nothing that a release which nobody finished would store again', async () => {
    const ids = await put([delivered(100)]);
    const sending = schedule(100, { state: 'sending', due: daysAgo(100) });
    await world.store.db.collection<ScheduleDocument>('schedules').insertOne(sending);

    await pruneOld(deps());

    expect(await idsIn('messages')).to.deep.equal(ids);
    expect(await idsIn('schedules')).to.deep.equal([sending._id]);
  });

  it('a refund that a dead worker left undone is paid by the next one, though the message ended long ago', async () => {
    const account = await makeAccount(world.store.db, 1);
    await world.store.db
      .collection<AccountDocument>('accounts')
      .updateOne({ _id: account }, { $unset: { pendingAt: '' } });
    const unrefunded = delivered(100, { account, ...refused(99) });
    await put([unrefunded, delivered(100)]);
    await world.store.db
      .collection<{ _id: string; epoch: number; messages: MessageId[] }>('intents')
      .insertOne({ _id: `${LEASE}/outcomes`, epoch: 1, messages: [unrefunded._id] });

    await pruneOld(deps());
    expect(await idsIn('messages')).to.deep.equal([unrefunded._id]);

    await redoIntents(
      world.store.db,
      createAnnouncer({ db: world.store.db, clock }),
      LEASE,
      2,
      oldestUnannounced(clock.now()),
    );
    expect(await verifyLedger(world.store.db, account)).to.deep.include({ balance: 2, problems: [] });
  });

  it('a message that an intent names since the walk began stays', async () => {
    const [named, other] = [delivered(101), delivered(100)];
    await put([named, other]);
    const walk = messageWalk(world.store.db, daysAgo(90));
    const found = await walk.look(undefined, 10);
    await writeIntent(world.store.db, { lease: LEASE, epoch: 1 }, 'due', [named._id]);

    expect(await walk.remove(found)).to.equal(1);
    expect(await idsIn('messages')).to.deep.equal([named._id]);
  });

  it('a receipt for a message that is gone is kept for a while as one that fits nothing', async () => {
    await put([delivered(100, { parts: [{ key: 'c:77', state: 'delivered' }] })]);
    await pruneOld(deps());
    const announcer = createAnnouncer({ db: world.store.db, clock });
    const receipts = new ReceiptSettler({
      db: world.store.db,
      clock,
      rules: { carrier: 'c', parts: 'perPart', holdMinutes: 60, submitsOf: () => 1, reasonOf: () => undefined },
      messageLog: new MessageLog({ db: world.store.db, clock, log: silentLog, days: 30 }),
      settler: new Settler({ db: world.store.db, announcer, lease: LEASE, epoch: 1, stream: 'receipts' }),
      onGroup: () => {},
      answers: noAnswers,
    });

    const result = await receipts.add({
      candidates: candidateKeys({ _id: 'c', idForm: 'learn' }, ['77']),
      from: '919876543210',
      to: 'HARKRA',
      part: { state: 'delivered', operator: 'Carrier' },
      excerpt: '',
    });

    expect(result).to.equal('orphan');
    const [orphan] = await world.store.db.collection<OrphanDocument>('orphans').find().toArray();
    expect(orphan?.expiresAt.getTime()).to.equal(clock.now().getTime() + ORPHAN_MS);
  });

  it('walks old ids only', () => {
    // The ranges rely on this: a later id is never lower.
    expect(newId('msg', daysAgo(90).getTime()) >= lowestId('msg', daysAgo(90))).to.equal(true);
    expect(newId('msg', daysAgo(91).getTime()) < lowestId('msg', daysAgo(90))).to.equal(true);
  });
});

describe('maintenance: what ended long ago is removed, conversations', () => {
  const world = pruneWorld();
  const { daysAgo, deps, idsIn } = world;

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
    const refunded = (days: number) => newId('cnv', daysAgo(days).getTime());
    await world.store.db.collection<ConversationDocument>('conversations').insertMany([
      customer('1', { lastInboundAt: daysAgo(91) }),
      customer('2', current(91)),
      customer('3', { lastInboundAt: daysAgo(95), ...current(91) }),
      customer('4', { lastInboundAt: daysAgo(89), ...current(91) }),
      customer('5', { lastInboundAt: daysAgo(91), ...current(89) }),
      // Just made, for a conversation that is being opened.
      customer('6'),
      // Never wrote, and its conversations were given back: probably a number without the app.
      customer('7', { openings: 1, judged: 1, refunded: [refunded(91)] }),
      customer('8', { openings: 2, judged: 2, refunded: [refunded(91), refunded(89)] }),
      customer('9', { lastInboundAt: daysAgo(91), refunded: [refunded(89)] }),
      // Known only as another number of a customer.
      customer('a', { aliases: ['1'], linkedAt: daysAgo(91) }),
      customer('b', { aliases: ['1'], linkedAt: daysAgo(89) }),
      customer('c', { aliases: ['1'], linkedAt: daysAgo(91), ...current(89) }),
    ]);

    await pruneConversations(deps());

    const left = ['acc_a:4', 'acc_a:5', 'acc_a:6', 'acc_a:8', 'acc_a:9', 'acc_a:b', 'acc_a:c'];
    expect(await idsIn('conversations')).to.deep.equal(left);
  });
});

describe('maintenance: what ended long ago is removed, lines', () => {
  const world = pruneWorld();
  const { daysAgo, deps } = world;
  const hoursAgo = (hours: number) => daysAgo(hours / 24);
  const message = (validUntil: Date) => makeMessage({ _id: newId('msg', daysAgo(2).getTime()), validUntil });

  it('go an hour after the validity of their messages; what is valid, or not written out, stays', async () => {
    const { db } = world.store;
    await enqueue(db, [message(hoursAgo(2))]);
    await enqueue(db, [message(hoursAgo(-1)), message(hoursAgo(2))]);
    await enqueue(db, [message(hoursAgo(0.5))]);
    await writeOutAll(db);
    await enqueue(db, [message(hoursAgo(3))]);

    await pruneOld(deps());

    const stayed = await queueOf(db).find().sort({ until: 1 }).toArray();
    expect(stayed.map(({ written }) => written)).to.deep.equal([undefined, true, true]);
  });

  it('of which an insert may still come late end first, and are kept for a day', async () => {
    const { db } = world.store;
    const one = message(hoursAgo(2));
    await insertAgain(db, [queueDocument(queueId(one._id, 0), [one], daysAgo(1))], daysAgo(1));
    await writeOutAll(db);

    await pruneOld(deps());
    await pruneOld(deps());

    const [kept] = await queueOf(db).find().toArray();
    expect(kept).to.deep.include({ removeAt: daysAgo(-1) });
    expect(kept).not.to.have.property('open');
  });
});

describe('maintenance: what ended long ago is removed, schedules', () => {
  const world = pruneWorld();
  const { daysAgo, deps, idsIn, schedule } = world;

  it('schedules go long after their time; what waits for it, or for a refund, stays', async () => {
    const stay = [
      schedule(100, { state: 'scheduled', due: daysAgo(100) }),
      schedule(100, { state: 'cancelled', due: daysAgo(100) }),
      schedule(100, { at: daysAgo(59) }),
      schedule(100, { releasedAt: daysAgo(1) }),
      schedule(59),
    ];
    const gone = [schedule(61), schedule(100, { state: 'cancelled' })];
    await world.store.db.collection<ScheduleDocument>('schedules').insertMany([...stay, ...gone]);

    await pruneOld(deps());

    expect(await idsIn('schedules')).to.have.members(stay.map(({ _id }) => _id));
  });
});

describe('maintenance: texts of messages are removed after HARKARA_TEXT_DAYS', () => {
  const { deps, delivered, put, messages, daysAgo } = pruneWorld();
  const retention = { ...DAYS, texts: 30 };
  const withText = async () =>
    (
      await messages()
        .find({ text: { $exists: true } })
        .toArray()
    ).map(({ _id }) => _id);

  it('of what ended before; the message stays, and what has not ended keeps its text', async () => {
    const [, young, open] = await put([
      delivered(40),
      delivered(29),
      delivered(40, { state: 'queued', history: [], due: daysAgo(38) }),
    ]);

    await pruneOld(deps({ retention }));

    expect(await withText()).to.have.members([young, open]);
    expect(await messages().countDocuments({ state: 'delivered', segments: 1 })).to.equal(2);
  });

  it('also the words and values of chat-app messages', async () => {
    const { _id, state, history } = delivered(40);
    const { due: _, ...old } = makeChatMessage({
      ...{ _id, state, history },
      content: { kind: 'template', name: 'order_update', language: 'en_US', params: ['Asha'] },
    });
    await put([old]);

    await pruneOld(deps({ retention }));

    const [message] = await messages().find<ChatMessageDocument>({}).toArray();
    expect(message?.content).to.deep.equal({ kind: 'template', name: 'order_update', language: 'en_US' });
  });

  it('a later run goes on where the last one was, and still finds what ended late', async () => {
    const [old] = await put([delivered(80), delivered(43, { history: [{ state: 'delivered', at: daysAgo(31) }] })]);

    await pruneOld(deps({ retention }), daysAgo(0));

    expect(await withText()).to.deep.equal([old]);
  });
});

describe('maintenance: what ended long ago is removed, deliveries', () => {
  const world = pruneWorld();
  const { clock, daysAgo, deliveries, deps, idsIn, put } = world;

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

  it('hold up nothing else: a run that ends early gets to the messages too', async () => {
    await deliveries().insertMany(Array.from({ length: 350 }, () => delivery(100)));
    await put(Array.from({ length: 20 }, () => world.delivered(100)));
    let asked = 0;

    await pruneOld(deps({ held: () => ++asked <= 8 }));

    expect(await world.messages().countDocuments({})).to.equal(0);
    expect(await deliveries().countDocuments({})).to.be.within(1, 349);
  });

  const group = (days: number, overrides: Partial<DeliveryGroup> = {}): DeliveryGroup => {
    const { _id, endpoint, createdAt } = delivery(days);
    return makeGroup({ _id: `${_id}:2`, endpoint, createdAt, ...overrides }, 2);
  };

  it('go in groups too: when all were posted long ago', async () => {
    const stay = [group(100), group(29, { state: 'done' })];
    await groupsOf(world.store.db).insertMany([...stay, group(31, { state: 'done' })]);

    await pruneOld(deps());

    expect(await idsIn('deliveries')).to.have.members(stay.map(({ _id }) => _id));
  });

  it('go when they were posted or given up long ago; what is due, waits or is younger stays', async () => {
    const stay = [
      delivery(100, { state: 'due', due: daysAgo(100) }),
      delivery(100, { state: 'waiting', retryAt: daysAgo(99) }),
      // A late event of an old message, and a replayed delivery.
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
    await world.store.db.collection<EndpointDocument>('endpoints').insertOne(makeEndpoint({ account }));
    const then = new ManualClock(daysAgo(40));
    const announcer = createAnnouncer({ db: world.store.db, clock: then });
    await new Settler({ db: world.store.db, announcer, lease: LEASE, epoch: 1, stream: 'outcomes' }).settle([
      { message: old, decide: () => ({ state: 'sent', entries: [{ state: 'sent', at: then.now() }] }) },
    ]);
    await deliveries().updateMany({}, { $set: { state: 'done' }, $unset: { due: '' } });
    expect(await deliveries().countDocuments({})).to.equal(1);
    await deliveries().deleteMany({});

    await redoIntents(
      world.store.db,
      createAnnouncer({ db: world.store.db, clock }),
      LEASE,
      2,
      oldestUnannounced(clock.now()),
    );

    expect(await idsIn('deliveries')).to.deep.equal([]);
  });
});

/** Plain reads of a collection find nothing, as on a primary replaced before. */
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
