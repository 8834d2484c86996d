import type { Db } from 'mongodb';
import type { MessageDocument } from '../../shared/messages/message.ts';
import { findForSure } from '../../shared/mongo/find-one.ts';
import { readPaid } from '../../shared/payment/read-paid.ts';
import { findInQueue } from '../../shared/queue/queue-store.ts';
import type { AccountId, MessageId } from '../../shared/runtime/ids.ts';

/**
 * Whether an account has paid for a message: it is in the account's pending changes, in the queue, or stored.
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
  const waiting = await findInQueue(db, account, id, true);
  if (waiting !== undefined) return waiting;
  const messages = db.collection<MessageDocument>('messages');
  return (await findForSure(messages, { _id: id, account }, { to: 1 })) ?? undefined;
}
