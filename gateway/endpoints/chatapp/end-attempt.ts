import type { Db } from 'mongodb';
import { neverStore } from '../../../shared/money/conversations/included-store.ts';
import { declareOver } from '../../../shared/money/payment/pay-by.ts';
import type { AccountId, MessageId } from '../../../shared/platform/runtime/ids.ts';
import { findAcceptedChat } from './find-accepted.ts';

/**
 * `Action.end` of a chat-app message. An opener is paid for, so it is enough to declare its time over. An included message is only stored, so a
 * placeholder gets its id (`neverStore`). An opener that is paid for and not stored yet must get none: if its process has died, the
 * maintenance stores it, and would find its id taken.
 */
export async function endChatAttempt(db: Db, account: AccountId, id: MessageId, payBy: Date): Promise<boolean> {
  if (!(await declareOver(db, account, payBy))) return false;
  if ((await findAcceptedChat(db, account, id)) === undefined) await neverStore(db, id);
  return true;
}
