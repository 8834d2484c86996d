import type { Db } from 'mongodb';
import type { MessageDocument } from '../../shared/messages/message.ts';
import { findForSure } from '../../shared/mongo/find-one.ts';
import { readPaid } from '../../shared/payment/read-paid.ts';
import type { AccountId, MessageId } from '../../shared/runtime/ids.ts';

/**
 * Whether an account has paid for a message: the message is stored, or is still in the account's pending changes.
 * After the time to pay is over, undefined is final.
 */
export async function findAccepted(
  db: Db,
  account: AccountId,
  id: MessageId,
): Promise<Pick<MessageDocument, '_id' | 'to'> | undefined> {
  for (const { messages } of (await readPaid(db, account, findForSure)).values()) {
    const pending = messages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const messages = db.collection<MessageDocument>('messages');
  return (await findForSure(messages, { _id: id, account }, { to: 1 })) ?? undefined;
}
