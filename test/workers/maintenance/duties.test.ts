import { type Announcer, createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import type { MessageDocument, MessageDraft } from '../../../shared/messages/document/message.ts';
import { WRITE_OUT_MS } from '../../../shared/messages/queue/queue-document.ts';
import { claimLines } from '../../../shared/messages/queue/queue-store.ts';
import { Settler } from '../../../shared/messages/settlement/settle.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../shared/money/payment/accept.ts';
import type { LeaseDocument } from '../../../shared/platform/leases/lease.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, type MessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { Duties } from '../../../workers/maintenance/duties.ts';
import { DueMessages } from '../../../workers/maintenance/settle-due.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { TEST_CONFIG } from '../../support/gateway.ts';
import { makeAccount, makeDraft, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { enqueue, writeOutAll } from '../../support/queue.ts';
import { silentLog } from '../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('maintenance duties', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const dutiesAt = async (
    clock: ManualClock,
    announcer: Announcer = createAnnouncer({ db: store.db, clock }),
    stopMs = 60_000,
  ): Promise<Duties> => {
    const duties = new Duties({
      db: store.db,
      clock,
      log: silentLog,
      metrics: new Metrics(),
      notes: {},
      announcer,
      retention: { messages: 90, texts: 90, deliveries: 30, batches: 90, closedAccounts: 365 },
      statements: TEST_CONFIG,
      box: TEST_BOX,
      store: 'embedded',
      stopMs,
    });
    await duties.keepLease();
    return duties;
  };
  const messages = () => store.db.collection<MessageDocument>('messages');
  const accept = async (account: AccountId, drafts: readonly MessageDraft[]): Promise<void> => {
    const accepter = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
    await accepter.accept(account, drafts);
    await accepter.settled();
    await writeOutAll(store.db);
  };
  const accepted = async (account: AccountId, validUntil: Date): Promise<MessageId> => {
    const draft = makeDraft({ validUntil });
    await accept(account, [draft]);
    return draft._id;
  };
  const inHours = (hours: number): Date => new Date(Date.now() + hours * 3_600_000);

  it('inserts messages that have waited as lines for long, with what a carrier has claimed of them', async () => {
    const clock = new ManualClock();
    const duties = await dutiesAt(clock);
    expect(await duties.writeOut()).to.equal('idle');
    const account = newId('acc');
    const made = Array.from({ length: 3 }, () => makeMessage({ account, _id: newId('msg') }));
    const [head] = await enqueue(store.db, made, clock.now());
    if (head === undefined) throw new Error('nothing is queued');
    expect(await duties.writeOut()).to.equal('waiting');
    const claim = { id: newId('clm'), carrier: 'a', epoch: 1, at: clock.now() };
    await claimLines(store.db, claim, [{ head, to: 1 }]);
    clock.turn(WRITE_OUT_MS);

    expect(await duties.writeOut()).to.equal('more');

    expect(await duties.writeOut()).to.equal('idle');
    const [first, ...others] = made;
    expect(await messages().find().sort({ _id: 1 }).toArray()).to.deep.equal([
      { ...first, state: 'submitting', claim, v: 1 },
      ...others,
    ]);
  });

  it('expires a queued message when its validity is over: refunded once, told to the endpoint once', async () => {
    const account = await makeAccount(store.db, 1);
    await store.db.collection<EndpointDocument>('endpoints').insertOne({
      _id: newId('whk'),
      account,
      channel: 'sms',
      url: 'https://example.com/',
      place: 0,
      events: ['message.expired'],
      secrets: [],
      status: 'active',
      createdAt: new Date(),
    });
    const id = await accepted(account, inHours(1));
    const duties = await dutiesAt(new ManualClock(inHours(2)));

    await duties.run('due');
    await duties.run('due');

    const message = await messages().findOne({ _id: id });
    expect(message).to.include({ state: 'expired', errorCode: 'validity_expired' });
    expect(message).to.not.have.property('due');
    const deliveries = await store.db.collection<DeliveryDocument>('deliveries').find().toArray();
    expect(deliveries.map(({ event }) => event)).to.deep.equal(['message.expired']);
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 1, problems: [] });
    expect((await store.db.collection<AccountDocument>('accounts').findOne({ _id: account }))?.balance).to.equal(1);
  });

  it('puts a message that waited back into its queue, and no other', async () => {
    const account = await makeAccount(store.db, 2);
    const [waiting, later] = [await accepted(account, inHours(48)), await accepted(account, inHours(48))];
    await messages().updateOne({ _id: waiting }, { $set: { state: 'waiting', due: inHours(1) } });
    await messages().updateOne({ _id: later }, { $set: { state: 'waiting', due: inHours(3) } });
    const duties = await dutiesAt(new ManualClock(inHours(2)));

    await duties.run('due');

    expect(await messages().findOne({ _id: waiting })).to.include({ state: 'queued' });
    expect(await messages().findOne({ _id: later })).to.include({ state: 'waiting' });
  });

  it('works off more than one group in one turn', async () => {
    const account = await makeAccount(store.db, 450);
    const drafts = Array.from({ length: 450 }, () => makeDraft({ validUntil: inHours(1) }));
    await accept(account, drafts);
    const duties = await dutiesAt(new ManualClock(inHours(2)));

    await duties.run('due');

    expect(await messages().countDocuments({ account, state: 'expired' })).to.equal(450);
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 450, problems: [] });
  });

  it('settles what others have due after a group of what one account has due at one moment', async () => {
    const now = new Date();
    const clock = new ManualClock(now);
    await dutiesAt(clock); // holds the lease
    const [many, few] = [newId('acc', now.getTime() - 1), newId('acc', now.getTime())];
    const opening = new Date(now.getTime() - 2_000);
    const waiting = (account: AccountId, due: Date) =>
      makeMessage({ account, state: 'waiting', due, validUntil: inHours(1) });
    const before = waiting(few, new Date(opening.getTime() - 1));
    const others = [waiting(few, opening), waiting(few, new Date(opening.getTime() + 1_000))];
    await messages().insertMany([...Array.from({ length: 450 }, () => waiting(many, opening)), before, ...others]);
    const announcer = createAnnouncer({ db: store.db, clock });
    const settler = new Settler({ db: store.db, announcer, lease: 'maintenance', epoch: 1, stream: 'due' });
    const due = new DueMessages({ db: store.db, settler, clock });
    const queued = (account: AccountId) => messages().countDocuments({ account, state: 'queued' });

    await due.settleGroup();
    expect([await queued(many), await queued(few)]).to.deep.equal([199, 1]);
    await due.settleGroup();
    expect([await queued(many), await queued(few)]).to.deep.equal([199, 3]);

    while ((await due.settleGroup()) > 0);
    expect(await queued(many)).to.equal(450);
  });

  it('does nothing while another process holds the lease', async () => {
    const account = await makeAccount(store.db, 1);
    const id = await accepted(account, inHours(1));
    await store.db
      .collection<{ _id: string; owner: string; epoch: number; until: Date }>('leases')
      .insertOne({ _id: 'maintenance', owner: 'other@boot/1/1', epoch: 4, until: inHours(1) });
    const duties = await dutiesAt(new ManualClock(inHours(2)));

    await duties.run('due');

    expect(await messages().findOne({ _id: id })).to.include({ state: 'queued' });
  });

  it('removes what is old when nobody else holds the lease, and only then', async () => {
    const now = Date.now() + 100 * 86_400_000;
    const { due: _, ...message } = makeMessage({
      state: 'delivered',
      history: [{ state: 'delivered', at: new Date() }],
    });
    await messages().insertOne(message);
    const lease = store.db.collection<{ _id: string; owner: string; epoch: number; until: Date }>('leases');
    await lease.insertOne({ _id: 'maintenance', owner: 'other@boot/1/1', epoch: 4, until: inHours(1) });
    const duties = await dutiesAt(new ManualClock(new Date(now)));

    await duties.run('prune');
    expect(await messages().countDocuments({})).to.equal(1);

    await lease.updateOne({ _id: 'maintenance' }, { $set: { until: new Date(0) } });
    await duties.keepLease();
    await duties.run('prune');
    expect(await messages().countDocuments({})).to.equal(0);
  });

  it('does again, as the next holder, the refund and the event that a dead holder left half done', async () => {
    const account = await makeAccount(store.db, 1);
    const id = await accepted(account, inHours(48));
    await messages().updateOne(
      { _id: id },
      { $set: { state: 'expired', history: [{ state: 'expired', at: new Date() }] }, $unset: { due: '' } },
    );
    await store.db
      .collection<{ _id: string; epoch: number; messages: MessageId[] }>('intents')
      .insertOne({ _id: 'maintenance/due', epoch: 1, messages: [id] });

    await dutiesAt(new ManualClock(inHours(2)));

    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 1, problems: [] });
  });

  describe('stop', () => {
    const isLeaseFree = async (): Promise<boolean> => {
      const lease = await store.db.collection<LeaseDocument>('leases').findOne({ _id: 'maintenance' });
      return lease?.until.getTime() === 0;
    };
    /** An announcer that waits within a settle until released. */
    const heldAnnouncer = () => {
      const { announce } = createAnnouncer({ db: store.db, clock: systemClock });
      let reach = (): void => {};
      let goOn = (): void => {};
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      const letGo = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const announcer: Announcer = {
        announce: async (changes) => {
          reach();
          await letGo;
          await announce(changes);
        },
      };
      return { announcer, reached, goOn };
    };

    it('waits for the group that is being settled, begins no other, then gives the lease back', async () => {
      const account = await makeAccount(store.db, 450);
      await accept(
        account,
        Array.from({ length: 450 }, () => makeDraft({ validUntil: inHours(1) })),
      );
      const { announcer, reached, goOn } = heldAnnouncer();
      const duties = await dutiesAt(new ManualClock(inHours(2)), announcer);
      void duties.run('due');
      await reached;

      const stopped = duties.stop();
      expect(await isLeaseFree()).to.equal(false);
      goOn();
      await stopped;

      expect(await isLeaseFree()).to.equal(true);
      expect(await messages().countDocuments({ account, state: 'expired' })).to.equal(200);
      expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 200, problems: [] });
      await duties.run('due');
      await duties.keepLease();
      expect(await isLeaseFree()).to.equal(true);
    });

    it('leaves the lease as it is when a duty does not end in time', async () => {
      const account = await makeAccount(store.db, 1);
      await accepted(account, inHours(1));
      const { announcer, reached, goOn } = heldAnnouncer();
      const duties = await dutiesAt(new ManualClock(inHours(2)), announcer, 1);
      const settled = duties.run('due');
      await reached;

      await duties.stop();

      expect(await isLeaseFree()).to.equal(false);
      goOn();
      await settled;
    });
  });
});
