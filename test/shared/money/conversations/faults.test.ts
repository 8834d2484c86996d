import { MongoServerSelectionError } from 'mongodb';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../../../shared/money/conversations/conversation.ts';
import { endChatAttempt, findAcceptedChat } from '../../../../shared/money/conversations/include.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { CHAT_PRICES, chatMessagesOf, customerWrites, makeTemplateDraft } from '../../../support/chat.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { silentLog } from '../../../support/silent-log.ts';

const CUSTOMER = '919876543210';

describe('conversations/open, when things break', () => {
  const site = withCutStore();

  const accepterOn = (db = site.store.db) =>
    createChatAccepter({ db, clock: systemClock, log: silentLog, prices: CHAT_PRICES });
  const later = () => new ManualClock(new Date(Date.now() + 60_000));
  const accountOf = (account: AccountId) =>
    site.store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
  const conversationOf = (account: AccountId) =>
    site.store.db
      .collection<ConversationDocument>('conversations')
      .findOne({ _id: conversationKey(account, CUSTOMER) });
  const chargesOf = (account: AccountId) =>
    site.store.db.collection('ledger').countDocuments({ account, reason: 'conversation' });
  const expectOneCharge = async (account: AccountId): Promise<void> => {
    expect((await accountOf(account))?.balance).to.equal(8);
    expect(await chargesOf(account)).to.equal(1);
    expect((await verifyLedger(site.store.db, account)).problems).to.deep.equal([]);
  };

  for (const [name, command, collection] of [
    ['the debit', 'findAndModify', 'accounts'],
    ["the follow-up in the customer's document", 'update', 'conversations'],
    ['the follow-up in the messages', 'insert', 'messages'],
    ['the follow-up in the ledger', 'insert', 'ledger'],
  ] as const) {
    it(`charges once when the answer to ${name} is lost after it was done`, async () => {
      const account = await makeAccount(site.store.db, 10);
      const lost = site.proxy.loseAnswerTo(command, collection);

      const outcome = await accepterOn(site.cut.db).accept(account, makeTemplateDraft());

      expect(lost.met).to.equal(1);
      expect(outcome).to.include({ kind: 'accepted', credits: 2, balance: 8 });
      expect(await chatMessagesOf(site.store.db, account)).to.have.lengthOf(1);
      expect((await conversationOf(account))?.current?.credits).to.equal(2);
      await expectOneCharge(account);
    });
  }

  for (const [name, command, payBy] of [
    ['an included message', 'insert', undefined],
    ['an included message with a time to pay by', 'findAndModify', new Date(Date.now() + 3_600_000)],
  ] as const) {
    it(`stores ${name} once when the answer is lost after it was stored`, async () => {
      const account = await makeAccount(site.store.db, 10);
      await accepterOn().accept(account, makeTemplateDraft());
      const lost = site.proxy.loseAnswerTo(command, 'messages');

      const outcome = await accepterOn(site.cut.db).accept(account, makeTemplateDraft(), payBy);

      expect(lost.met).to.equal(1);
      expect(outcome).to.include({ kind: 'accepted', credits: 0 });
      expect(await chatMessagesOf(site.store.db, account)).to.have.lengthOf(2);
      await expectOneCharge(account);
    });
  }

  it('does not deny an included message that is stored because the one beside it could not be', async () => {
    const account = await makeAccount(site.store.db, 10);
    await accepterOn().accept(account, makeTemplateDraft());
    const noServer = Object.assign(Object.create(MongoServerSelectionError.prototype), { message: 'no server' });
    const gone = new Proxy(site.store.db.collection('messages'), {
      get: (target, property) =>
        property === 'findOneAndUpdate' ? () => Promise.reject(noServer) : Reflect.get(target, property),
    });
    const db = new Proxy(site.store.db, {
      get(target, property) {
        if (property !== 'collection') return Reflect.get(target, property);
        return (name: string) => (name === 'messages' ? gone : target.collection(name));
      },
    });
    const accepter = accepterOn(db);

    const [plain, keyed] = await Promise.allSettled([
      accepter.accept(account, makeTemplateDraft()),
      accepter.accept(account, makeTemplateDraft(), new Date(Date.now() + 3_600_000)),
    ]);

    expect(plain).to.have.nested.property('value.kind', 'accepted');
    expect(keyed).to.have.property('reason', noServer);
    expect(await chatMessagesOf(site.store.db, account)).to.have.lengthOf(2);
  });

  it('says that the outcome is unknown when debits do not get through, and may be asked again', async () => {
    const account = await makeAccount(site.store.db, 10);
    const lost = site.proxy.loseAll('findAndModify', 'accounts');

    const outcome = await accepterOn(site.cut.db).accept(account, makeTemplateDraft());
    lost.end();

    expect(outcome).to.deep.equal({ kind: 'outcome_unknown' });
    expect((await accountOf(account))?.balance).to.equal(10);
    expect(await accepterOn(site.cut.db).accept(account, makeTemplateDraft())).to.include({ kind: 'accepted' });
  });

  it('lets nothing leave that came too late to be included, and shows it to nobody', async () => {
    const account = await makeAccount(site.store.db, 10);
    await accepterOn().accept(account, makeTemplateDraft());
    const draft = makeTemplateDraft();

    const outcome = await accepterOn().accept(account, draft, new Date(Date.now() - 1));

    expect(outcome).to.deep.equal({ kind: 'too_late' });
    expect(await chatMessagesOf(site.store.db, account)).to.have.lengthOf(1);
    expect(await findAcceptedChat(site.store.db, account, draft._id)).to.equal(undefined);
    await expectOneCharge(account);
  });

  describe('a process that is cut off between debit and follow-up', () => {
    /** The process has paid, but its follow-up does not reach the store. */
    const payAndVanish = async (account: AccountId, draft = makeTemplateDraft()) => {
      const lost = site.proxy.loseAll('update', 'conversations');
      try {
        const outcome = await accepterOn(site.cut.db).accept(account, draft);
        if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
        return outcome;
      } finally {
        lost.end();
      }
    };

    it('leaves all that the maintenance needs: conversation, message and ledger are stored, once', async () => {
      const account = await makeAccount(site.store.db, 10);
      await customerWrites(site.store.db, account, '919876543299');
      const draft = makeTemplateDraft();

      const { conversation } = await payAndVanish(account, draft);

      expect(await conversationOf(account)).to.equal(null);
      expect(await chatMessagesOf(site.store.db, account)).to.deep.equal([]);
      expect((await verifyLedger(site.store.db, account)).problems, 'pending counts as tail').to.deep.equal([]);
      expect(await findAcceptedChat(site.store.db, account, draft._id)).to.deep.include({
        _id: draft._id,
        conversation,
      });

      await Promise.all([finishPending(site.store.db, later()), finishPending(site.store.db, later())]);
      await finishPending(site.store.db, later());

      const [message, ...more] = await chatMessagesOf(site.store.db, account);
      expect(message).to.deep.include({ _id: draft._id, conversation, state: 'queued', content: draft.content });
      expect(more).to.deep.equal([]);
      expect((await conversationOf(account))?.current).to.include({ id: conversation, opener: draft._id, credits: 2 });
      const after = await accountOf(account);
      expect([after?.pending, after?.opening, after?.pendingAt]).to.deep.equal([undefined, undefined, undefined]);
      await expectOneCharge(account);
    });

    it('has paid for its message: a caller who repeats it after its time leaves it to the maintenance', async () => {
      const account = await makeAccount(site.store.db, 10);
      const draft = makeTemplateDraft();
      await payAndVanish(account, draft);

      const over = await endChatAttempt(site.store.db, account, draft._id, new Date(Date.now() - 1));
      await finishPending(site.store.db, later());

      expect(over).to.equal(true);
      const messages = await chatMessagesOf(site.store.db, account);
      expect(messages.map(({ _id, state, v }) => ({ _id, state, v }))).to.deep.equal([
        { _id: draft._id, state: 'queued', v: 0 },
      ]);
      await expectOneCharge(account);
    });

    it('has opened the conversation: what other gateways accept meanwhile goes in it', async () => {
      const account = await makeAccount(site.store.db, 10);
      const { conversation } = await payAndVanish(account);

      const other = await accepterOn().accept(account, makeTemplateDraft());
      await finishPending(site.store.db, later());

      expect(other).to.deep.equal({ kind: 'accepted', conversation, credits: 0 });
      expect(await chatMessagesOf(site.store.db, account)).to.have.lengthOf(2);
      await expectOneCharge(account);
    });

    it('is not followed up by the maintenance while it may still be at work, nor are others in its way', async () => {
      const account = await makeAccount(site.store.db, 10);
      await payAndVanish(account);
      const other = await accepterOn().accept(account, makeTemplateDraft({ to: '919876543299' }));

      await finishPending(site.store.db, systemClock);

      expect(other).to.include({ kind: 'accepted', credits: 2, balance: 6 });
      expect(await conversationOf(account)).to.equal(null);
      expect((await verifyLedger(site.store.db, account)).problems).to.deep.equal([]);
      await finishPending(site.store.db, later());
      expect(await chargesOf(account)).to.equal(2);
      expect((await verifyLedger(site.store.db, account)).problems).to.deep.equal([]);
    });
  });
});
