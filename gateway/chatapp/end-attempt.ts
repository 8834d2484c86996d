import type { Db } from 'mongodb';
import { neverStore } from '../../shared/conversations/rider-store.ts';
import { declareOver } from '../../shared/payment/pay-by.ts';
import type { AccountId, MessageId } from '../../shared/runtime/ids.ts';
import { findAcceptedChat } from './find-accepted.ts';

/**
 * `Action.end` of a chat-app message. What opens a conversation is paid for, so declaring its time over is enough. What rides in
 * one is only stored, so its place is taken; but never that of an opener that is paid and not stored yet: its process may have
 * died, and the sweep would find the message there and drop the one that was paid for.
 */
export async function endChatAttempt(db: Db, account: AccountId, id: MessageId, payBy: Date): Promise<boolean> {
  if (!(await declareOver(db, account, payBy))) return false;
  if ((await findAcceptedChat(db, account, id)) === undefined) await neverStore(db, id);
  return true;
}
