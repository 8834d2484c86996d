import { giveBackRefused } from '../../../shared/money/conversations/charge.ts';
import { conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { linkCustomers } from '../../../workers/chatapp/customers.ts';
import { customerWrites, makeTemplateDraft, makeTextDraft } from '../../support/chat.ts';
import { CLAIMED, CUSTOMER, departWorld, HOUR_MS, REFUSED } from './depart-world.ts';

describe('conversations/depart', () => {
  const world = departWorld();
  const { accept, message, depart, set, refuse, balance, conversation, expectWholeLedger } = world;

  it('lets messages go in the conversation that they were accepted in, without charging again', async () => {
    const template = await accept();
    await customerWrites(world.store.db, world.account, CUSTOMER, world.clock.now());
    const text = await accept(makeTextDraft());

    const departures = await depart([template, text]);

    expect(departures).to.deep.equal([{ kind: 'go' }, { kind: 'go' }]);
    expect(await balance()).to.equal(8);
    expect(await message(text._id)).to.deep.equal(text);
  });

  it('refuses free-form messages whose session closed while they waited, and says when; templates go', async () => {
    const wrote = world.clock.now();
    await customerWrites(world.store.db, world.account, CUSTOMER, wrote);
    const text = await accept(makeTextDraft());
    const template = await accept();
    world.clock.turn(24 * HOUR_MS);

    const [first, second] = await depart([text, template]);

    if (first?.kind !== 'refuse') throw new Error('it may not leave');
    expect(first.code).to.equal('session_closed');
    expect(first.reason).to.include(new Date(wrote.getTime() + 24 * HOUR_MS).toISOString());
    expect(second).to.deep.equal({ kind: 'go' });
  });

  it('lets a message go in the conversation that was paid for, also when that ended meanwhile and another one runs', async () => {
    const waiting = await accept();
    world.clock.turn(25 * HOUR_MS);
    await accept();

    expect(await depart([waiting])).to.deep.equal([{ kind: 'go' }]);
    expect(await balance()).to.equal(6);
  });

  it('lets messages that wait go on in a conversation whose opener was refused: one of them stands for it', async () => {
    const opener = await accept();
    const includedMessages = [await accept(), await accept(), await accept()];
    await refuse(opener);

    const departures = await depart(includedMessages);

    expect(departures).to.deep.equal(includedMessages.map(() => ({ kind: 'go' })));
    expect((await conversation())?.successors).to.deep.equal([
      { conversation: opener.conversation, opener: includedMessages[0]?._id },
    ]);
    expect(await balance()).to.equal(8);
    for (const one of includedMessages) await refuse(one);
    expect(await balance()).to.equal(10);
    await expectWholeLedger();
  });

  for (const [what, refunded] of [
    ['its conversation was given back at that moment', undefined],
    ['that was longer ago than the customer’s document remembers', []],
  ] as const) {
    it(`refuses a message that was accepted when ${what}, and charges nothing`, async () => {
      const opener = await accept();
      const late = await accept();
      await world.messages().deleteOne({ _id: late._id });
      await refuse(opener);
      if (refunded !== undefined) await world.conversations().updateMany({}, { $set: { refunded } });
      await world.messages().insertOne({ ...late, ...CLAIMED });

      const [departure] = await depart([late]);

      expect(departure).to.include({ kind: 'refuse', code: 'conversation_refunded' });
      expect(await balance()).to.equal(10);
      await refuse(late);
      expect(await balance()).to.equal(10);
      await expectWholeLedger();
    });
  }

  it('goes on when the opener never left or was refused a moment ago: it stands for the conversation, and pays nothing', async () => {
    const opener = await accept();
    const included = await accept({
      ...makeTemplateDraft(),
      validUntil: new Date(opener.validUntil.getTime() + HOUR_MS),
    });
    const go = [{ kind: 'go' }];
    await set(included, CLAIMED);
    world.clock.turn(opener.validUntil.getTime() - world.clock.now().getTime());
    expect(await depart([included]), 'its time is over, and nobody has seen it').to.deep.equal(go);
    await set(opener, { state: 'expired' });
    expect(await depart([included]), 'it expired, and nobody has followed that up').to.deep.equal(go);

    await giveBackRefused(world.store.db, [await message(opener._id)]);

    expect(await depart([included])).to.deep.equal(go);
    expect((await conversation())?.successors).to.deep.equal([
      { conversation: opener.conversation, opener: included._id },
    ]);
    expect(await balance()).to.equal(8);
    // When the included message is refused too, the conversation is given back.
    await refuse(included);
    expect(await balance()).to.equal(10);
    await expectWholeLedger();
  });

  it('asks nobody twice: it goes while the one that stands for the conversation waits for its retry', async () => {
    const opener = await accept();
    const [successor, included] = [await accept(), await accept()];
    await set(successor, CLAIMED);
    await refuse(opener);
    await set(successor, { state: 'waiting' });
    await set(included, CLAIMED);

    expect((await depart([included])).map(({ kind }) => kind)).to.deep.equal(['go']);
    await set(successor, { state: 'expired' });
    await giveBackRefused(world.store.db, [await message(successor._id)]);

    expect((await conversation())?.successors?.map((one) => one.opener)).to.deep.equal([successor._id, included._id]);
    expect(await balance()).to.equal(8);
    await expectWholeLedger();
  });

  it('looks at the opener also when another conversation runs by now', async () => {
    const opener = await accept();
    const included = await accept();
    world.clock.turn(25 * HOUR_MS);
    const newer = await accept();
    await set(opener, REFUSED);
    await set(included, CLAIMED);

    expect(await depart([included])).to.deep.equal([{ kind: 'go' }]);
    await giveBackRefused(world.store.db, [await message(opener._id)]);

    expect(await balance()).to.equal(6);
    expect((await conversation())?.current?.id).to.equal(newer.conversation);
    await expectWholeLedger();
  });

  it('goes on in a conversation whose opener was sent, however long ago its validity ended', async () => {
    const opener = await accept();
    const included = await accept({
      ...makeTemplateDraft(),
      validUntil: new Date(opener.validUntil.getTime() + HOUR_MS),
    });
    const sent = { state: 'sent', parts: [{ key: 'k', state: 'accepted' }] } as const;
    await world.messages().updateOne({ _id: opener._id }, { $set: sent });
    world.clock.turn(opener.validUntil.getTime() - world.clock.now().getTime());

    expect((await depart([included])).map(({ kind }) => kind)).to.deep.equal(['go']);
  });
});

const ALIAS = '9198765432101';

describe('conversations/depart: a customer with two numbers', () => {
  const world = departWorld();
  const { accept, message, depart, refuse, set, balance, expectWholeLedger } = world;
  const link = () => linkCustomers(world.store.db, [{ account: world.account, names: [CUSTOMER, ALIAS] }], new Date());
  const documentOf = (customer: string) =>
    world.conversations().findOne({ _id: conversationKey(world.account, customer) });

  it('lets a text to one number leave while the other number’s session is open, and no longer', async () => {
    await link();
    await customerWrites(world.store.db, world.account, ALIAS, world.clock.now());
    const text = await accept(makeTextDraft());

    expect(await depart([text])).to.deep.equal([{ kind: 'go' }]);
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
});
