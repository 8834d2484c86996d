import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import { entryAt } from '../../shared/messages/document/change.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { MessageState, Part } from '../../shared/messages/document/message.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../shared/money/conversations/conversation.ts';
import { createChatAccepter } from '../../shared/money/conversations/open.ts';
import type { LedgerEntryDocument } from '../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from './chat.ts';
import { makeAccount } from './make.ts';
import { silentLog } from './silent-log.ts';
import { useStore } from './store.ts';

export const CUSTOMER = '919876543210';
export const LEASE = 'chatapp:0';
export const SILENT: Announcer = { announce: async () => {} };

/** A `describe`'s store, and before each test an account whose conversations are settled. */
export function giveBackWorld() {
  const store = useStore();
  let account: AccountId;
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
  const settler = (announcer = SILENT, db = store.db) =>
    new Settler({ db, announcer, lease: LEASE, epoch: 1, stream: 'outcomes' });
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
  const sendOne = async (): Promise<ChatMessageDocument> => {
    await accepter().accept(account, makeTemplateDraft());
    const [opener] = await chatMessagesOf(store.db, account);
    if (opener === undefined) throw new Error('a message was sent');
    return opener;
  };
  /** The first opens the conversation, the second is included. */
  const sendTwo = async (): Promise<readonly [ChatMessageDocument, ChatMessageDocument]> => {
    await accepter().accept(account, makeTemplateDraft());
    await accepter().accept(account, makeTemplateDraft());
    const [opener, included] = await chatMessagesOf(store.db, account);
    if (opener === undefined || included === undefined) throw new Error('two messages were sent');
    return [opener, included];
  };
  const expectGivenBackOnce = async ({ conversation: id }: ChatMessageDocument): Promise<void> => {
    expect(await balance()).to.equal(10);
    const [refund, ...more] = await refunds();
    expect(refund).to.include({ amount: 2, change: `ref_${id}`, reference: id, balanceAfter: 10 });
    expect(more).to.deep.equal([]);
    const document = await conversation();
    expect(document?.current).to.equal(undefined);
    expect(document?.refunded).to.deep.equal([id]);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  };
  return {
    get store() {
      return store;
    },
    get account() {
      return account;
    },
    accepter,
    balance,
    conversation,
    refunds,
    settler,
    settle,
    sendOne,
    sendTwo,
    expectGivenBackOnce,
  };
}
