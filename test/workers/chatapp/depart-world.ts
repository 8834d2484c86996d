import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { giveBackRefused } from '../../../shared/money/conversations/give-back.ts';
import { createChatAccepter } from '../../../shared/money/conversations/open.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { checkDeparture, type Departure } from '../../../workers/chatapp/depart.ts';
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

  const accepterOn = (db = store.db, at: Clock = clock) =>
    createChatAccepter({ db, clock: at, log: silentLog, prices: CHAT_PRICES });

  const accept = async (draft = makeTemplateDraft()): Promise<ChatMessageDocument> => {
    const outcome = await accepterOn().accept(account, draft);
    if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
    return message(draft._id);
  };

  const message = async (id: ChatMessageDocument['_id']): Promise<ChatMessageDocument> => {
    const found = (await chatMessagesOf(store.db, account)).find(({ _id }) => _id === id);
    if (found === undefined) throw new Error('no such message');
    return found;
  };

  const depart = (messages: readonly ChatMessageDocument[]): Promise<Departure[]> =>
    checkDeparture({ db: store.db, clock, accepter: accepterOn() }, messages).then((map) => [...map.values()]);

  const set = (one: ChatMessageDocument, change: Partial<ChatMessageDocument>) =>
    store.db.collection<ChatMessageDocument>('messages').updateOne({ _id: one._id }, { $set: change });

  const refuse = async (one: ChatMessageDocument): Promise<void> => {
    await set(one, REFUSED);
    await giveBackRefused(store.db, [await message(one._id)]);
  };

  const accounts = () => store.db.collection<AccountDocument>('accounts');

  const balance = async () => (await accounts().findOne({ _id: account }))?.balance;

  const conversation = () =>
    store.db.collection<ConversationDocument>('conversations').findOne({ _id: conversationKey(account, CUSTOMER) });

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
    accepterOn,
    accept,
    message,
    depart,
    set,
    refuse,
    accounts,
    balance,
    conversation,
    expectWholeLedger,
  };
}
