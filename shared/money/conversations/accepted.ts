import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../messages/document/chat-message.ts';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import type { AccountId, MessageId } from '../../platform/runtime/ids.ts';
import { declareOver } from '../payment/pay-by.ts';
import { readPaid } from '../payment/pending.ts';
import { neverStore, TOO_LATE_V } from './included-store.ts';

/** What became of an attempt to accept a message (`ChatAccepter.accept`) whose end nobody knows. */

/**
 * Makes sure that an attempt that had to pay before `payBy` never succeeds from now on; false while it may. Then what
 * `findAcceptedChat` says is final, and the message's id is used up. An opener is paid for, so it is enough to declare its time
 * over. A rider is only stored, so a placeholder gets its id (`neverStore`). An opener that is paid for and not stored yet must get
 * none: if its process has died, the sweep stores it, and would find its id taken.
 */
export async function endChatAttempt(db: Db, account: AccountId, id: MessageId, payBy: Date): Promise<boolean> {
  if (!(await declareOver(db, account, payBy))) return false;
  if ((await findAcceptedChat(db, account, id)) === undefined) await neverStore(db, id);
  return true;
}

export type AcceptedChat = Pick<ChatMessageDocument, '_id' | 'to' | 'conversation' | 'content' | 'opened'>;

/** A message that was accepted: it is stored, or is still in the account's pending changes. */
export async function findAcceptedChat(db: Db, account: AccountId, id: MessageId): Promise<AcceptedChat | undefined> {
  for (const { chatMessages } of (await readPaid(db, account, findCommitted)).values()) {
    const pending = chatMessages.find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const messages = db.collection<ChatMessageDocument>('messages');
  const shown = { to: 1, conversation: 1, content: 1, opened: 1 };
  return (await findCommitted(messages, { _id: id, account, v: { $gt: TOO_LATE_V } }, shown)) ?? undefined;
}
