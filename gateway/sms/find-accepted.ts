import type { Db } from 'mongodb';
import type { AccountDocument } from '../../shared/accounts/account.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import { paidMessages } from '../../shared/payment/debit.ts';
import type { AccountId, MessageId } from '../../shared/runtime/ids.ts';

/**
 * Whether an account has paid for a message: it is stored, or still only in the account's pending changes. The account is
 * read first: a message that is not pending any more then is stored by now. So, when nobody can pay any more, undefined
 * is final.
 */
export async function findAccepted(
  db: Db,
  account: AccountId,
  id: MessageId,
): Promise<Pick<MessageDocument, '_id' | 'to'> | undefined> {
  const payer = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { pending: 1 } });
  for (const change of Object.values(payer?.pending ?? {})) {
    const pending = paidMessages(change).find((message) => message._id === id);
    if (pending !== undefined) return pending;
  }
  const stored = await db
    .collection<MessageDocument>('messages')
    .findOne<Pick<MessageDocument, '_id' | 'to'>>({ _id: id, account }, { projection: { to: 1 } });
  return stored ?? undefined;
}
