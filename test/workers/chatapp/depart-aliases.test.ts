import { expect } from 'chai';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { linkCustomers } from '../../../workers/chatapp/link.ts';
import { customerWrites, makeTemplateDraft, makeTextDraft } from '../../support/chat.ts';
import { CLAIMED, CUSTOMER, departWorld, HOUR_MS, REFUSED } from './depart-world.ts';

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
