import type { Db } from 'mongodb';
import { neverStore } from '../../../shared/conversations/rider-store.ts';
import { declareOver } from '../../../shared/payment/pay-by.ts';
import type { AccountId, MessageId } from '../../../shared/runtime/ids.ts';
import { findAcceptedChat } from './find-accepted.ts';

/**
 * `Action.end` of a chat-app message. An opener is paid for, so it is enough to declare its time over. A rider is only stored, so a
 * placeholder gets its id (`neverStore`). An opener that is paid for and not stored yet must get none: if its process has died, the
 * sweep stores it, and would find its id taken.
 */
export async function endChatAttempt(db: Db, account: AccountId, id: MessageId, payBy: Date): Promise<boolean> {
  if (!(await declareOver(db, account, payBy))) return false;
  if ((await findAcceptedChat(db, account, id)) === undefined) await neverStore(db, id);
  return true;
}
