import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { markRefunded } from '../../../shared/money/conversations/store.ts';
import { connectStore } from '../../../shared/platform/mongo/connect.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { checkDeparture } from '../../../workers/chatapp/depart.ts';
import { linkCustomers } from '../../../workers/chatapp/link.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { chatMessagesOf, customerWrites, makeTemplateDraft, makeTextDraft } from '../../support/chat.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startWireProxy } from '../../support/mongo-wire/proxy.ts';
import { doneLate } from '../../support/mongo-wire/undo.ts';
import { CLAIMED, CUSTOMER, departWorld, HOUR_MS, REFUSED } from './depart-world.ts';

describe('conversations/depart: another conversation', () => {
  const world = departWorld();
  const { accepterOn, accept, message, depart, set, refuse, accounts, balance, conversation, expectWholeLedger } =
    world;

  const obstacles: readonly [string, Partial<AccountDocument>, string][] = [
    ['no credits are left', { balance: 1 }, 'insufficient_credits'],
    ['the credits have expired', { expiryDate: '2020-01-01' }, 'insufficient_credits'],
    ['the account is suspended', { status: 'suspended' }, 'account_suspended'],
  ];

  it('pays for another one when its own was given back longer ago than the customer’s document remembers', async () => {
    const opener = await accept();
    const included = await accept();
    await refuse(opener);
    await world.store.db
      .collection<ConversationDocument>('conversations')
      .updateOne({ _id: conversationKey(world.account, CUSTOMER) }, { $set: { refunded: [] } });
    await set(included, CLAIMED);

    expect((await depart([included])).map(({ kind }) => kind)).to.deep.equal(['go']);

    expect((await message(included._id)).conversation).not.to.equal(opener.conversation);
    expect(await balance()).to.equal(8);
    await expectWholeLedger();
  });

  it('pays the user price again inside the session', async () => {
    await customerWrites(world.store.db, world.account, CUSTOMER, world.clock.now());
    const opener = await accept(makeTextDraft());
    const included = await accept(makeTextDraft());
    await refuse(opener);

    expect((await depart([included])).map(({ kind }) => kind)).to.deep.equal(['go']);
    expect(await balance()).to.equal(9);
  });

  it('pays once when two processes ask for the same messages at once', async () => {
    const opener = await accept();
    const includedMessages = [await accept(), await accept()];
    await refuse(opener);

    const [one, other] = await Promise.all([depart(includedMessages), depart(includedMessages)]);

    expect(one).to.deep.equal(other);
    expect(await balance()).to.equal(8);
    const stored = await Promise.all(includedMessages.map(({ _id }) => message(_id)));
    expect(stored.filter(({ opened }) => opened !== undefined)).to.have.lengthOf(1);
    await expectWholeLedger();
  });

  for (const [what, change, code] of obstacles) {
    it(`refuses it with ${code} when ${what}, and charges nothing`, async () => {
      const opener = await accept();
      const included = await accept();
      await refuse(opener);
      await accounts().updateOne({ _id: world.account }, { $set: change });
      const before = await balance();

      const [departure] = await depart([included]);

      expect(departure).to.include({ kind: 'refuse', code });
      expect(await balance()).to.equal(before);
      expect(await message(included._id)).to.deep.equal(included);
    });
  }

  it('waits for the refund when that is what it is short of', async () => {
    const opener = await accept();
    const included = await accept();
    await accounts().updateOne({ _id: world.account }, { $set: { balance: 1 } });
    const read = await conversation();
    if (read === null) throw new Error('it is stored');
    await markRefunded(world.store.db, read, opener.conversation);

    const early = await depart([included]);
    await refuse(opener);
    const then = await depart([included]);

    expect(early).to.deep.equal([]);
    expect(then.map(({ kind }) => kind)).to.deep.equal(['go']);
    expect(await balance()).to.equal(1);
  });

  describe('an attempt to pay that is held up on its way to the store', () => {
    /** The conversation that the included message went in is void. The debit for another one is held up, and the account is suspended then. */
    async function heldUp() {
      const opener = await accept();
      const included = await accept();
      await refuse(opener);
      const proxy = await startWireProxy(world.store.uri);
      const mongodbDatabase = world.store.db.databaseName;
      const cut = await connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase });
      let sendOn: () => Promise<unknown> = async () => expect.fail('it was held up');
      const late = doneLate(world.store.db, (work) => {
        sendOn = work;
      });
      const held = proxy.inject({
        command: 'findAndModify',
        collection: 'accounts',
        happens: async (command, link) => {
          await accounts().updateOne({ _id: world.account }, { $set: { status: 'suspended' } });
          await late(command, link);
        },
      });
      const { db } = world.store;
      const departures = await checkDeparture({ db, clock: systemClock, accepter: accepterOn(cut.db, systemClock) }, [
        included,
      ]);
      await cut.close();
      await proxy.close();
      expect(held.met).to.equal(1);
      return { included, departures, sendOn: () => sendOn() };
    }

    it('never pays after the message was refused', async () => {
      const { included, departures, sendOn } = await heldUp();
      await accounts().updateOne({ _id: world.account }, { $set: { status: 'active' } });
      await sendOn();

      expect([...departures.values()]).to.deep.equal([
        { kind: 'refuse', code: 'account_suspended', reason: 'The account is suspended.' },
      ]);
      expect(await balance()).to.equal(10);
      expect(await message(included._id)).to.deep.equal(included);
      await expectWholeLedger();
      const next = await accept();
      expect((await conversation())?.current?.id, 'others still open conversations').to.equal(next.conversation);
    });
  });

  it('ends attempts of earlier looks also when the session has closed since', async () => {
    await customerWrites(world.store.db, world.account, CUSTOMER, world.clock.now());
    const opener = await accept(makeTextDraft());
    const included = await accept(makeTextDraft());
    await refuse(opener);
    const chats = async () => (await accounts().findOne({ _id: world.account }))?.chats;
    const before = await chats();
    world.clock.turn(25 * HOUR_MS);

    const [departure] = await depart([included]);

    expect(departure).to.include({ kind: 'refuse', code: 'session_closed' });
    // An attempt to pay filters on this field, so a changed one ends the attempts of earlier looks.
    expect(await chats()).not.to.equal(before);
  });

  describe('a worker that is cut off after it paid for another conversation', () => {
    const payAndVanish = async (included: ChatMessageDocument): Promise<void> => {
      const proxy = await startWireProxy(world.store.uri);
      const cut = await connectStore({
        mongodbUri: proxy.uri,
        dataDir: '',
        mongodbDatabase: world.store.db.databaseName,
      });
      proxy.loseAll('update', 'conversations');
      const outcome = await accepterOn(cut.db, systemClock).acceptAgain(included);
      await cut.close();
      await proxy.close();
      expect(outcome).to.include({ kind: 'accepted', credits: 2 });
      expect((await conversation())?.current).to.equal(undefined);
    };
    const recover = () => finishPending(world.store.db, new ManualClock(new Date(Date.now() + 60_000)));

    it('has paid: the next one finds the conversation and its opener, and the maintenance writes it', async () => {
      const opener = await accept();
      const included = await accept();
      await refuse(opener);
      await payAndVanish(included);

      const [departure] = await depart([included]);
      await recover();

      const current = (await conversation())?.current;
      expect(departure).to.deep.equal({ kind: 'go', conversation: current?.id });
      expect(await message(included._id)).to.deep.include({
        conversation: current?.id,
        opened: { group: current?.group, credits: 2 },
        v: 1,
      });
      expect(await balance()).to.equal(8);
      await expectWholeLedger();
    });

    it('is given back once when that message is refused before the maintenance, which brings nothing back', async () => {
      const opener = await accept();
      const included = await accept();
      await refuse(opener);
      await payAndVanish(included);
      await depart([included]);

      await refuse(await message(included._id));
      await recover();
      const settled = (await conversation())?.current;
      const next = await accept();

      expect(settled).to.equal(undefined);
      expect((await conversation())?.current?.id).to.equal(next.conversation);
      expect((await conversation())?.refunded).to.have.lengthOf(2);
      expect(await balance()).to.equal(8);
      await expectWholeLedger();
    });

    it('is given back by the maintenance when that message was refused before anybody wrote where it went', async () => {
      const opener = await accept();
      const included = await accept();
      await refuse(opener);
      await payAndVanish(included);
      await refuse(included);
      expect(await balance()).to.equal(8);

      await recover();
      await recover();

      expect(await balance()).to.equal(10);
      expect((await conversation())?.refunded).to.have.lengthOf(2);
      await expectWholeLedger();
    });

    it('is followed up by the maintenance alone when nobody asks again', async () => {
      const opener = await accept();
      const included = await accept();
      await refuse(opener);
      await payAndVanish(included);

      await recover();

      const current = (await conversation())?.current;
      expect(current?.opener).to.equal(included._id);
      expect(await message(included._id)).to.deep.include({
        conversation: current?.id,
        opened: { group: current?.group, credits: 2 },
      });
      expect(await chatMessagesOf(world.store.db, world.account)).to.have.lengthOf(2);
      await expectWholeLedger();
    });
  });
});

/** Another number of the customer. */
const ALIAS = '9198765432101';

describe('conversations/depart: a customer with two numbers', () => {
  const world = departWorld();
  const { accept, message, depart, refuse, set, balance, expectWholeLedger } = world;
  const link = () => linkCustomers(world.store.db, [{ account: world.account, names: [CUSTOMER, ALIAS] }], new Date());
  const documentOf = (customer: string) =>
    world.store.db
      .collection<ConversationDocument>('conversations')
      .findOne({ _id: conversationKey(world.account, customer) });

  it('lets a text to one number leave while the other number’s session is open, and no longer', async () => {
    await link();
    await customerWrites(world.store.db, world.account, ALIAS, world.clock.now());
    const text = await accept(makeTextDraft());

    expect(await depart([text])).to.deep.equal([{ kind: 'go', conversation: text.conversation }]);
    world.clock.turn(24 * HOUR_MS);
    const [late] = await depart([text]);
    expect(late).to.include({ kind: 'refuse', code: 'session_closed' });
  });

  it('a message under the other number stands for the conversation when its opener fails', async () => {
    const opener = await accept();
    await link();
    const included = await accept(makeTemplateDraft({ to: ALIAS }));
    await set(included, CLAIMED);

    await refuse(opener);

    expect(await balance(), 'the included message may have been taken').to.equal(8);
    expect((await documentOf(CUSTOMER))?.successors).to.deep.equal([
      { conversation: opener.conversation, opener: included._id },
    ]);
    await set(included, REFUSED);
    await refuse(await message(included._id));
    expect(await balance()).to.equal(10);
    await expectWholeLedger();
  });

  it('a message under the other number opens one of its own when the conversation was given back', async () => {
    const opener = await accept();
    await link();
    const included = await accept(makeTemplateDraft({ to: ALIAS }));
    await refuse(opener);
    expect(await balance()).to.equal(10);

    const [departure] = await depart([included]);

    const moved = await message(included._id);
    expect(departure).to.deep.equal({ kind: 'go', conversation: moved.conversation });
    expect(moved).to.have.property('opened');
    expect(moved, 'it is in the document of its own number').not.to.have.property('customer');
    expect((await documentOf(ALIAS))?.current?.id).to.equal(moved.conversation);
    expect(await balance()).to.equal(8);
    await refuse(moved);
    expect(await balance()).to.equal(10);
    await expectWholeLedger();
  });

  it('a message that moves into a conversation of the other number says so, and moves back', async () => {
    const opener = await accept();
    await link();
    const [one, two] = [await accept(), await accept(makeTemplateDraft({ to: ALIAS }))];
    await refuse(opener);
    await depart([two]);

    const [first] = await depart([one]);

    const moved = await message(one._id);
    expect(first).to.deep.equal({ kind: 'go', conversation: (await message(two._id)).conversation });
    expect(moved).to.include({ includedWith: two._id, customer: ALIAS });
    await refuse(await message(two._id));
    await depart([moved]);
    expect(await message(one._id)).not.to.have.property('customer');
    expect(await balance()).to.equal(8);
    await expectWholeLedger();
  });
});
