import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import type { ScheduleDocument } from '../../../shared/messages/schedule.ts';
import { oldestUnannounced, redoIntents, writeIntent } from '../../../shared/messages/settlement/intents.ts';
import { MessageLog, type OrphanDocument } from '../../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../../shared/messages/settlement/settle.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { lowestId, type MessageId, newId, testAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { type PruneDeps, pruneOld } from '../../../workers/maintenance/prune.ts';
import { messageWalk } from '../../../workers/maintenance/pruning/messages.ts';
import { candidateKeys } from '../../../workers/smpp/dialect/message-ids.ts';
import { ORPHAN_MS } from '../../../workers/smpp/receipts/receipt-match.ts';
import { ReceiptSettler } from '../../../workers/smpp/receipts/settle-receipts.ts';
import { Died, dyingDb } from '../../support/dying-db.ts';
import { makeAccount } from '../../support/make.ts';
import { LEASE, pruneWorld } from '../../support/prune-world.ts';
import { noAnswers } from '../../support/receipt-world.ts';
import { silentLog } from '../../support/silent-log.ts';

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

    // Deliveries, schedules and batches ask once each, because there are none of them. Messages ask twice for each group.
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
    // The ranges rely on this: an id that is made later is never lower.
    expect(newId('msg', daysAgo(90).getTime()) >= lowestId('msg', daysAgo(90))).to.equal(true);
    expect(newId('msg', daysAgo(91).getTime()) < lowestId('msg', daysAgo(90))).to.equal(true);
  });
});
