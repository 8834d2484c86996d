import type { Db } from 'mongodb';
import type { AccountDocument } from '../../shared/accounts/account.ts';
import { paidChatMessages } from '../../shared/conversations/opening-store.ts';
import { TOO_LATE_V } from '../../shared/conversations/rider-store.ts';
import type { ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { AccountId, MessageId } from '../../shared/runtime/ids.ts';

export type AcceptedChat = Pick<ChatMessageDocument, '_id' | 'to' | 'conversation' | 'content' | 'opened'>;

/**
 * A message that was accepted: it is stored, or still only in the account's pending changes. The account is read first, so,
 * when nobody can accept any more (`payBy`), undefined is final.
 */
export async function findAcceptedChat(db: Db, account: AccountId, id: MessageId): Promise<AcceptedChat | undefined> {
  const payer = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { pending: 1 } });
  for (const change of Object.values(payer?.pending ?? {})) {
    const pending = paidChatMessages(change).find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const stored = await db
    .collection<ChatMessageDocument>('messages')
    .findOne<AcceptedChat>(
      { _id: id, account, v: { $gt: TOO_LATE_V } },
      { projection: { to: 1, conversation: 1, content: 1, opened: 1 } },
    );
  return stored ?? undefined;
}
