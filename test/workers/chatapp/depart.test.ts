import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { giveBackRefused } from '../../../shared/money/conversations/give-back.ts';
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

    expect(departures).to.deep.equal([
      { kind: 'go', conversation: template.conversation },
      { kind: 'go', conversation: template.conversation },
    ]);
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
    expect(second).to.deep.equal({ kind: 'go', conversation: template.conversation });
  });

  it('lets a message go in the conversation that was paid for, also when that ended meanwhile and another one runs', async () => {
    const waiting = await accept();
    world.clock.turn(25 * HOUR_MS);
    await accept();

    expect(await depart([waiting])).to.deep.equal([{ kind: 'go', conversation: waiting.conversation }]);
    expect(await balance()).to.equal(6);
  });

  it('opens and pays for another conversation when the one it was included in was given back; others go in that', async () => {
    const opener = await accept();
    const includedMessages = [await accept(), await accept(), await accept()];
    await refuse(opener);

    const departures = await depart(includedMessages);

    const current = (await conversation())?.current;
    expect(current?.id).not.to.equal(opener.conversation);
    expect(departures).to.deep.equal(includedMessages.map(() => ({ kind: 'go', conversation: current?.id })));
    const stored = await Promise.all(includedMessages.map(({ _id }) => message(_id)));
    expect(stored.map((one) => one.conversation)).to.deep.equal(includedMessages.map(() => current?.id));
    expect(stored.map(({ v }) => v)).to.deep.equal([1, 1, 1]);
    const openers = stored.filter(({ opened }) => opened !== undefined);
    expect(openers.map(({ _id, opened }) => ({ _id, opened }))).to.deep.equal([
      { _id: current?.opener, opened: { group: current?.group, credits: 2 } },
    ]);
    expect(await balance()).to.equal(8);
    await expectWholeLedger();
    // And this conversation is given back like any other.
    for (const one of openers) await refuse(one);
    expect(await balance()).to.equal(10);
    await expectWholeLedger();
  });

  it('goes on when the opener never left or was refused a moment ago: it stands for the conversation, and pays nothing', async () => {
    const opener = await accept();
    const included = await accept({
      ...makeTemplateDraft(),
      validUntil: new Date(opener.validUntil.getTime() + HOUR_MS),
    });
    const go = [{ kind: 'go', conversation: opener.conversation }];
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
    // And when the included message is refused too, the conversation is given back.
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

    expect(await depart([included])).to.deep.equal([{ kind: 'go', conversation: opener.conversation }]);
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
    await world.store.db.collection<ChatMessageDocument>('messages').updateOne({ _id: opener._id }, { $set: sent });
    world.clock.turn(opener.validUntil.getTime() - world.clock.now().getTime());

    expect((await depart([included])).map(({ kind }) => kind)).to.deep.equal(['go']);
  });
});
