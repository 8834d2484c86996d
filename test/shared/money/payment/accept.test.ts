import { Binary } from 'mongodb';
import { type MessageDocument, queuedMessage } from '../../../../shared/messages/document/message.ts';
import { acceptOnce } from '../../../../shared/messages/follow-on-sms.ts';
import { queueOf } from '../../../../shared/messages/queue/queue-store.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import type { LedgerEntryDocument } from '../../../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { debitEach } from '../../../../shared/money/payment/debit.ts';
import { FollowUp } from '../../../../shared/money/payment/follow-up.ts';
import { systemClock as clock, systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { linesOf, writeOutAll } from '../../../support/queue.ts';
import { silentLog as log, silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

describe('messages/accept', () => {
  const store = useStore();
  let accepter: GroupAccepter;
  const newAccepter = (): GroupAccepter => new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
  const messagesOf = (account: AccountId) => linesOf(store.db, account);
  const accountOf = async (account: AccountId): Promise<AccountDocument> => {
    const found = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    if (found === null) throw new Error('no such account');
    return found;
  };

  before(async () => {
    accepter = newAccepter();
  });

  it('debits one credit and stores the message queued, with its ledger entry', async () => {
    const account = await makeAccount(store.db, 5);
    const draft = makeDraft({ reference: 'order 7' });

    const outcome = await accepter.accept(account, [draft]);

    expect(outcome).to.deep.equal({ kind: 'accepted', credits: 1 });
    expect((await accountOf(account)).balance).to.equal(4);
    await accepter.settled();
    const [message] = await messagesOf(account);
    expect(message).to.include({
      _id: draft._id,
      state: 'queued',
      v: 0,
      tries: 0,
      text: 'hello',
      reference: 'order 7',
    });
    expect(message?.due).to.deep.equal(draft.validUntil);
    // Until the debit is in the ledger, its pending change counts instead.
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
    const ledger = store.db.collection<LedgerEntryDocument>('ledger');
    const entry = await eventually(() => ledger.findOne({ account, seq: 2 }), 'the debit is in the ledger');
    expect(entry).to.include({ change: message?.group, amount: -1, balanceAfter: 4, reason: 'send' });
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  });

  it('gives each of many concurrent requests its own exact answer, and the last credit to exactly one', async () => {
    const account = await makeAccount(store.db, 250);

    const outcomes = await Promise.all(Array.from({ length: 300 }, () => accepter.accept(account, [makeDraft()])));

    const accepted = outcomes.filter((outcome) => outcome.kind === 'accepted');
    expect(accepted).to.have.lengthOf(250);
    expect(outcomes.filter((outcome) => outcome.kind === 'insufficient_credits')).to.have.lengthOf(50);
    await accepter.settled();
    expect(await messagesOf(account)).to.have.lengthOf(250);
    expect((await accountOf(account)).balance).to.equal(0);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  });

  it('serves the small request that still fits when a larger one beside it does not', async () => {
    const account = await makeAccount(store.db, 2);

    const [large, small] = await Promise.all([
      accepter.accept(account, [makeDraft(), makeDraft(), makeDraft()]),
      accepter.accept(account, [makeDraft()]),
    ]);

    expect(large).to.deep.equal({ kind: 'insufficient_credits', balance: 2, required: 3 });
    expect(small).to.deep.equal({ kind: 'accepted', credits: 1 });
    expect((await accountOf(account)).balance).to.equal(1);
  });

  describe('the maintenance, after a process died between debit and follow-up', () => {
    const debitAndDie = async (account: AccountId): Promise<MessageDocument> => {
      const group = newId('grp');
      const message = queuedMessage(account, group, makeDraft());
      await debitEach(store.db, [{ account, group, messages: [message], today: '2026-11-21', done: [] }]);
      return message;
    };

    it('inserts the paid message and the ledger entry, once, and clears the pending change', async () => {
      const account = await makeAccount(store.db, 5);
      const message = await debitAndDie(account);
      expect((await verifyLedger(store.db, account)).problems, 'pending counts as tail').to.deep.equal([]);
      const later = new ManualClock(new Date(Date.now() + 60_000));

      await finishPending(store.db, later);
      await finishPending(store.db, later);

      expect(await messagesOf(account)).to.deep.equal([message]);
      const { pending, pendingAt } = await accountOf(account);
      expect({ pending, pendingAt }).to.deep.equal({ pending: undefined, pendingAt: undefined });
      expect(await verifyLedger(store.db, account)).to.deep.include({ entries: 2, problems: [] });
    });

    it('leaves young changes alone: their gateway may still be at work', async () => {
      const account = await makeAccount(store.db, 5);
      await debitAndDie(account);

      await finishPending(store.db, systemClock);

      expect(await messagesOf(account)).to.deep.equal([]);
      expect(Object.keys((await accountOf(account)).pending ?? {})).to.have.lengthOf(1);
    });

    it('looks at every account that is due: those that paid a while ago hold up none', async () => {
      const later = new ManualClock(new Date(Date.now() + 60_000));
      await finishPending(store.db, later); // left by other tests
      const accounts = store.db.collection<AccountDocument>('accounts');
      const others = await Promise.all(Array.from({ length: 120 }, () => makeAccount(store.db, 1)));
      // As debits leave them when their gateway has cleared what was pending.
      await accounts.updateMany({ _id: { $in: others } }, { $set: { pendingAt: new Date(Date.now() - 1_000) } });
      const account = await makeAccount(store.db, 5);
      const message = await debitAndDie(account);

      const finished = await finishPending(store.db, later);

      expect(finished).to.equal(1);
      expect(await messagesOf(account)).to.deep.equal([message]);
    });

    it('passes over what has nothing left, and comes back to what is young', async () => {
      const accounts = store.db.collection<AccountDocument>('accounts');
      const [quiet, busy] = [await makeAccount(store.db, 5), await makeAccount(store.db, 5)];
      await debitAndDie(busy);
      const before = new Date(Date.now() - 40_000);
      await accounts.updateMany({ _id: { $in: [quiet, busy] } }, { $set: { pendingAt: before } });

      await finishPending(store.db, systemClock);

      expect(await accountOf(quiet)).to.not.have.any.keys('pending', 'pendingAt');
      const { pending, pendingAt } = await accountOf(busy);
      expect(Object.keys(pending ?? {})).to.have.lengthOf(1);
      expect(pendingAt).to.be.above(before);
      expect(await messagesOf(busy)).to.deep.equal([]);
    });

    it('is not held up by an account whose change it cannot do', async () => {
      const [broken, account] = [await makeAccount(store.db, 5), await makeAccount(store.db, 5)];
      await debitAndDie(broken);
      const [group = ''] = Object.keys((await accountOf(broken)).pending ?? {});
      await store.db
        .collection<AccountDocument>('accounts')
        .updateOne({ _id: broken }, { $set: { [`pending.${group}.messages`]: new Binary(Buffer.from('no BSON')) } });
      const message = await debitAndDie(account);

      const recover = finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000)));

      expect(await recover.catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(await messagesOf(account)).to.deep.equal([message]);
      expect(await accountOf(account)).to.not.have.property('pending');
      expect(await accountOf(broken)).to.have.nested.property(`pending.${group}`);
      await store.db.collection<AccountDocument>('accounts').deleteOne({ _id: broken });
    });

    it('does not bring back a message that has moved on', async () => {
      const account = await makeAccount(store.db, 5);
      const message = await debitAndDie(account);
      const messages = store.db.collection<MessageDocument>('messages');
      await messages.insertOne({ ...message, state: 'delivered', v: 3 });

      await finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000)));
      await writeOutAll(store.db);

      expect(await messages.findOne({ _id: message._id })).to.include({ state: 'delivered', v: 3 });
      const [queued] = await queueOf(store.db).find({ account }).toArray();
      expect(queued, 'its message decides, not its line').to.include({ written: true });
    });
  });
});

describe('a message that is accepted again', () => {
  const store = useStore();

  /** Each call acts as another process. */
  const accept = (account: Awaited<ReturnType<typeof makeAccount>>, draft: ReturnType<typeof makeDraft>) =>
    acceptOnce({ db: store.db, clock, followUp: new FollowUp({ db: store.db, clock, log }) }, account, draft);
  const stored = async (account: AccountId) => (await linesOf(store.db, account)).length;

  it('by many processes at the same time, is paid for and stored once', async () => {
    const account = await makeAccount(store.db, 10);
    const draft = makeDraft();

    const outcomes = await Promise.all(Array.from({ length: 8 }, () => accept(account, draft)));

    expect(outcomes).to.deep.equal(Array(8).fill({ kind: 'accepted', credits: 1 }));
    expect(await stored(account)).to.equal(1);
    await eventually(async () => {
      const { problems, balance } = await verifyLedger(store.db, account);
      expect({ problems, balance }).to.deep.equal({ problems: [], balance: 9 });
      return true;
    }, 'the ledger says so');
  });

  it('after the maintenance has finished and cleared its debit, is not paid for again', async () => {
    const account = await makeAccount(store.db, 10);
    const draft = makeDraft();
    await accept(account, draft);
    const later = { ...clock, now: () => new Date(Date.now() + 3_600_000) };
    await finishPending(store.db, later);
    const accounts = store.db.collection<AccountDocument>('accounts');
    expect((await accounts.findOne({ _id: account }))?.pending).to.equal(undefined);

    const again = await accept(account, draft);

    expect(again).to.deep.equal({ kind: 'accepted', credits: 1 });
    expect((await accounts.findOne({ _id: account }))?.balance).to.equal(9);
    expect(await stored(account)).to.equal(1);
  });

  it('without credits is refused and not stored, until there are some', async () => {
    const account = await makeAccount(store.db, 0);
    const draft = makeDraft();

    const refused = await accept(account, draft);

    expect(refused).to.include({ kind: 'insufficient_credits', required: 1 });
    expect(await stored(account)).to.equal(0);
  });
});
