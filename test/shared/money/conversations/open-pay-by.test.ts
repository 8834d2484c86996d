import { expect } from 'chai';
import { findAcceptedChat } from '../../../../gateway/endpoints/chatapp/send.ts';
import { chatMessagesOf, makeTemplateDraft } from '../../../support/chat.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { HOUR_MS, openingWorld } from '../../../support/opening-world.ts';

describe('conversations/open: with a time to pay by', () => {
  const world = openingWorld();
  const { newAccepter, accountOf } = world;

  const late = () => new Date(Date.now() - 1);

  it('opens nothing after it, whatever else it is asked together with', async () => {
    const account = await makeAccount(world.store.db, 10);
    const accepter = newAccepter();

    const outcomes = await Promise.all([
      accepter.accept(account, makeTemplateDraft({ to: '919876543211' }), late()),
      accepter.accept(account, makeTemplateDraft({ to: '919876543212' })),
      accepter.accept(account, makeTemplateDraft({ to: '919876543213' }), new Date(Date.now() + 60_000)),
      accepter.accept(account, makeTemplateDraft({ to: '919876543214' }), late()),
    ]);

    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['too_late', 'accepted', 'accepted', 'too_late']);
    expect((await accountOf(account)).balance).to.equal(6);
    expect(await chatMessagesOf(world.store.db, account)).to.have.lengthOf(2);
  });

  it('lets nothing go after it, also when this process believes that it has time', async () => {
    const account = await makeAccount(world.store.db, 10);
    await newAccepter().accept(account, makeTemplateDraft());
    const asleep = newAccepter(new ManualClock(new Date(Date.now() - 2 * HOUR_MS)));
    const draft = makeTemplateDraft();

    const refused = await asleep.accept(account, draft, late());
    const inTime = await asleep.accept(account, makeTemplateDraft(), new Date(Date.now() + 60_000));

    expect(refused).to.deep.equal({ kind: 'too_late' });
    expect(inTime).to.include({ kind: 'accepted', credits: 0 });
    expect(await findAcceptedChat(world.store.db, account, draft._id)).to.equal(undefined);
    expect(await chatMessagesOf(world.store.db, account)).to.have.lengthOf(2);
  });

  it('stores an included message like any other', async () => {
    const account = await makeAccount(world.store.db, 10);
    const accepter = newAccepter();
    await accepter.accept(account, makeTemplateDraft());
    const [plain, timed] = [makeTemplateDraft({ reference: '$v' }), makeTemplateDraft({ reference: '$v' })];

    await accepter.accept(account, { ...plain, validUntil: timed.validUntil });
    await accepter.accept(account, timed, new Date(Date.now() + 60_000));

    const [, first, second] = await chatMessagesOf(world.store.db, account);
    expect({ ...second, _id: plain._id }).to.deep.equal(first);
  });
});
