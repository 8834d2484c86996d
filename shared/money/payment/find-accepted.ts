import type { Db } from 'mongodb';
import type { MessageDocument } from '../../messages/document/message.ts';
import { findInQueue } from '../../messages/queue/queue-store.ts';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import type { AccountId, MessageId } from '../../platform/runtime/ids.ts';
import { readPaid } from './pending.ts';

/**
 * Whether an account has paid for a message: it is in the account's pending changes, in the queue, or stored.
 * After the time to pay is over, undefined is final.
 */
export async function findAccepted(
  db: Db,
  account: AccountId,
  id: MessageId,
): Promise<Pick<MessageDocument, '_id' | 'to' | 'credits'> | undefined> {
  for (const { messages } of (await readPaid(db, account, findCommitted)).values()) {
    const pending = messages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const waiting = await findInQueue(db, account, id, true);
  if (waiting !== undefined) return waiting;
  const messages = db.collection<MessageDocument>('messages');
  return (await findCommitted(messages, { _id: id, account }, { to: 1, credits: 1 })) ?? undefined;
}
