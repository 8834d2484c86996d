import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { TOO_LATE_V } from '../../../shared/money/conversations/included-store.ts';
import { readPaid } from '../../../shared/money/payment/read-paid.ts';
import { findCommitted } from '../../../shared/platform/mongo/find-one.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';

export type AcceptedChat = Pick<ChatMessageDocument, '_id' | 'to' | 'conversation' | 'content' | 'opened'>;

/**
 * A message that was accepted: it is stored, or is still in the account's pending changes. After `payBy`, undefined
 * is final.
 */
export async function findAcceptedChat(db: Db, account: AccountId, id: MessageId): Promise<AcceptedChat | undefined> {
  for (const { chatMessages } of (await readPaid(db, account, findCommitted)).values()) {
    const pending = chatMessages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const messages = db.collection<ChatMessageDocument>('messages');
  const shown = { to: 1, conversation: 1, content: 1, opened: 1 };
  return (await findCommitted(messages, { _id: id, account, v: { $gt: TOO_LATE_V } }, shown)) ?? undefined;
}
