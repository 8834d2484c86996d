import type { Announcer } from '../../../../shared/events/webhooks/announce.ts';
import { type Change, entryAt } from '../../../../shared/messages/document/change.ts';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { Part } from '../../../../shared/messages/document/message.ts';
import { decideOutcome } from '../../../../shared/messages/settlement/decide-outcome.ts';
import { redoIntents } from '../../../../shared/messages/settlement/intents.ts';
import type { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../../support/chat.ts';
import { Died, dyingDb } from '../../../support/dying-db.ts';
import { giveBackWorld, LEASE, SILENT } from '../../../support/give-back-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('conversations/give-back', () => {
  const world = giveBackWorld();
  const { accepter, balance, conversation, refunds, settler, settle, sendOne, sendTwo, expectGivenBackOnce } = world;

  it('gives the credits back when the provider refuses the opening message, and the next one opens anew', async () => {
    const opener = await sendOne();

    await settle(opener, 'rejected', [{ state: 'refused', error: '131026' }]);

    await expectGivenBackOnce(opener);
    const next = await accepter().accept(world.account, makeTemplateDraft());
    expect(next).to.include({ kind: 'accepted', credits: 2, balance: 8 });
  });

  it('gives back when a failure was told before the answer, which is stored while the credits are on their way', async () => {
    const opener = await sendOne();
    const claim = { id: newId('clm'), carrier: LEASE, epoch: 1, at: new Date() };
    await world.store.db
      .collection<ChatMessageDocument>('messages')
      .updateOne({ _id: opener._id }, { $set: { claim } });
    const key = 'chatapp:a:w';
    const answers = settler();
    const announcer: Announcer = {
      announce: async () => {
        const decide = (current: ChatMessageDocument) =>
          decideOutcome(current, claim, { kind: 'sent', parts: [{ key, state: 'accepted' }] }, new Date(), 0);
        const message = await chatMessagesOf(world.store.db, world.account).then(([first]) => first);
        if (message !== undefined) await answers.settle([{ message, decide }]);
      },
    };

    await settle(opener, 'failed', [{ key, state: 'refused' }], settler(announcer));

    await expectGivenBackOnce(opener);
  });

  describe('whose opener was sent again and failed, its first send in doubt', () => {
    /** Settles a status of the first send's failure, which gives the message no new state or event. */
    const firstFails = (message: ChatMessageDocument, by: Settler) =>
      by.settle([
        {
          message,
          decide: ({ earlier: [first] = [] }): Change | undefined =>
            first?.parts[0]?.state === 'unknown'
              ? { set: { earlier: [{ ...first, parts: [{ key: 'chatapp:a:v', state: 'refused' }] }] } }
              : undefined,
        },
      ]);
    const failedAgain = async (): Promise<ChatMessageDocument> => {
      const opener = await sendOne();
      const first = {
        id: newId('clm'),
        carrier: LEASE,
        epoch: 1,
        at: new Date(),
        parts: [{ state: 'unknown' as const }],
      };
      await world.store.db
        .collection<ChatMessageDocument>('messages')
        .updateOne({ _id: opener._id }, { $set: { earlier: [first] } });
      const resent = { ...opener, earlier: [first] };
      const [failed] = await settle(resent, 'failed', [{ key: 'chatapp:a:w', state: 'refused' }]);
      if (failed === undefined) throw new Error('it was settled');
      expect(await balance(), 'the first may have been taken').to.equal(8);
      return failed;
    };

    it('gives back when the first failed too', async () => {
      const opener = await failedAgain();

      await firstFails(opener, settler());

      await expectGivenBackOnce(opener);
    });

    // The first two are the intent and the message, the last one the credit.
    for (let command = 3; command <= 13; command++) {
      it(`gives back when the process dies before its command ${command}: the next one does it`, async () => {
        const opener = await failedAgain();
        const dying = dyingDb(world.store.db, command, 'before');
        const stopped = await firstFails(opener, settler(SILENT, dying)).catch((error) => error);
        expect(stopped).to.be.instanceOf(Died);

        await redoIntents(world.store.db, SILENT, LEASE, 2);

        await expectGivenBackOnce(opener);
      });
    }
  });

  const cases: readonly [string, 'rejected' | 'expired' | 'failed', readonly Part[], boolean][] = [
    ['expired before it left', 'expired', [], true],
    ['failed, and the provider had refused it', 'failed', [{ state: 'refused' }], true],
    ['failed after the provider took it', 'failed', [{ key: 'chatapp:a:w', state: 'failed' }], false],
    ['expired after the provider took it', 'expired', [{ key: 'chatapp:a:w', state: 'accepted' }], false],
    ['was rejected when it was perhaps taken', 'rejected', [{ state: 'unknown' }], false],
    ['failed, and nobody knows where', 'failed', [], false],
  ];
  for (const [what, state, parts, back] of cases) {
    it(`${back ? 'gives back' : 'keeps'} a conversation whose opener ${what}`, async () => {
      const opener = await sendOne();

      await settle(opener, state, parts);

      if (back) await expectGivenBackOnce(opener);
      else {
        expect(await balance()).to.equal(8);
        expect((await conversation())?.current?.id).to.equal(opener.conversation);
      }
    });
  }

  const taken = async (message: ChatMessageDocument, parts: readonly Part[] = [{ key: 'k', state: 'accepted' }]) => {
    const messages = world.store.db.collection<ChatMessageDocument>('messages');
    const state = parts.some((part) => part.state === 'unknown') ? 'submitting' : 'sent';
    const now = await messages.findOneAndUpdate(
      { _id: message._id },
      { $set: { state, parts }, $inc: { v: 1 } },
      { returnDocument: 'after' },
    );
    if (now === null) throw new Error('it is stored');
    return now;
  };
  const fail = (message: ChatMessageDocument) =>
    settler().settle([
      {
        message,
        decide: (current) => ({
          state: 'failed',
          set: { parts: [{ key: 'k', state: 'refused' }] },
          entries: [entryAt('failed', new Date(), current.history)],
        }),
      },
    ]);

  for (const [how, parts] of [
    ['was taken', [{ key: 'r', state: 'accepted' }]],
    ['was perhaps taken', [{ state: 'unknown' }]],
  ] as const) {
    it(`keeps a conversation whose opener fails after it was taken when one that rode in it ${how}`, async () => {
      const [opener, included] = await sendTwo();
      const sent = await taken(opener);
      await taken(included, parts);

      await fail(sent);

      expect(await balance()).to.equal(8);
      expect(await refunds()).to.deep.equal([]);
      const document = await conversation();
      expect(document?.successors).to.deep.equal([{ conversation: opener.conversation, opener: included._id }]);
      const next = await accepter().accept(world.account, makeTemplateDraft());
      expect(next, 'the conversation goes on').to.include({ credits: 0, conversation: opener.conversation });
    });
  }

  it('keeps it while another message waits, and gives it back when that is refused too', async () => {
    const [opener, included] = await sendTwo();

    await settle(opener, 'rejected', [{ state: 'refused' }]);
    expect(await balance()).to.equal(8);
    const next = await accepter().accept(world.account, makeTemplateDraft());
    expect(next, 'the conversation goes on').to.include({ credits: 0, conversation: opener.conversation });
    for (const one of (await chatMessagesOf(world.store.db, world.account)).slice(1)) {
      expect(await balance(), one._id).to.equal(8);
      await settle(one, 'rejected', [{ state: 'refused' }]);
    }

    expect((await conversation())?.successors?.[0]?.opener).to.equal(included._id);
    await expectGivenBackOnce(opener);
  });

  it('gives it back once when the one that stood for it since fails too, and no other was taken', async () => {
    const [opener, included] = await sendTwo();
    const [sent, alsoSent] = [await taken(opener), await taken(included)];
    await fail(sent);

    await fail(alsoSent);

    await expectGivenBackOnce(opener);
    await redoIntents(world.store.db, SILENT, LEASE, 2);
    await expectGivenBackOnce(opener);
  });

  it('gives it back once when the included messages fail first, whatever their order', async () => {
    const [opener, included] = await sendTwo();
    const [sent, alsoSent] = [await taken(opener), await taken(included)];

    await fail(alsoSent);
    expect(await balance()).to.equal(8);
    await fail(sent);

    await expectGivenBackOnce(opener);
  });

  it('follows the opener also in a conversation of which a newer one runs by now', async () => {
    const clock = new ManualClock(new Date());
    const turned = createChatAccepter({ db: world.store.db, clock, log: silentLog, prices: CHAT_PRICES });
    await turned.accept(world.account, makeTemplateDraft());
    await turned.accept(world.account, makeTemplateDraft());
    clock.turn(25 * 3_600_000);
    const newer = await turned.accept(world.account, makeTemplateDraft());
    if (newer.kind !== 'accepted') throw new Error(newer.kind);
    const [opener, included] = await chatMessagesOf(world.store.db, world.account);
    if (opener === undefined || included === undefined) throw new Error('they are stored');
    const [sent, alsoSent] = [await taken(opener), await taken(included)];

    await fail(sent);
    expect(await balance(), 'both are paid').to.equal(6);
    await fail(alsoSent);

    expect(await balance()).to.equal(8);
    expect((await conversation())?.current?.id).to.equal(newer.conversation);
    expect((await verifyLedger(world.store.db, world.account)).problems).to.deep.equal([]);
  });

  it('gives nothing back for a message that only rode in it', async () => {
    const [opener, included] = await sendTwo();

    await settle(included, 'rejected', [{ state: 'refused' }]);

    expect(await balance()).to.equal(8);
    expect(await refunds()).to.deep.equal([]);
    expect((await conversation())?.current?.id).to.equal(opener.conversation);
  });
});
