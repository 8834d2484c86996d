import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { giveBackRefused } from '../../../shared/money/conversations/charge.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { createChatAccepter } from '../../../shared/money/conversations/open.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { checkDeparture, type Departure } from '../../../workers/chatapp/depart.ts';
import { balanceOf } from '../../support/balance.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../support/chat.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLog } from '../../support/silent-log.ts';
import { type UsedStore, useStore } from '../../support/store.ts';

export const CUSTOMER = '919876543210';

export const HOUR_MS = 3_600_000;

export const REFUSED = { state: 'rejected', parts: [{ state: 'refused' }] } as const;

export const CLAIMED = { state: 'submitting' } as const;

/** An account with ten credits and its conversations. For the body of a `describe`. */
export function departWorld() {
  const store = useStore();

  let clock: ManualClock;

  let account: AccountId;

  beforeEach(async () => {
    clock = new ManualClock(new Date());
    account = await makeAccount(store.db, 10);
  });

  const accept = async (draft = makeTemplateDraft()): Promise<ChatMessageDocument> => {
    const accepter = createChatAccepter({ db: store.db, clock, log: silentLog, prices: CHAT_PRICES });
    const outcome = await accepter.accept(account, draft);
    if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
    return message(draft._id);
  };

  const message = async (id: ChatMessageDocument['_id']): Promise<ChatMessageDocument> => {
    const found = (await chatMessagesOf(store.db, account)).find(({ _id }) => _id === id);
    if (found === undefined) throw new Error('no such message');
    return found;
  };

  const depart = (messages: readonly ChatMessageDocument[]): Promise<Departure[]> =>
    checkDeparture({ db: store.db, clock }, messages).then((map) => [...map.values()]);

  const messages = () => store.db.collection<ChatMessageDocument>('messages');

  const conversations = () => store.db.collection<ConversationDocument>('conversations');

  const set = (one: ChatMessageDocument, change: Partial<ChatMessageDocument>) =>
    messages().updateOne({ _id: one._id }, { $set: change });

  const refuse = async (one: ChatMessageDocument): Promise<void> => {
    await set(one, REFUSED);
    await giveBackRefused(store.db, [await message(one._id)]);
  };

  const balance = () => balanceOf(store.db, account);

  const conversation = () => conversations().findOne({ _id: conversationKey(account, CUSTOMER) });

  const expectWholeLedger = async (): Promise<void> => {
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  };

  return {
    get store(): UsedStore {
      return store;
    },
    get clock(): ManualClock {
      return clock;
    },
    get account(): AccountId {
      return account;
    },
    accept,
    message,
    depart,
    set,
    refuse,
    messages,
    conversations,
    balance,
    conversation,
    expectWholeLedger,
  };
}
