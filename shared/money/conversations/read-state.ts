import type { Db } from 'mongodb';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { PAYER } from '../ledger/refusal.ts';
import { conversationKey } from './conversation.ts';
import type { ChatOrder, ChatState } from './decide.ts';
import { readCustomers } from './person.ts';

/**
 * Reads what decisions about `orders` are based on. The account comes first. An opening that is no longer in its `opening` is
 * then in the conversations' documents. An opening paid after this read raises `chats`, so the debit detects it.
 */
export async function readChatState(db: Db, account: AccountId, orders: readonly ChatOrder[]): Promise<ChatState> {
  const projection = { ...PAYER, chats: 1, opening: 1, prices: 1, conversationMessages: 1 };
  const before = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection });
  const keys = orders.map(({ to }) => conversationKey(account, to));
  return { account: before, conversations: await readCustomers(db, keys) };
}
