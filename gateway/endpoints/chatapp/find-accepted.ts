import type { Db } from 'mongodb';
import { TOO_LATE_V } from '../../../shared/conversations/rider-store.ts';
import type { ChatMessageDocument } from '../../../shared/messages/chat-message.ts';
import { findForSure } from '../../../shared/mongo/find-one.ts';
import { readPaid } from '../../../shared/payment/read-paid.ts';
import type { AccountId, MessageId } from '../../../shared/runtime/ids.ts';

export type AcceptedChat = Pick<ChatMessageDocument, '_id' | 'to' | 'conversation' | 'content' | 'opened'>;

/**
 * A message that was accepted: it is stored, or is still in the account's pending changes. After `payBy`, undefined
 * is final.
 */
export async function findAcceptedChat(db: Db, account: AccountId, id: MessageId): Promise<AcceptedChat | undefined> {
  for (const { chatMessages } of (await readPaid(db, account, findForSure)).values()) {
    const pending = chatMessages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const messages = db.collection<ChatMessageDocument>('messages');
  const shown = { to: 1, conversation: 1, content: 1, opened: 1 };
  return (await findForSure(messages, { _id: id, account, v: { $gt: TOO_LATE_V } }, shown)) ?? undefined;
}
