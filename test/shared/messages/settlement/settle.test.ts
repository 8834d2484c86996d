import { type Db, MongoNetworkError } from 'mongodb';
import type { StateChange } from '../../../../shared/events/catalogue.ts';
import { type Announcer, createAnnouncer } from '../../../../shared/events/webhooks/announce.ts';
import { deliveriesOf } from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import { type Change, entryAt } from '../../../../shared/messages/document/change.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { LeaseLostError, redoIntents, STREAMS } from '../../../../shared/messages/settlement/intents.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { useStore } from '../../../support/store.ts';
import { makeEndpoint } from '../../events/webhooks/make.ts';

const LEASE = 'carrier:c';

/** Fails while `away`, as the real one does while the store is away. */
class TestAnnouncer implements Announcer {
  readonly told: string[] = [];
  away = false;

  async announce(changes: readonly StateChange[]): Promise<void> {
    if (this.away) throw new Error('the store is away');
    this.told.push(...changes.map(({ message, entry }) => `${message._id} ${entry.state}`));
  }
}

/** Executes the first command `name` on `collection`, but loses the answer. */
function losingAnswerOf(db: Db, name: string, collection: string): Db {
  let lost = false;
  return new Proxy(db, {
    get(target, property) {
      if (property !== 'command') return Reflect.get(target, property);
      return async (...[command, options]: Parameters<Db['command']>) => {
        const answer = await target.command(command, options);
        if (lost || Reflect.get(command, name) !== collection) return answer;
        lost = true;
        throw new MongoNetworkError('the connection broke');
      };
    },
  });
}

/** Another writer follows its update of messages before the answer. */
function followedBy(db: Db, other: () => Promise<unknown>): Db {
  return new Proxy(db, {
    get(target, property) {
      if (property !== 'command') return Reflect.get(target, property);
      return async (...[command, options]: Parameters<Db['command']>) => {
        const answer = await target.command(command, options);
        if (Reflect.get(command, 'update') === 'messages') await other();
        return answer;
      };
    },
  });
}

function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('Settler', () => {
  const clock = new ManualClock();
  const store = useStore();
  let announcer: TestAnnouncer;
  beforeEach(async () => {
    announcer = new TestAnnouncer();
    for (const name of ['messages', 'intents', 'accounts', 'ledger']) await store.db.collection(name).deleteMany({});
  });

  const messages = () => store.db.collection<MessageDocument>('messages');
  const settler = (epoch = 1) => new Settler({ db: store.db, announcer, lease: LEASE, epoch, stream: 'outcomes' });
  const put = async (overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> => {
    const message = makeMessage({
      state: 'submitting',
      claim: { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() },
      v: 1,
      ...overrides,
    });
    await messages().insertOne(message);
    return message;
  };
  const stored = async (message: MessageDocument): Promise<MessageDocument> => {
    const found = await messages().findOne({ _id: message._id });
    if (found === null) throw new Error('no such message');
    return found;
  };
  const sent = (message: MessageDocument): Change | undefined =>
    message.state === 'submitting'
      ? { state: 'sent', entries: [entryAt('sent', clock.now(), message.history)] }
      : undefined;
  const rejected = (message: MessageDocument): Change | undefined =>
    message.state === 'submitting'
      ? { state: 'rejected', entries: [entryAt('rejected', clock.now(), message.history)], unset: ['due'] }
      : undefined;

  it('writes the change, announces its event, and returns what is stored', async () => {
    const message = await put();

    const [settled] = await settler().settle([{ message, decide: sent }]);

    expect(settled).to.deep.equal(await stored(message));
    expect(settled).to.include({ state: 'sent', v: 2 });
    expect(announcer.told).to.deep.equal([`${message._id} sent`]);
  });

  it('decides anew when the message has changed since it was read', async () => {
    const message = await put();
    await messages().updateOne({ _id: message._id }, { $set: { errorCode: 'x' }, $inc: { v: 1 } });

    const [settled] = await settler().settle([{ message, decide: sent }]);

    expect(settled).to.include({ state: 'sent', v: 3, errorCode: 'x' });
    expect(await stored(message)).to.include({ state: 'sent', v: 3 });
  });

  it('leaves alone what ended meanwhile, and settles the rest of its group', async () => {
    const [ended, open] = [await put(), await put()];
    await messages().updateOne({ _id: ended._id }, { $set: { state: 'expired' }, $inc: { v: 1 } });

    await settler().settle([
      { message: ended, decide: sent },
      { message: open, decide: sent },
    ]);

    expect((await stored(ended)).state).to.equal('expired');
    expect((await stored(open)).state).to.equal('sent');
    expect(announcer.told).to.deep.equal([`${open._id} sent`]);
  });

  it('a change that another stream followed before it was read back is announced all the same', async () => {
    const [ended, open] = [await put(), await put()];
    await messages().updateOne({ _id: ended._id }, { $set: { state: 'expired' }, $inc: { v: 1 } });
    const db = followedBy(store.db, () =>
      messages().updateOne({ _id: open._id }, { $set: { tries: 7 }, $inc: { v: 1 } }),
    );
    const overtaken = new Settler({ db, announcer, lease: LEASE, epoch: 1, stream: 'outcomes' });

    const [, settled] = await overtaken.settle([
      { message: ended, decide: sent },
      { message: open, decide: sent },
    ]);

    expect(announcer.told).to.deep.equal([`${open._id} sent`]);
    expect(settled).to.include({ state: 'sent', v: 3, tries: 7 });
  });

  it('settled again because the answer of the store was lost: the same, and its event again', async () => {
    const message = await put();
    await settler().settle([{ message, decide: sent }]);

    const [again] = await settler().settle([{ message, decide: sent }]);

    expect(again).to.deep.include({ state: 'sent', v: 2 });
    expect((await stored(message)).history).to.have.length(1);
  });

  it('an event that could not be announced is announced before the next group', async () => {
    const [first, second] = [await put(), await put()];
    const worker = settler();
    announcer.away = true;
    await worker.settle([{ message: first, decide: sent }]).catch(() => {});

    announcer.away = false;
    await worker.settle([{ message: second, decide: sent }]);

    expect(announcer.told).to.deep.equal([`${first._id} sent`, `${second._id} sent`]);
  });

  it('a change whose answer was lost, and which nobody settles again, is followed up before the next group', async () => {
    const account = await makeAccount(store.db, 0);
    const [first, second] = [await put({ account }), await put({ account })];
    const lossy = new Settler({
      db: losingAnswerOf(store.db, 'update', 'messages'),
      announcer,
      lease: LEASE,
      epoch: 1,
      stream: 'receipts',
    });

    const error = await rejectionOf(lossy.settle([{ message: first, decide: rejected }]));
    await lossy.settle([{ message: second, decide: sent }]);

    expect(error).to.be.instanceOf(MongoNetworkError);
    expect(await stored(first)).to.include({ state: 'rejected' });
    expect(announcer.told).to.deep.equal([`${first._id} rejected`, `${second._id} sent`]);
    const paid = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(paid?.balance).to.equal(1);
  });

  it('a change that never reached the store is not announced', async () => {
    const message = await put();
    let away = true;
    const db = new Proxy(store.db, {
      get(target, property) {
        if (property !== 'command' || !away) return Reflect.get(target, property);
        return () => Promise.reject(new MongoNetworkError('the connection broke'));
      },
    });
    const cut = new Settler({ db, announcer, lease: LEASE, epoch: 1, stream: 'receipts' });

    await rejectionOf(cut.settle([{ message, decide: sent }]));
    away = false;
    await cut.finishFollowUps();

    expect(await stored(message)).to.include({ state: 'submitting' });
    expect(announcer.told).to.deep.equal([]);
  });

  it('a holder that dies between the change and its events: the next one announces and refunds', async () => {
    const account = await makeAccount(store.db, 10);
    const message = await put({ account });
    announcer.away = true;
    await settler()
      .settle([{ message, decide: rejected }])
      .catch(() => {});

    announcer.away = false;
    await redoIntents(store.db, announcer, LEASE, 2);
    await redoIntents(store.db, announcer, LEASE, 3);

    const paid = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(new Set(announcer.told)).to.deep.equal(new Set([`${message._id} rejected`]));
    expect(paid?.balance).to.equal(11);
  });

  it('what a redo announces again is new to no endpoint that was registered, or subscribed to it, since', async () => {
    const account = newId('acc');
    const message = await put({ account });
    await settler().settle([{ message, decide: sent }]);
    const at = (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000);
    const earlier = [
      makeEndpoint({ account, createdAt: at(-1) }),
      makeEndpoint({ account, createdAt: at(-2), subscribedSince: at(-1) }),
    ];
    const since = [
      makeEndpoint({ account, createdAt: at(1) }),
      makeEndpoint({ account, createdAt: at(-1), subscribedSince: at(1) }),
    ];
    await store.db.collection<EndpointDocument>('endpoints').insertMany([...earlier, ...since]);

    await redoIntents(store.db, createAnnouncer({ db: store.db, clock }), LEASE, 2);

    const deliveries = await deliveriesOf(store.db).find({ account }).toArray();
    expect(deliveries.map(({ endpoint }) => endpoint)).to.have.members(earlier.map(({ _id }) => _id));
  });

  it('an earlier holder settles nothing once a later one was here', async () => {
    const [mine, theirs] = [await put(), await put()];
    await settler(2).settle([{ message: theirs, decide: sent }]);

    const late = await settler(1)
      .settle([{ message: mine, decide: sent }])
      .catch((error: unknown) => error);

    expect(late).to.be.instanceOf(LeaseLostError);
    expect((await stored(mine)).state).to.equal('submitting');
  });

  it('nor once a later one has only begun: no stream of the lease is open to it', async () => {
    const mine = await put();
    await redoIntents(store.db, announcer, LEASE, 9);

    const late = await Promise.all(
      STREAMS.map((stream) =>
        new Settler({ db: store.db, announcer, lease: LEASE, epoch: 8, stream })
          .settle([{ message: mine, decide: sent }])
          .catch((error: unknown) => error),
      ),
    );
    const begun = await redoIntents(store.db, announcer, LEASE, 8).catch((error: unknown) => error);

    for (const error of [...late, begun]) expect(error).to.be.instanceOf(LeaseLostError);
    expect((await stored(mine)).state).to.equal('submitting');
    expect(announcer.told).to.deep.equal([]);
  });
});
