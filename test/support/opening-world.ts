import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../shared/money/conversations/conversation.ts';
import { type ChatAccepter, createChatAccepter } from '../../shared/money/conversations/open.ts';
import type { LedgerEntryDocument } from '../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { type Clock, systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { CHAT_PRICES } from './chat.ts';
import { silentLog } from './silent-log.ts';
import { useStore } from './store.ts';

export const CUSTOMER = '919876543210';
export const HOUR_MS = 3_600_000;

export function openingWorld() {
  const store = useStore();

  const newAccepter = (clock: Clock = systemClock): ChatAccepter =>
    createChatAccepter({ db: store.db, clock, log: silentLog, prices: CHAT_PRICES });
  const accountOf = async (account: AccountId): Promise<AccountDocument> => {
    const found = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    if (found === null) throw new Error('no such account');
    return found;
  };
  const conversationOf = (account: AccountId, customer = CUSTOMER) =>
    store.db.collection<ConversationDocument>('conversations').findOne({ _id: conversationKey(account, customer) });
  const chargesOf = (account: AccountId): Promise<LedgerEntryDocument[]> =>
    store.db.collection<LedgerEntryDocument>('ledger').find({ account, reason: 'conversation' }).toArray();
  const expectWholeLedger = async (account: AccountId): Promise<void> => {
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  };
  return {
    get store() {
      return store;
    },
    newAccepter,
    accountOf,
    conversationOf,
    chargesOf,
    expectWholeLedger,
  };
}
