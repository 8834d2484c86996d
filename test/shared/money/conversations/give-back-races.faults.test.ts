import type { Announcer } from '../../../../shared/events/webhooks/announce.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { redoIntents } from '../../../../shared/messages/settlement/intents.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { giveBackRefused } from '../../../../shared/money/conversations/charge.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../../support/chat.ts';
import { giveBackWorld, LEASE, SILENT } from '../../../support/give-back-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('conversations/give-back: at the same moment, late, or again', () => {
  const world = giveBackWorld();
  const { accepter, balance, conversation, refunds, settler, settle, sendOne, expectGivenBackOnce } = world;

  it('gives back once when many follow up at the same instant, and when it is all done again', async () => {
    const opener = await sendOne();
    await settle(opener, 'rejected', [{ state: 'refused' }]);
    const [settled] = await chatMessagesOf(world.store.db, world.account);
    if (settled === undefined) throw new Error('it is stored');

    await Promise.all([
      ...Array.from({ length: 10 }, () => giveBackRefused(world.store.db, [settled])),
      redoIntents(world.store.db, SILENT, LEASE, 2),
    ]);
    await Promise.all(Array.from({ length: 4 }, () => redoIntents(world.store.db, SILENT, LEASE, 2)));

    await expectGivenBackOnce(opener);
  });

  it('races itself 50 times and gives each back once', async () => {
    for (let i = 0; i < 50; i++) {
      const to = `9198765432${String(i).padStart(2, '0')}`;
      await accepter().accept(world.account, makeTemplateDraft({ to }));
      const [message] = (await chatMessagesOf(world.store.db, world.account)).slice(-1);
      if (message === undefined) throw new Error('it is stored');
      const refused: ChatMessageDocument = { ...message, state: 'rejected', parts: [{ state: 'refused' }] };
      await world.store.db.collection<ChatMessageDocument>('messages').replaceOne({ _id: message._id }, refused);
      await Promise.all([giveBackRefused(world.store.db, [refused]), giveBackRefused(world.store.db, [refused])]);
    }

    expect(await balance()).to.equal(10);
    expect(await refunds()).to.have.lengthOf(50);
    expect((await verifyLedger(world.store.db, world.account)).problems).to.deep.equal([]);
  });

  it('is done by the next holder of the lease when a process dies before the follow-up', async () => {
    const opener = await sendOne();
    const dying: Announcer = {
      announce: async () => {
        throw new Error('the process is gone');
      },
    };
    const failed = await settle(opener, 'rejected', [{ state: 'refused' }], settler(dying)).catch((error) => error);
    expect(failed).to.be.instanceOf(Error);
    expect(await balance()).to.equal(8);

    await redoIntents(world.store.db, SILENT, LEASE, 2);
    await redoIntents(world.store.db, SILENT, LEASE, 3);

    await expectGivenBackOnce(opener);
  });

  it('is not undone by a maintenance that follows up the opening late', async () => {
    const opener = await sendOne();
    const account0 = await world.store.db.collection<AccountDocument>('accounts').findOne({ _id: world.account });
    expect(Object.keys(account0?.opening ?? {}), 'the opening is not cleared yet').to.have.lengthOf(1);
    await settle(opener, 'rejected', [{ state: 'refused' }]);

    await finishPending(world.store.db, new ManualClock(new Date(Date.now() + 60_000)));

    await expectGivenBackOnce(opener);
  });

  it('nor is a newer conversation written over by such a maintenance', async () => {
    const clock = new ManualClock(new Date());
    const onClock = () => createChatAccepter({ db: world.store.db, clock, log: silentLog, prices: CHAT_PRICES });
    await onClock().accept(world.account, makeTemplateDraft());
    clock.turn(25 * 3_600_000);
    const gateway = onClock();
    const newer = await gateway.accept(world.account, makeTemplateDraft());
    if (newer.kind !== 'accepted') throw new Error(newer.kind);
    const before = await conversation();
    // A gateway's next debit clears the openings that it has followed up. The older one remains for the maintenance.
    await gateway.accept(world.account, makeTemplateDraft({ to: '919876543299' }));

    await finishPending(world.store.db, new ManualClock(new Date(Date.now() + 60_000)));

    expect(before?.current?.id).to.equal(newer.conversation);
    expect(await conversation()).to.deep.equal(before);
  });

  it('leaves a newer conversation of the customer alone', async () => {
    const clock = new ManualClock(new Date());
    const turned = createChatAccepter({ db: world.store.db, clock, log: silentLog, prices: CHAT_PRICES });
    await turned.accept(world.account, makeTemplateDraft());
    clock.turn(25 * 3_600_000);
    const newer = await turned.accept(world.account, makeTemplateDraft());
    const [opener] = await chatMessagesOf(world.store.db, world.account);
    if (opener === undefined || newer.kind !== 'accepted') throw new Error('both are stored');

    await settle(opener, 'expired', []);
    await giveBackRefused(world.store.db, await chatMessagesOf(world.store.db, world.account));

    const document = await conversation();
    expect(document?.current?.id).to.equal(newer.conversation);
    expect(document?.refunded).to.deep.equal([opener.conversation]);
    expect(await balance()).to.equal(8);
    expect(await refunds()).to.have.lengthOf(1);
  });
});
