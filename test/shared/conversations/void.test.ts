import { expect } from 'chai';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/conversations/conversation.ts';
import { createChatAccepter } from '../../../shared/conversations/open.ts';
import { giveBackRefused } from '../../../shared/conversations/void.ts';
import type { LedgerEntryDocument } from '../../../shared/ledger/entry.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import { type Change, entryAt } from '../../../shared/messages/change.ts';
import type { ChatMessageDocument } from '../../../shared/messages/chat-message.ts';
import type { MessageState, Part } from '../../../shared/messages/message.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { decideOutcome } from '../../../shared/settlement/decide-outcome.ts';
import { redoIntents } from '../../../shared/settlement/redo-intents.ts';
import { Settler } from '../../../shared/settlement/settle.ts';
import type { Announcer } from '../../../shared/webhooks/announce.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../support/chat.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const CUSTOMER = '919876543210';
const LEASE = 'chatapp:0';
const SILENT: Announcer = { announce: async () => {} };

describe('conversations/void', () => {
  let store: TestStore;
  let account: AccountId;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(async () => {
    account = await makeAccount(store.db, 10);
    await store.db.collection('intents').deleteMany({});
  });

  const accepter = () => createChatAccepter({ db: store.db, clock: systemClock, log: silentLog, prices: CHAT_PRICES });
  const balance = async () =>
    (await store.db.collection<AccountDocument>('accounts').findOne({ _id: account }))?.balance;
  const conversation = () =>
    store.db.collection<ConversationDocument>('conversations').findOne({ _id: conversationKey(account, CUSTOMER) });
  const refunds = (): Promise<LedgerEntryDocument[]> =>
    store.db.collection<LedgerEntryDocument>('ledger').find({ account, reason: 'refund' }).toArray();
  const settler = (announcer = SILENT) =>
    new Settler({ db: store.db, announcer, lease: LEASE, epoch: 1, stream: 'outcomes' });
  const settle = (
    message: ChatMessageDocument,
    state: MessageState & ('rejected' | 'expired' | 'failed'),
    parts: readonly Part[],
    by = settler(),
  ) =>
    by.settle([
      {
        message,
        decide: (current) =>
          current.state === 'queued'
            ? { state, set: { parts }, unset: ['due'], entries: [entryAt(state, new Date(), current.history)] }
            : undefined,
      },
    ]);
  /** The first is the opener. */
  const sendTwo = async (): Promise<readonly [ChatMessageDocument, ChatMessageDocument]> => {
    await accepter().accept(account, makeTemplateDraft());
    await accepter().accept(account, makeTemplateDraft());
    const [opener, rider] = await chatMessagesOf(store.db, account);
    if (opener === undefined || rider === undefined) throw new Error('two messages were sent');
    return [opener, rider];
  };
  const expectGivenBackOnce = async ({ conversation: id }: ChatMessageDocument): Promise<void> => {
    expect(await balance()).to.equal(10);
    const [refund, ...more] = await refunds();
    expect(refund).to.include({ amount: 2, change: `ref_${id}`, reference: id, balanceAfter: 10 });
    expect(more).to.deep.equal([]);
    const document = await conversation();
    expect(document?.current).to.equal(undefined);
    expect(document?.voided).to.deep.equal([id]);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  };

  it('gives the credits back when the provider refuses the opening message, and the next one opens anew', async () => {
    const [opener] = await sendTwo();

    await settle(opener, 'rejected', [{ state: 'refused', error: '131026' }]);

    await expectGivenBackOnce(opener);
    const next = await accepter().accept(account, makeTemplateDraft());
    expect(next).to.include({ kind: 'accepted', credits: 2, balance: 8 });
  });

  it('gives back when a failure was told before the answer, which is stored while the credits are on their way', async () => {
    const [opener] = await sendTwo();
    const claim = { id: newId('clm'), carrier: LEASE, epoch: 1, at: new Date() };
    await store.db.collection<ChatMessageDocument>('messages').updateOne({ _id: opener._id }, { $set: { claim } });
    const key = 'chatapp:a:w';
    const answers = settler();
    const announcer: Announcer = {
      announce: async () => {
        const decide = (current: ChatMessageDocument) =>
          decideOutcome(current, claim, { kind: 'sent', parts: [{ key, state: 'accepted' }] }, new Date(), 0);
        const message = await chatMessagesOf(store.db, account).then(([first]) => first);
        if (message !== undefined) await answers.settle([{ message, decide }]);
      },
    };

    await settle(opener, 'failed', [{ key, state: 'refused' }], settler(announcer));

    await expectGivenBackOnce(opener);
  });

  describe('whose opener was sent again and failed, its first send in doubt', () => {
    /** As a status changes it that says the same of the first send: no new state, no event. */
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
      const [opener] = await sendTwo();
      const first = {
        id: newId('clm'),
        carrier: LEASE,
        epoch: 1,
        at: new Date(),
        parts: [{ state: 'unknown' as const }],
      };
      await store.db
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

    it('gives back when the process dies behind that: the next one does it', async () => {
      const opener = await failedAgain();
      const dying: Announcer = { announce: () => Promise.reject(new Error('it died')) };
      const stopped = await firstFails(opener, settler(dying)).catch((error) => error);
      expect(stopped).to.be.instanceOf(Error);

      await redoIntents(store.db, SILENT, LEASE, 2);

      await expectGivenBackOnce(opener);
    });
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
      const [opener] = await sendTwo();

      await settle(opener, state, parts);

      if (back) await expectGivenBackOnce(opener);
      else {
        expect(await balance()).to.equal(8);
        expect((await conversation())?.current?.id).to.equal(opener.conversation);
      }
    });
  }

  const taken = async (message: ChatMessageDocument, parts: readonly Part[] = [{ key: 'k', state: 'accepted' }]) => {
    const messages = store.db.collection<ChatMessageDocument>('messages');
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
      const [opener, rider] = await sendTwo();
      const sent = await taken(opener);
      await taken(rider, parts);

      await fail(sent);

      expect(await balance()).to.equal(8);
      expect(await refunds()).to.deep.equal([]);
      const document = await conversation();
      expect(document?.heirs).to.deep.equal([{ conversation: opener.conversation, opener: rider._id }]);
      const next = await accepter().accept(account, makeTemplateDraft());
      expect(next, 'the conversation goes on').to.include({ credits: 0, conversation: opener.conversation });
    });
  }

  it('gives it back once when the one that stood for it since fails too, and no other was taken', async () => {
    const [opener, rider] = await sendTwo();
    const [sent, alsoSent] = [await taken(opener), await taken(rider)];
    await fail(sent);

    await fail(alsoSent);

    await expectGivenBackOnce(opener);
    await redoIntents(store.db, SILENT, LEASE, 2);
    await expectGivenBackOnce(opener);
  });

  it('gives it back once when the riders fail first, whatever their order', async () => {
    const [opener, rider] = await sendTwo();
    const [sent, alsoSent] = [await taken(opener), await taken(rider)];

    await fail(alsoSent);
    expect(await balance()).to.equal(8);
    await fail(sent);

    await expectGivenBackOnce(opener);
  });

  it('follows the opener also in a conversation of which a newer one runs by now', async () => {
    const clock = new ManualClock(new Date());
    const turned = createChatAccepter({ db: store.db, clock, log: silentLog, prices: CHAT_PRICES });
    await turned.accept(account, makeTemplateDraft());
    await turned.accept(account, makeTemplateDraft());
    clock.turn(25 * 3_600_000);
    const newer = await turned.accept(account, makeTemplateDraft());
    if (newer.kind !== 'accepted') throw new Error(newer.kind);
    const [opener, rider] = await chatMessagesOf(store.db, account);
    if (opener === undefined || rider === undefined) throw new Error('they are stored');
    const [sent, alsoSent] = [await taken(opener), await taken(rider)];

    await fail(sent);
    expect(await balance(), 'both are paid').to.equal(6);
    await fail(alsoSent);

    expect(await balance()).to.equal(8);
    expect((await conversation())?.current?.id).to.equal(newer.conversation);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  });

  it('gives nothing back for a message that only rode in it', async () => {
    const [opener, rider] = await sendTwo();

    await settle(rider, 'rejected', [{ state: 'refused' }]);

    expect(await balance()).to.equal(8);
    expect(await refunds()).to.deep.equal([]);
    expect((await conversation())?.current?.id).to.equal(opener.conversation);
  });

  it('gives back once when many follow up at the same instant, and when it is all done again', async function () {
    this.timeout(30_000);
    const [opener] = await sendTwo();
    await settle(opener, 'rejected', [{ state: 'refused' }]);
    const [settled] = await chatMessagesOf(store.db, account);
    if (settled === undefined) throw new Error('it is stored');

    await Promise.all([
      ...Array.from({ length: 10 }, () => giveBackRefused(store.db, [settled])),
      redoIntents(store.db, SILENT, LEASE, 2),
    ]);
    await Promise.all(Array.from({ length: 4 }, () => redoIntents(store.db, SILENT, LEASE, 2)));

    await expectGivenBackOnce(opener);
  });

  it('races itself 50 times and gives each back once', async function () {
    this.timeout(60_000);
    for (let i = 0; i < 50; i++) {
      const to = `9198765432${String(i).padStart(2, '0')}`;
      await accepter().accept(account, makeTemplateDraft({ to }));
      const [message] = (await chatMessagesOf(store.db, account)).slice(-1);
      if (message === undefined) throw new Error('it is stored');
      const refused: ChatMessageDocument = { ...message, state: 'rejected', parts: [{ state: 'refused' }] };
      await store.db.collection<ChatMessageDocument>('messages').replaceOne({ _id: message._id }, refused);
      await Promise.all([giveBackRefused(store.db, [refused]), giveBackRefused(store.db, [refused])]);
    }

    expect(await balance()).to.equal(10);
    expect(await refunds()).to.have.lengthOf(50);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  });

  it('is done by the next holder of the lease when a process dies before the follow-up', async () => {
    const [opener] = await sendTwo();
    const dying: Announcer = {
      announce: async () => {
        throw new Error('the process is gone');
      },
    };
    const failed = await settle(opener, 'rejected', [{ state: 'refused' }], settler(dying)).catch((error) => error);
    expect(failed).to.be.instanceOf(Error);
    expect(await balance()).to.equal(8);

    await redoIntents(store.db, SILENT, LEASE, 2);
    await redoIntents(store.db, SILENT, LEASE, 3);

    await expectGivenBackOnce(opener);
  });

  it('is not undone by a sweep that follows up the opening late', async () => {
    const [opener] = await sendTwo();
    const account0 = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(Object.keys(account0?.opening ?? {}), 'the opening is not cleared yet').to.have.lengthOf(1);
    await settle(opener, 'rejected', [{ state: 'refused' }]);

    await finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000)));

    await expectGivenBackOnce(opener);
  });

  it('nor is a newer conversation written over by such a sweep', async () => {
    const clock = new ManualClock(new Date());
    const onClock = () => createChatAccepter({ db: store.db, clock, log: silentLog, prices: CHAT_PRICES });
    await onClock().accept(account, makeTemplateDraft());
    clock.turn(25 * 3_600_000);
    const gateway = onClock();
    const newer = await gateway.accept(account, makeTemplateDraft());
    if (newer.kind !== 'accepted') throw new Error(newer.kind);
    const before = await conversation();
    // With its next debit a gateway clears what it has followed up: the older opening is left to the sweep.
    await gateway.accept(account, makeTemplateDraft({ to: '919876543299' }));

    await finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000)));

    expect(before?.current?.id).to.equal(newer.conversation);
    expect(await conversation()).to.deep.equal(before);
  });

  it('leaves a newer conversation of the customer alone', async () => {
    const clock = new ManualClock(new Date());
    const turned = createChatAccepter({ db: store.db, clock, log: silentLog, prices: CHAT_PRICES });
    await turned.accept(account, makeTemplateDraft());
    clock.turn(25 * 3_600_000);
    const newer = await turned.accept(account, makeTemplateDraft());
    const [opener] = await chatMessagesOf(store.db, account);
    if (opener === undefined || newer.kind !== 'accepted') throw new Error('both are stored');

    await settle(opener, 'expired', []);
    await giveBackRefused(store.db, await chatMessagesOf(store.db, account));

    const document = await conversation();
    expect(document?.current?.id).to.equal(newer.conversation);
    expect(document?.voided).to.deep.equal([opener.conversation]);
    expect(await balance()).to.equal(8);
    expect(await refunds()).to.have.lengthOf(1);
  });
});
