import { expect } from 'chai';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/conversations/conversation.ts';
import { createChatAccepter } from '../../../shared/conversations/open.ts';
import { voidConversation } from '../../../shared/conversations/store.ts';
import { giveBackRefused } from '../../../shared/conversations/void.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import type { ChatMessageDocument } from '../../../shared/messages/chat-message.ts';
import { connectStore } from '../../../shared/mongo/connect.ts';
import { type Clock, systemClock } from '../../../shared/runtime/clock.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { checkDeparture, type Departure } from '../../../workers/chatapp/depart.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { CHAT_PRICES, chatMessagesOf, customerWrites, makeTemplateDraft, makeTextDraft } from '../../support/chat.ts';
import { openLossyStore } from '../../support/lossy-store.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const CUSTOMER = '919876543210';

const REFUSED = { state: 'rejected', parts: [{ state: 'refused' }] } as const;

const CLAIMED = { state: 'submitting' } as const;

describe('conversations/depart: another conversation', () => {
  let store: TestStore;

  let clock: ManualClock;

  let account: AccountId;

  before(async () => {
    store = await openTestStore();
  });

  after(() => store.close());

  beforeEach(async () => {
    clock = new ManualClock(new Date());
    account = await makeAccount(store.db, 10);
  });

  const accepterOn = (db = store.db, at: Clock = clock) =>
    createChatAccepter({ db, clock: at, log: silentLog, prices: CHAT_PRICES });

  const accept = async (draft = makeTemplateDraft()): Promise<ChatMessageDocument> => {
    const outcome = await accepterOn().accept(account, draft);
    if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
    return message(draft._id);
  };

  const message = async (id: ChatMessageDocument['_id']): Promise<ChatMessageDocument> => {
    const found = (await chatMessagesOf(store.db, account)).find(({ _id }) => _id === id);
    if (found === undefined) throw new Error('no such message');
    return found;
  };

  const depart = (messages: readonly ChatMessageDocument[]): Promise<Departure[]> =>
    checkDeparture({ db: store.db, clock, accepter: accepterOn() }, messages).then((map) => [...map.values()]);

  const set = (one: ChatMessageDocument, change: Partial<ChatMessageDocument>) =>
    store.db.collection<ChatMessageDocument>('messages').updateOne({ _id: one._id }, { $set: change });

  const refuse = async (one: ChatMessageDocument): Promise<void> => {
    await set(one, REFUSED);
    await giveBackRefused(store.db, [await message(one._id)]);
  };

  const accounts = () => store.db.collection<AccountDocument>('accounts');

  const balance = async () => (await accounts().findOne({ _id: account }))?.balance;

  const conversation = () =>
    store.db.collection<ConversationDocument>('conversations').findOne({ _id: conversationKey(account, CUSTOMER) });

  const expectWholeLedger = async (): Promise<void> => {
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  };

  const standingInTheWay: readonly [string, Partial<AccountDocument>, string][] = [
    ['no credits are left', { balance: 1 }, 'insufficient_credits'],
    ['the credits have expired', { expiryDate: '2020-01-01' }, 'insufficient_credits'],
    ['the account is suspended', { status: 'suspended' }, 'account_suspended'],
  ];

  it('pays for another one when its own was given back longer ago than the customer’s document remembers', async () => {
    const opener = await accept();
    const rider = await accept();
    await refuse(opener);
    await store.db
      .collection<ConversationDocument>('conversations')
      .updateOne({ _id: conversationKey(account, CUSTOMER) }, { $set: { voided: [] } });
    await set(rider, CLAIMED);

    expect((await depart([rider])).map(({ kind }) => kind)).to.deep.equal(['go']);

    expect((await message(rider._id)).conversation).not.to.equal(opener.conversation);
    expect(await balance()).to.equal(8);
    await expectWholeLedger();
  });

  it('pays the user price again inside the session', async () => {
    await customerWrites(store.db, account, CUSTOMER, clock.now());
    const opener = await accept(makeTextDraft());
    const rider = await accept(makeTextDraft());
    await refuse(opener);

    expect((await depart([rider])).map(({ kind }) => kind)).to.deep.equal(['go']);
    expect(await balance()).to.equal(9);
  });

  it('pays once when two processes ask for the same messages at once', async () => {
    const opener = await accept();
    const riders = [await accept(), await accept()];
    await refuse(opener);

    const [one, other] = await Promise.all([depart(riders), depart(riders)]);

    expect(one).to.deep.equal(other);
    expect(await balance()).to.equal(8);
    const stored = await Promise.all(riders.map(({ _id }) => message(_id)));
    expect(stored.filter(({ opened }) => opened !== undefined)).to.have.lengthOf(1);
    await expectWholeLedger();
  });

  for (const [what, change, code] of standingInTheWay) {
    it(`refuses it with ${code} when ${what}, and charges nothing`, async () => {
      const opener = await accept();
      const rider = await accept();
      await refuse(opener);
      await accounts().updateOne({ _id: account }, { $set: change });
      const before = await balance();

      const [departure] = await depart([rider]);

      expect(departure).to.include({ kind: 'refuse', code });
      expect(await balance()).to.equal(before);
      expect(await message(rider._id)).to.deep.equal(rider);
    });
  }

  it('waits for the refund when that is what it is short of', async () => {
    const opener = await accept();
    const rider = await accept();
    await accounts().updateOne({ _id: account }, { $set: { balance: 1 } });
    const read = await conversation();
    if (read === null) throw new Error('it is stored');
    await voidConversation(store.db, read, opener.conversation);

    const early = await depart([rider]);
    await refuse(opener);
    const then = await depart([rider]);

    expect(early).to.deep.equal([]);
    expect(then.map(({ kind }) => kind)).to.deep.equal(['go']);
    expect(await balance()).to.equal(1);
  });

  describe('a worker that is cut off after it paid for another conversation', () => {
    const payAndVanish = async (rider: ChatMessageDocument): Promise<void> => {
      const lossy = await openLossyStore(store.uri);
      const cut = await connectStore({ mongodbUri: lossy.uri, dataDir: '', mongodbDatabase: store.db.databaseName });
      lossy.loseAll('update', 'conversations');
      const outcome = await accepterOn(cut.db, systemClock).acceptAgain(rider);
      await cut.close();
      await lossy.close();
      expect(outcome).to.include({ kind: 'accepted', credits: 2 });
      expect((await conversation())?.current).to.equal(undefined);
    };
    const sweep = () => finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000)));

    it('has paid: the next one finds the conversation and its opener, and the sweep writes it', async function () {
      this.timeout(30_000);
      const opener = await accept();
      const rider = await accept();
      await refuse(opener);
      await payAndVanish(rider);

      const [departure] = await depart([rider]);
      await sweep();

      const current = (await conversation())?.current;
      expect(departure).to.deep.equal({ kind: 'go', conversation: current?.id });
      expect(await message(rider._id)).to.deep.include({
        conversation: current?.id,
        opened: { group: current?.group, credits: 2 },
        v: 1,
      });
      expect(await balance()).to.equal(8);
      await expectWholeLedger();
    });

    it('is given back once when that message is refused before the sweep, which brings nothing back', async function () {
      this.timeout(30_000);
      const opener = await accept();
      const rider = await accept();
      await refuse(opener);
      await payAndVanish(rider);
      await depart([rider]);

      await refuse(await message(rider._id));
      await sweep();
      const swept = (await conversation())?.current;
      const next = await accept();

      expect(swept).to.equal(undefined);
      expect((await conversation())?.current?.id).to.equal(next.conversation);
      expect((await conversation())?.voided).to.have.lengthOf(2);
      expect(await balance()).to.equal(8);
      await expectWholeLedger();
    });

    it('is followed up by the sweep alone when nobody asks again', async function () {
      this.timeout(30_000);
      const opener = await accept();
      const rider = await accept();
      await refuse(opener);
      await payAndVanish(rider);

      await sweep();

      const current = (await conversation())?.current;
      expect(current?.opener).to.equal(rider._id);
      expect(await message(rider._id)).to.deep.include({
        conversation: current?.id,
        opened: { group: current?.group, credits: 2 },
      });
      expect(await chatMessagesOf(store.db, account)).to.have.lengthOf(2);
      await expectWholeLedger();
    });
  });
});
