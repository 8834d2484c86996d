import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import type { AccountId } from '../runtime/ids.ts';
import { conversationKey } from './conversation.ts';
import type { ChatOrder, ChatState } from './decide.ts';
import { readConversations } from './store.ts';

/**
 * What `orders` of an account are decided from. The account comes first: what is not in its `opening` any more is in
 * the conversations' documents, and what is paid for after it was read raises `chats`, so that the debit finds it out.
 */
export async function readChatState(db: Db, account: AccountId, orders: readonly ChatOrder[]): Promise<ChatState> {
  const projection = { status: 1, balance: 1, expiryDate: 1, chats: 1, opening: 1 };
  const before = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection });
  const keys = orders.map(({ to }) => conversationKey(account, to));
  return { account: before, conversations: await readConversations(db, keys) };
}
